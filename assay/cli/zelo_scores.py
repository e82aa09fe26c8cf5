"""The ``grades`` and ``next`` acts of ``assay zelo``: grades from scores and anchors, and the next battles."""

from __future__ import annotations

import argparse
import io
import sys
from typing import TYPE_CHECKING

from assay.cli.files import write_out
from assay.cli.text_table import counted
from assay.cli.zelo_documents import format_of, kind_of, read_as
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats.battles_jsonl import Battle


def grades(args: argparse.Namespace) -> int:
    """Learn cut points from documents that people graded, and give every scored document a grade, as qrels."""
    from assay.cli.human_labels import read_human_labels
    from assay.cli.scale import DEFAULT, scale_values
    from judgments.preferences.cut_points import learn

    (anchors,) = others(args, 1, "people's grades: qrels or ratings")
    scores = scores_of(args.source)
    people = read_human_labels(anchors, scale_values(args.scale or DEFAULT))
    both = [pair for pair in scores if pair in people]
    odd = next((pair for pair in both if people[pair] != int(people[pair])), None)
    if odd is not None:
        raise NotValid(f"{anchors}: {' '.join(odd)} has the grade {people[odd]:g}; anchors have whole grades")
    found = learn([scores[pair] for pair in both], [int(people[pair]) for pair in both])
    given = found.grades(list(scores.values())).tolist()
    # Column 2 says whose labels these are: a machine's.
    lines = [f"{query} 1 {doc} {grade}\n" for (query, doc), grade in zip(scores, given, strict=True)]
    write_out("".join(lines), args.out)
    cuts = ", ".join(f"{low}|{high} at {cut:.2f}" for low, high, cut in zip(found.values, found.values[1:], found.cuts))  # noqa: B905
    sys.stderr.write(
        f"{counted(len(given), 'grade')} from {counted(found.anchors, 'anchor')}: "
        f"{cuts}; {found.right:.0%} of them keep "
        "their grade\n"
    )
    return 0


def next_battles(args: argparse.Namespace) -> int:
    """Name the battles that would make each query's scores surer soonest."""
    from judgments.formats import battles_jsonl
    from judgments.preferences.fitting import most_telling

    rows = read_battles(args.source)
    most = 10 if args.most is None else args.most
    if most < 1:
        raise NotValid(f"--most is {most}; give the number of battles a query")
    prior = 1.0 if args.prior is None else args.prior
    found = most_telling([(row.query_id, row.a, row.b, row.score) for row in rows], most, prior=prior)
    stream = io.BytesIO()
    battles_jsonl.write([battles_jsonl.Battle(query, a, b) for query, a, b in found], stream)
    write_out(stream.getvalue().decode(), args.out)
    sys.stderr.write(f"{counted(len(found), 'battle')}, the most telling of each query first\n")
    return 0


def read_battles(path: str) -> list[Battle]:
    """Battles that were fought: battles.jsonl, or zbench's ai_scores.json."""
    found = None if path == "-" else format_of(path, "battles")
    return read_as(found or "battles-jsonl", path)


def scores_of(path: str) -> dict[tuple[str, str], float]:
    """Scores of documents in the order of the file: scores.jsonl, or an annotated data set of zbench."""
    found = None if path == "-" else format_of(path)
    if found == "zbench-dataset":
        raise NotValid(f"{path}: has no scores; it has to be annotated first (assay zelo fit --annotate {path})")
    name = found if found is not None and kind_of(found) == "document-scores" else "scores-jsonl"
    return {(row.query_id, row.doc_id): row.score for row in read_as(name, path)}


def by_query(path: str) -> dict[str, dict[str, float]]:
    """Scores by query: of documents as in `scores_of`, or a run's."""
    name = None if path == "-" else format_of(path)
    if name is not None and kind_of(name) == "run":
        from judgments.formats.tables import load_run

        return load_run(path)[0].to_dict()
    found: dict[str, dict[str, float]] = {}
    for (query_id, doc_id), score in scores_of(path).items():
        found.setdefault(query_id, {})[doc_id] = score
    return found


def others(args: argparse.Namespace, wanted: int, what: str) -> list[str]:
    """The files beside the first one.

    Raises
    ------
    NotValid
        There are more or fewer.
    """
    if len(args.others) != wanted:
        raise NotValid(f"assay zelo {args.act} takes a second file, {what}")
    return list(args.others)
