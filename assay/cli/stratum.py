"""The command ``assay stratum``: add a stratum of a log's traffic to a queries file, next to its queries."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.files import add_out, stdin_once, write_out
from assay.cli.sample import FORMATS_OF, LogFile
from assay.cli.text_table import counted
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats.rows import QueryRow
    from pooling.sampling.draw import Sample
    from pooling.sampling.tiers import TierCut

NAME = "stratum"
EXAMPLE = (
    "assay stratum queries.csv log.csv --name tents --words tent,tents --share 0.2 --head 20 --tail 20 --out all.csv"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("queries", metavar="QUERIES", help="a queries.csv with weights and probabilities")
    parser.add_argument("log", metavar="LOG", help="the log that the stratum is drawn from")
    parser.add_argument("--name", required=True, metavar="NAME", help="of the stratum")
    parser.add_argument(
        "--share", type=float, metavar="X", help="of the whole traffic; with --part-of counted where it is left out"
    )
    parser.add_argument(
        "--part-of", default="", metavar="NAME", help="the stratum that held its traffic, drawn from the same log"
    )
    parser.add_argument("--first", default="first", metavar="NAME", help="what the queries so far are called")
    parser.add_argument("--words", metavar="WORD,...", help="queries of the log that hold any of these")
    parser.add_argument("--only", metavar="FILE", help="queries of the log that stand in this file, one a line")
    parser.add_argument("--language", metavar="TAG", help="queries in this language, by the log's column")
    parser.add_argument("--format", choices=list(FORMATS_OF), help="of the log; by default what its name says, or csv")
    parser.add_argument("--columns", "--column", metavar="OURS=THEIRS,...", help="other names of the log's columns")
    parser.add_argument(
        "--repeated", choices=["sum", "max", "first"], help="what a counted log means that holds a query twice"
    )
    for tier in ("head", "torso", "tail"):
        parser.add_argument(f"--{tier}", type=int, default=0, metavar="N", help=f"N queries of the stratum's {tier}")
    parser.add_argument("--head-share", type=float, default=0.5, metavar="X", help="where the head ends; default 0.5")
    parser.add_argument("--torso-share", type=float, default=0.8, metavar="X", help="where the torso ends; default 0.8")
    parser.add_argument("--window-days", type=int, default=90, metavar="N", help="the log's last N days; default 90")
    parser.add_argument("--min-clients", type=int, default=1, metavar="N", help="leave out queries of fewer clients")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draw; default 0")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read both, draw, write all queries, and say what joined."""
    stdin_once([args.queries, args.log])
    from judgments.formats.queries_csv import stratum_fault
    from pooling.sampling.draw import draw_stratified
    from pooling.sampling.filters import Filter
    from pooling.sampling.joining import join_stratum
    from pooling.sampling.languages import check_language
    from pooling.sampling.tiers import cut_tiers

    for name in (args.name, args.first):
        if odd := stratum_fault(name):
            raise NotValid(f"--name {name!r} cannot be a stratum: {odd}")
    rows = _rows(args.queries)
    asked = Filter(_words(args.words), _lines(args.only), args.language or "")
    log = LogFile(args).counted(window_days=args.window_days, min_clients=args.min_clients)
    if asked.language:
        check_language(asked.language, log.languages)
    own = asked.of(log.queries)
    if not own:
        raise NotValid(f"{args.log}: no query belongs to {args.name}; take other words, or a wider window")
    cut = cut_tiers(own, head_share=args.head_share, torso_share=args.torso_share)
    share = _share(args, rows, cut.traffic, log.traffic)

    def draw(frame: TierCut) -> Sample:
        return draw_stratified(frame, {tier: getattr(args, tier) for tier in ("head", "torso", "tail")}, args.seed)

    joined = join_stratum(rows, cut, draw, name=args.name, share=share, part_of=args.part_of, first=args.first)
    write_out(_as_csv(joined.rows), args.out)
    sys.stderr.write(
        f"{args.name}: {share:.4g} of the traffic, {counted(len(joined.new), 'new query', 'new queries')} and "
        f"{counted(len(joined.there), 'known query', 'known queries')} stand for it; of {len(own)} in the log\n"
    )
    return 0


def _rows(path: str) -> list[QueryRow]:
    from judgments.formats import FORMATS
    from judgments.formats.decoding import kept

    read = FORMATS["queries-csv"].read(kept(Path(path)), path=path)
    read.report.raise_if_errors()
    rows: list[QueryRow] = list(read.rows)
    return rows


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def _lines(path: str | None) -> tuple[str, ...]:
    if path is None:
        return ()
    lines = Path(path).read_text(encoding="utf-8-sig", errors="replace").splitlines()
    return tuple(line.strip() for line in lines if line.strip())


def _share(args: argparse.Namespace, rows: list[QueryRow], own: int, whole: int) -> float:
    if args.share is not None:
        return float(args.share)
    if not args.part_of:
        raise NotValid("--share is needed: the log does not tell which share of the whole traffic this is")
    told = {row.stratum: row.share for row in rows if row.stratum}
    return float(told.get(args.part_of) or 1.0) * own / whole


def _as_csv(rows: tuple[QueryRow, ...]) -> str:
    from judgments.formats import FORMATS

    stream = io.BytesIO()
    write = FORMATS["queries-csv"].write
    assert write is not None  # noqa: S101 (queries are written by the same file that reads them)
    write(rows, stream)
    return stream.getvalue().decode()
