"""The command ``assay freshness``: check qrels against current runs, documents and traffic."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.files import add_out, named, named_runs, stdin_once, tell_warnings, write_out
from assay.cli.table_formats import QRELS_HELP, RUN_HELP
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from evaluation.staleness.facts import Declared, RunHoles
    from judgments.core.report import Report

NAME = "freshness"
EXAMPLE = "assay freshness qrels.txt new.run --documents documents.jsonl --baseline snapshot/manifest.json"
DECLARED = ("schema", "embedding", "category", "language")
FAIL_ON = ("warn", "stale")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("qrels", metavar="QRELS", help=QRELS_HELP)
    parser.add_argument("runs", metavar="RUN", nargs="*", help=RUN_HELP)
    parser.add_argument("--documents", metavar="FILE", help="all documents of today: JSONL or CSV")
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        help="what was there when labels were made: manifest.json, a bundle (folder or zip), or older documents",
    )
    parser.add_argument("--log", metavar="FILE", help="a query log of today, against the one of the baseline")
    parser.add_argument(
        "--unrated",
        metavar="FILE",
        action="append",
        default=[],
        help="a reply of _rank_eval; its unrated_docs are holes",
    )
    parser.add_argument(
        "--changed",
        metavar="WHAT",
        action="append",
        default=[],
        help="declare a change since the baseline: schema, embedding, category=NAME, language=NAME",
    )
    parser.add_argument(
        "--category-field", metavar="NAME", default="category", help="of the documents; default category"
    )
    parser.add_argument(
        "--language-field", metavar="NAME", default="language", help="of the documents; default language"
    )
    parser.add_argument(
        "--fail-on", choices=FAIL_ON, help="end with 1 where the labels are at least that; else always 0"
    )
    parser.add_argument("--format", choices=["table", "json"], default="table", help="default: table")
    for kind in ("qrels", "run"):
        parser.add_argument(f"--{kind}-format", metavar="FORMAT", help=f"a format of assay formats --kind {kind}")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Read, compare, print."""
    from assay.cli.freshness_output import FORMATS
    from evaluation.staleness.facts import NO_INDEX, Facts, Known
    from evaluation.staleness.report import look
    from evaluation.staleness.signal import ORDER
    from judgments.formats.tables import load_qrels

    _check(args)
    qrels, said = load_qrels(Path(args.qrels), args.qrels, args.qrels_format)
    judged = {query_id: set(told) for query_id, told in qrels.to_dict().items()}
    reports: list[Report] = [said]
    from assay.cli.freshness_files import read_baseline, read_now

    names = {"category": args.category_field, "language": args.language_field}
    doc_ids = {doc_id for told in judged.values() for doc_id in told}
    before = read_baseline(args.baseline, doc_ids, names, reports)
    now = read_now(args.documents, args.log, doc_ids, names, before, reports)
    runs = [*_runs(args, judged, reports), *_unrated(args, judged)]
    gone = sorted(doc_ids - now.there) if now.there is not None else NO_INDEX
    facts = Facts(
        then=before.known,
        now=Known(runs, now.documents, now.hashes, now.category, now.language, now.traffic),
        gone=gone,
        declared=_declared(args.changed),
        days=before.days,
        judged=len(doc_ids),
    )
    tell_warnings(reports)
    report = look(facts)
    write_out(FORMATS[args.format](report), args.out)
    worst = args.fail_on and ORDER.index(report.state) >= ORDER.index(args.fail_on)
    return 1 if worst else 0


def _check(args: argparse.Namespace) -> None:
    stdin_once([args.qrels, *(named(each)[1] for each in args.runs), args.documents or "", *args.unrated])
    if not (args.runs or args.unrated or args.documents or args.log or args.changed):
        raise NotValid("there is nothing to compare the labels with; name a RUN, --documents, --log or --unrated")
    if args.log and not args.baseline:
        raise NotValid("--log is compared with the log of a baseline; name its manifest or bundle with --baseline")


def _runs(args: argparse.Namespace, judged: dict[str, set[str]], reports: list[Report]) -> list[RunHoles]:
    from assay.cli.progress import progress
    from evaluation.staleness.unjudged import count_holes, first_ones
    from judgments.formats.tables import open_run

    watch, found = progress(len(args.runs), "reading"), []
    for done, (name, path) in enumerate(named_runs(args.runs), 1):
        file = open_run(Path(path), path, name, args.run_format)
        rankings = (one for part in file.blocks() for one in first_ones(part))
        found.append(count_holes(judged, rankings, name))
        reports.append(file.report)
        watch(done)
    return found


def _unrated(args: argparse.Namespace, judged: dict[str, set[str]]) -> list[RunHoles]:
    import sys

    from assay.cli.files import STDIN
    from evaluation.staleness.rank_eval import holes_of, read

    found = []
    for path in args.unrated:
        content = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
        reply = read(content, path)
        for query_id in reply.failed:
            sys.stderr.write(f"{path}: the engine did not answer query {query_id}; it is left out\n")
        found.append(holes_of(reply, judged, named(path)[0]))
    return found


def _declared(told: list[str]) -> list[Declared]:
    from datetime import UTC, datetime

    from evaluation.staleness.facts import Declared

    found = []
    for one in told:
        kind, _, note = one.partition("=")
        if kind not in DECLARED:
            raise NotValid(f"--changed {one!r} is none of {', '.join(DECLARED)}")
        if kind in ("category", "language") and not note:
            raise NotValid(f"--changed {kind} needs its name: --changed {kind}=NAME")
        found.append(Declared(kind, datetime.now(UTC), note))
    return found
