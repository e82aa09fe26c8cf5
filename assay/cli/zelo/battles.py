"""The ``matrix`` and ``battles`` actions of ``assay zelo``: a query's battles as SVG, a document's as text."""

from __future__ import annotations

import argparse
import json
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.cli.inputs.files import write_out
from assay.cli.zelo.grades import read_battles
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.formats.battles_jsonl import Battle
    from assay.llm.pairwise.score_fitting import Fitted

MOST_NAMED = 5


def matrix(args: argparse.Namespace) -> int:
    """Draw the battles of one query as SVG, the documents sorted by their scores."""
    from assay.llm.pairwise.matrix_svg import matrix_svg, outcomes

    rows = _of_query(args, read_battles(args.source))
    fitted = _fitted(args, rows)
    ids = [doc_id for _, doc_id, _, _ in fitted.scores]
    met = outcomes(ids, [(row.a, row.b, row.score) for row in rows])
    title = f"Battles of {rows[0].query_id}"
    write_out(matrix_svg(ids, met, [score for _, _, score, _ in fitted.scores], title=title), args.out)
    sys.stderr.write(
        f"{amount(len(ids), 'document')} of {rows[0].query_id}, {amount(fitted.battles, 'answer')}, best "
        "document at the top\n"
    )
    return 0


def battles(args: argparse.Namespace) -> int:
    """List the battles of one document by query, with the reason of each model."""
    if args.document is None:
        raise NotValid("no document was given; name one with --document ID")
    rows = [row for row in read_battles(args.source) if args.query in (None, row.query_id)]
    queries = dict.fromkeys(row.query_id for row in rows if args.document in (row.a, row.b))
    if not queries:
        where = f" of {args.query}" if args.query else ""
        raise NotValid(f"{args.source}: {args.document!r} is in no battle{where}; check the id")
    records = [
        _battle_record(args, query_id, [row for row in rows if row.query_id == query_id]) for query_id in queries
    ]
    if args.format == "json":
        write_out(json.dumps(records, indent=2, ensure_ascii=False) + "\n", args.out)
    else:
        write_out("\n".join(map(_text, records)), args.out)
    return 0


def _of_query(args: argparse.Namespace, rows: Sequence[Battle]) -> list[Battle]:
    queries = list(dict.fromkeys(row.query_id for row in rows))
    if args.query is None and len(queries) > 1:
        shown = ", ".join(queries[:MOST_NAMED]) + (", ..." if queries[MOST_NAMED:] else "")
        raise NotValid(
            f"{args.source}: has {amount(len(queries), 'query', 'queries')} ({shown}); name one with --query"
        )
    selected = [row for row in rows if args.query in (None, row.query_id)]
    if not any(row.score is not None for row in selected):
        what = f"no battle of {args.query}" if args.query else "no battle"
        raise NotValid(f"{args.source}: {what} has a score; judge the battles first with assay zelo judge")
    return selected


def _fitted(args: argparse.Namespace, rows: Sequence[Battle]) -> Fitted:
    from assay.llm.pairwise.bradley_terry import PRIOR
    from assay.llm.pairwise.score_fitting import fit_queries

    answers = [(row.query_id, row.a, row.b, row.score, row.model) for row in rows]
    return fit_queries(answers, method=args.method, prior=PRIOR if args.prior is None else args.prior)


def _battle_record(args: argparse.Namespace, query_id: str, rows: Sequence[Battle]) -> dict[str, Any]:
    """Return a document's battles in one query, from its side: a score above 0 is a win."""
    scores = _fitted(args, rows).scores
    places = {doc_id: (place, score, error) for place, (_, doc_id, score, error) in enumerate(scores, 1)}
    mine = [row if row.b == args.document else _turned(row) for row in rows if args.document in (row.a, row.b)]
    place, score, error = places.get(args.document, (None, None, None))
    against = {row.a: places.get(row.a, (None, None, None)) for row in mine}
    order = sorted(mine, key=lambda row: (against[row.a][0] or len(scores) + 1, row.a.encode()))
    return {
        "query_id": query_id,
        "doc_id": args.document,
        "score": score,
        "se": error,
        "place": place,
        "documents": len(scores),
        "won": sum((row.score or 0) > 0 for row in mine),
        "lost": sum((row.score or 0) < 0 for row in mine),
        "drawn": sum(row.score == 0 for row in mine),
        "unanswered": sum(row.score is None for row in mine),
        "battles": [
            {
                "against": row.a,
                "against_score": against[row.a][1],
                "score": row.score,
                "model": row.model,
                "shown": "first" if row.swapped else "second",
                "reason": row.reason,
            }
            for row in order
        ],
    }


def _turned(row: Battle) -> Battle:
    """Return the battle from the other document's side."""
    score = None if row.score is None else -row.score + 0.0
    return replace(row, a=row.b, b=row.a, score=score, swapped=not row.swapped)


def _text(record: dict[str, Any]) -> str:
    heading = f"{_plain(record['query_id'])}  {_plain(record['doc_id'])}: "
    if record["score"] is None:
        heading += "no score, because no model answered"
    else:
        error = "" if record["se"] is None else f" (standard error {record['se']:.2f})"
        heading += f"score {record['score']:.2f}{error}, rank {record['place']} of {record['documents']}"
    counts = ", ".join(f"{record[name]} {name}" for name in ("won", "lost", "drawn", "unanswered") if record[name])
    lines = [f"{heading}; {counts}"]
    last = None
    for one in record["battles"]:
        if one["against"] != last:
            last = one["against"]
            score = "" if one["against_score"] is None else f" (score {one['against_score']:.2f})"
            lines.append(f"  against {_plain(last)}{score}")
        outcome = " none" if one["score"] is None else f"{one['score']:+.2f}"
        who = _plain(one["model"]) or "not yet judged"
        lines.append(f"    {outcome}  {who}, shown {one['shown']}: {_plain(one['reason']) or 'no reason given'}")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Return a model's text in one line, without control characters."""
    line = " ".join(text.split())
    return "".join(one for one in line if unicodedata.category(one) not in ("Cc", "Cf", "Cs"))
