"""The command ``assay freshness``: check qrels against current runs, documents and traffic."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs.files import add_out, named, named_runs, print_warnings, stdin_once, write_out
from assay.cli.inputs.qrels import QRELS_HELP, RUN_HELP
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.staleness.facts import Declared, RunHoles

NAME = "freshness"
EXAMPLE = "assay freshness qrels.txt new.run --documents documents.jsonl --baseline snapshot/manifest.json"
DECLARED = ("schema", "embedding", "category", "language")
FAIL_ON = ("warn", "stale")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("qrels", metavar="QRELS", help=QRELS_HELP)
    parser.add_argument("runs", metavar="RUN", nargs="*", help=RUN_HELP)
    parser.add_argument("--documents", metavar="FILE", help="all current documents: JSONL or CSV")
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        help="the state when the labels were frozen: manifest.json, a bundle (folder or zip), or older documents",
    )
    parser.add_argument("--log", metavar="FILE", help="a current query log, compared with the log of the baseline")
    parser.add_argument(
        "--unrated",
        metavar="FILE",
        action="append",
        default=[],
        help="a _rank_eval response, whose unrated_docs count as unjudged; may be repeated",
    )
    parser.add_argument(
        "--changed",
        metavar="WHAT",
        action="append",
        default=[],
        help="record a change since the baseline: schema, embedding, category=NAME, language=NAME",
    )
    parser.add_argument(
        "--category-field",
        metavar="NAME",
        default="category",
        help="document field with the category; default category",
    )
    parser.add_argument(
        "--language-field",
        metavar="NAME",
        default="language",
        help="document field with the language; default language",
    )
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        help="exit with status 1 if the labels are in this state or worse; default: always exit with 0",
    )
    parser.add_argument("--format", choices=["table", "json"], default="table", help="default: table")
    for kind in ("qrels", "run"):
        parser.add_argument(f"--{kind}-format", metavar="FORMAT", help=f"a format of assay formats --kind {kind}")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Check the labels and print the signals."""
    from assay.cli.output.freshness import FORMATS
    from assay.formats.qrels_and_runs import load_qrels
    from assay.staleness.facts import NO_INDEX, Facts, Known
    from assay.staleness.report import look
    from assay.staleness.signal import ORDER

    _check(args)
    qrels, report_of_qrels = load_qrels(Path(args.qrels), args.qrels, args.qrels_format)
    judged = {query_id: set(doc_ids_of_query) for query_id, doc_ids_of_query in qrels.to_dict().items()}
    reports: list[Report] = [report_of_qrels]
    from assay.cli.inputs.freshness import read_baseline, read_current

    names = {"category": args.category_field, "language": args.language_field}
    doc_ids = {doc_id for doc_ids_of_query in judged.values() for doc_id in doc_ids_of_query}
    before = read_baseline(args.baseline, doc_ids, names, reports)
    now = read_current(args.documents, args.log, doc_ids, names, before, reports)
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
    print_warnings(reports)
    report = look(facts)
    write_out(FORMATS[args.format](report), args.out)
    worst = args.fail_on and ORDER.index(report.state) >= ORDER.index(args.fail_on)
    return 1 if worst else 0


def _check(args: argparse.Namespace) -> None:
    stdin_once([args.qrels, *(named(each)[1] for each in args.runs), args.documents or "", *args.unrated])
    if not (args.runs or args.unrated or args.documents or args.log or args.changed):
        raise NotValid("there is nothing to compare the labels with; add a RUN, --documents, --log or --unrated")
    if args.log and not args.baseline:
        raise NotValid("--log needs --baseline with a manifest or bundle that has a log to compare with")


def _runs(args: argparse.Namespace, judged: dict[str, set[str]], reports: list[Report]) -> list[RunHoles]:
    from assay.cli.output.progress import progress
    from assay.formats.qrels_and_runs import open_run
    from assay.staleness.unjudged_documents import count_holes, first_ones

    watch, holes = progress(len(args.runs), "reading"), []
    for done, (name, path) in enumerate(named_runs(args.runs), 1):
        file = open_run(Path(path), path, name, args.run_format)
        rankings = (one for part in file.blocks() for one in first_ones(part))
        holes.append(count_holes(judged, rankings, name))
        reports.append(file.report)
        watch(done)
    return holes


def _unrated(args: argparse.Namespace, judged: dict[str, set[str]]) -> list[RunHoles]:
    import sys

    from assay.cli.inputs.files import STDIN
    from assay.staleness.rank_eval import holes_of, read

    holes = []
    for path in args.unrated:
        content = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
        reply = read(content, path)
        for query_id in reply.failed:
            sys.stderr.write(f"{path}: the engine did not answer the query {query_id}, which was left out\n")
        holes.append(holes_of(reply, judged, named(path)[0]))
    return holes


def _declared(options: list[str]) -> list[Declared]:
    from datetime import UTC, datetime

    from assay.staleness.facts import Declared

    changes = []
    for one in options:
        kind, _, note = one.partition("=")
        if kind not in DECLARED:
            raise NotValid(f"--changed is {one!r}; use one of {', '.join(DECLARED)}")
        if kind in ("category", "language") and not note:
            raise NotValid(f"--changed {kind} needs a name: --changed {kind}=NAME")
        changes.append(Declared(kind, datetime.now(UTC), note))
    return changes
