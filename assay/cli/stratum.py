"""The command ``assay stratum``: add queries from a stratum of a log's traffic to a queries file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli import option
from assay.cli.inputs.files import add_out, read_rows, stdin_once, write_out, written
from assay.cli.sample import LogFile
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.formats.reader import LOG_FORMATS

if TYPE_CHECKING:
    from assay.formats.row_types import QueryRow
    from assay.sampling.draw import Sample
    from assay.sampling.tiers import TierCut

EXAMPLE = (
    "assay stratum queries.csv log.csv --name tents --words tent,tents --share 0.2 --head 20 --tail 20 --out all.csv"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "queries QUERIES", "a queries.csv with weights and probabilities")
    option(parser, "log LOG", "the log from which the stratum is drawn")
    option(parser, "--name NAME", "name of the stratum", required=True)
    option(
        parser,
        "--share X",
        "the stratum's share of the whole traffic; default with --part-of: counted in the log",
        type=float,
    )
    option(
        parser,
        "--part-of NAME",
        "the existing stratum, drawn from the same log, that includes the new stratum's traffic",
        default="",
    )
    option(parser, "--first NAME", "name for the stratum of the existing queries", "first")
    option(parser, "--words WORD,...", "use log queries that contain any of these words")
    option(parser, "--only FILE", "use log queries that are listed in this file, one per line")
    option(parser, "--language TAG", "use queries in this language, from the log's language column")
    option(parser, "--format", "format of the log; default: from its file name, or csv", choices=list(LOG_FORMATS))
    option(parser, "--columns --column OURS=THEIRS,...", "map columns of the log, such as count=searches")
    option(parser, "--repeated", "how to combine repeated queries of a counted log", choices=["sum", "max", "first"])
    for tier in ("head", "torso", "tail"):
        parser.add_argument(
            f"--{tier}", type=int, default=0, metavar="N", help=f"draw N queries from the stratum's {tier}"
        )
    option(parser, "--head-share X", "share of traffic at which the head ends", 0.5)
    option(parser, "--torso-share X", "share of traffic at which the torso ends", 0.8)
    option(parser, "--window-days N", "use the last N days of the log", 90)
    option(parser, "--min-clients N", "leave out queries from fewer clients than this", type=int, default=1)
    option(parser, "--seed N", "seed for the draw", 0)
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Draw the stratum, write all queries, and print a summary."""
    stdin_once([args.queries, args.log])
    from assay.formats.queries import stratum_fault
    from assay.sampling.draw import draw_stratified
    from assay.sampling.languages import check_language
    from assay.sampling.stratum_joining import Filter, join_stratum
    from assay.sampling.tiers import cut_tiers

    for name in (args.name, args.first):
        if odd := stratum_fault(name):
            raise NotValid(f"--name {name!r} is not a valid stratum name: {odd}")
    rows = read_rows("queries-csv", args.queries, warn=False)
    selection = Filter(_words(args.words), _lines(args.only), args.language or "")
    log = LogFile(args).amount(window_days=args.window_days, min_clients=args.min_clients)
    if selection.language:
        check_language(selection.language, log.languages)
    own = selection.of(log.queries)
    if not own:
        raise NotValid(f"{args.log}: no query belongs to {args.name}; use other words or a longer window")
    cut = cut_tiers(own, head_share=args.head_share, torso_share=args.torso_share)
    share = _share(args, rows, cut.traffic, log.traffic)

    def draw(frame: TierCut) -> Sample:
        return draw_stratified(frame, {tier: getattr(args, tier) for tier in ("head", "torso", "tail")}, args.seed)

    joined = join_stratum(rows, cut, draw, name=args.name, share=share, part_of=args.part_of, first=args.first)
    write_out(written("queries-csv", joined.rows), args.out)
    sys.stderr.write(
        f"{args.name}: {share:.4g} of the traffic, {amount(len(joined.new), 'new query', 'new queries')} and "
        f"{amount(len(joined.there), 'known query', 'known queries')} out of {len(own)} in the log\n"
    )
    return 0


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
        raise NotValid("--share is missing; add the stratum's share of the whole traffic, which the log does not show")
    shares = {row.stratum: row.share for row in rows if row.stratum}
    return float(shares.get(args.part_of) or 1.0) * own / whole
