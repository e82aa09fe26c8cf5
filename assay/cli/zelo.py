"""Which documents should meet, and how good is each by the battles that were fought?"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from assay.cli.files import add_out, tell_warnings
from assay.cli.no_effect import tell_no_effect
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats.battles_jsonl import Battle
    from judgments.preferences.fitting import Fitted

NAME = "zelo"
HELP = "draw pairs of documents for battles (pairs), or make scores of battles that were fought (fit)"
EXAMPLE = "assay zelo fit battles.jsonl --out scores.jsonl"

PAIRS, FIT = "pairs", "fit"
# What names documents of queries, whatever else it says about them.
KINDS = ("pairs", "qrels", "ratings", "run")
# The options of each act, with their defaults.
OPTIONS: dict[str, dict[str, Any]] = {
    PAIRS: {"cycles": 4, "most": None, "both": 0.0, "seed": 0},
    FIT: {"method": "map", "prior": None},
}
PRIOR = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the two acts and their options."""
    parser.add_argument("act", metavar="pairs|fit", choices=(PAIRS, FIT), help="draw pairs, or fit scores")
    parser.add_argument("source", metavar="FILE", help="pairs: pairs.jsonl, a pool, qrels or a run; fit: battles.jsonl")
    draw = parser.add_argument_group("pairs")
    draw.add_argument(
        "--cycles", metavar="N", type=int, help="random rounds; each document meets two in one; default 4"
    )
    draw.add_argument("--most", metavar="N", type=int, help="only the first N documents of each query")
    draw.add_argument("--both", metavar="SHARE", type=float, help="share of the pairs shown in both orders; default 0")
    draw.add_argument("--seed", type=int, help="seed of the draw, default 0")
    fit = parser.add_argument_group("fit")
    fit.add_argument(
        "--method", choices=("map", "zbench"), help="map: most probable under a prior; zbench: as zbench; default: map"
    )
    fit.add_argument("--prior", metavar="X", type=float, help="precision of map's prior; default 1")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Draw, or fit."""
    for act, options in OPTIONS.items():
        for name, default in options.items():
            if act != args.act and getattr(args, name) is not None:
                tell_no_effect(f"--{name} {getattr(args, name)}", f"it is an option of assay zelo {act}")
            if getattr(args, name) is None:
                setattr(args, name, default)
    return _pairs(args) if args.act == PAIRS else _fit(args)


def _pairs(args: argparse.Namespace) -> int:
    from judgments.formats.battles_jsonl import Battle, write
    from judgments.preferences.fitting import drawn_battles

    if args.most is not None and args.most < 2:
        raise NotValid(f"--most is {args.most}; two documents at least can meet")
    documents = _documents(args.source)
    rows = drawn_battles(documents, cycles=args.cycles, most=args.most, both=args.both, seed=args.seed)
    _write(write, [Battle(query_id, a, b, swapped=swapped) for query_id, a, b, swapped in rows], args.out)
    alone = sum(len(listed) < 2 for listed in documents.values())
    more = f"; {alone:,} queries have one document, which meets nobody" if alone else ""
    sys.stderr.write(f"{len(rows):,} battles of {len(documents):,} queries, seed {args.seed}{more}\n")
    return 0


def _documents(path: str) -> dict[str, list[str]]:
    """The documents of each query, in the order of the file, from any format that names pairs."""
    from judgments.formats import FORMATS, sniff
    from judgments.formats.decoding import Content, kept

    source: Path | str | bytes = Path(path)
    if path == "-":
        member = FORMATS["pairs-jsonl"]
    else:
        source = kept(Path(path))
        with Content(source, path) as content:
            name = sniff(content.head)
        if name is None or FORMATS[name].kind not in KINDS:
            raise NotValid(f"{path}: names no documents of queries; give pairs.jsonl, a pool, qrels or a run")
        member = FORMATS[name]
    found = member.read(source, path=path)
    found.report.raise_if_errors()
    tell_warnings([found.report])
    documents: dict[str, dict[str, None]] = {}
    for row in found.rows:
        documents.setdefault(row.query_id, {})[row.doc_id] = None
    return {query_id: list(listed) for query_id, listed in documents.items()}


def _fit(args: argparse.Namespace) -> int:
    from judgments.formats import battles_jsonl, scores_jsonl
    from judgments.preferences.fitting import fit_queries

    if args.method == "zbench" and args.prior is not None:
        tell_no_effect(f"--prior {args.prior:g}", "zbench has none")
    found = battles_jsonl.read(Path(args.source), path=args.source)
    found.report.raise_if_errors()
    tell_warnings([found.report])
    answers = [(row.query_id, row.a, row.b, row.score) for row in found.rows]
    prior = PRIOR if args.prior is None else args.prior
    fitted = fit_queries(answers, method=args.method, prior=prior)
    if not fitted.battles:
        raise NotValid(f"{args.source}: no battle has a score yet; a model has to answer first")
    _write(scores_jsonl.write, [scores_jsonl.DocumentScore(*row) for row in fitted.scores], args.out)
    sys.stderr.write("".join(f"{line}\n" for line in _told(fitted, found.rows)))
    return 0


def _told(fitted: Fitted, rows: Sequence[Battle]) -> list[str]:
    """What was fitted, what was left out, and whether the place alone decided."""
    lines = [f"{len(fitted.scores):,} documents of {fitted.queries:,} queries from {fitted.battles:,} answers"]
    if fitted.failed:
        lines.append(f"note: {fitted.failed:,} rows have no score and were left out: a call that failed is no vote")
    if fitted.not_converged:
        lines.append(f"note: {fitted.not_converged:,} queries did not settle; --method map always does")
    # As it was shown: the answer of a swapped battle was turned round for the file.
    shown = [-row.score if row.swapped else row.score for row in rows if row.score]
    if shown and any(row.swapped for row in rows):
        first = sum(score < 0 for score in shown) / len(shown)
        lines.append(f"the document that was shown first won {first:.1%} of {len(shown):,} answers")
    return lines


def _write(write: Callable[[Iterable[Any], BinaryIO], Any], rows: Iterable[Any], out: str | None) -> None:
    stream = io.BytesIO()
    write(rows, stream)
    if out is None or out == "-":
        sys.stdout.write(stream.getvalue().decode())
    else:
        Path(out).write_bytes(stream.getvalue())
