"""The command ``assay freshness``: check qrels against current runs, documents and traffic."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import option, progress, text_table
from assay.cli.inputs.files import (
    QRELS_HELP,
    RUN_HELP,
    STDIN,
    add_out,
    named,
    named_runs,
    print_warnings,
    stdin_once,
    write_out,
)
from assay.core.content_hash import content_hash
from assay.core.errors import NotValid, UnreadableInput
from assay.core.text_rules import amount
from assay.staleness.actions import ACTIONS
from assay.staleness.baseline import count_searches, count_values, cuts, known_then, values, window
from assay.staleness.signal import (
    DAYS,
    INDEX,
    NO_DATE,
    NO_INDEX,
    ORDER,
    SHARE,
    Declared,
    Facts,
    Known,
    Missing,
    Traffic,
    Values,
)

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.formats.row_types import DocumentRow
    from assay.staleness.report import Report as FreshnessReport
    from assay.staleness.signal import Declared, Finding, RunHoles


EXAMPLE = "assay freshness qrels.txt new.run --documents documents.jsonl --baseline snapshot/manifest.json"
DECLARED = ("schema", "embedding", "category", "language")
FAIL_ON = ("warn", "stale")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help=QRELS_HELP)
    parser.add_argument("runs", metavar="RUN", nargs="*", help=RUN_HELP)
    option(parser, "--documents FILE", "all current documents: JSONL or CSV")
    option(
        parser,
        "--baseline FILE",
        "the state when the labels were frozen: manifest.json, a bundle (folder or zip), or older documents",
    )
    option(parser, "--log FILE", "a current query log, compared with the log of the baseline")
    option(
        parser,
        "--unrated FILE",
        "a _rank_eval response, whose unrated_docs count as unjudged; may be repeated",
        action="append",
        default=[],
    )
    option(
        parser,
        "--changed WHAT",
        "record a change since the baseline: schema, embedding, category=NAME, language=NAME",
        action="append",
        default=[],
    )
    option(parser, "--category-field NAME", "document field with the category", "category")
    option(parser, "--language-field NAME", "document field with the language", "language")
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        help="exit with status 1 if the labels are in this state or worse; default: always exit with 0",
    )
    option(parser, "--format", "output format", "table", choices=["table", "json"])
    for kind in ("qrels", "run"):
        parser.add_argument(
            f"--{kind}-format", metavar="FORMAT", help=f"a format listed by assay formats --kind {kind}"
        )
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Check the labels and print the signals."""
    from assay.formats.qrels_and_runs import load_qrels
    from assay.staleness.report import look

    _check(args)
    qrels, report_of_qrels = load_qrels(Path(args.qrels), args.qrels, args.qrels_format)
    judged = {query_id: set(doc_ids_of_query) for query_id, doc_ids_of_query in qrels.to_dict().items()}
    reports: list[Report] = [report_of_qrels]

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

    changes = []
    for one in options:
        kind, _, note = one.partition("=")
        if kind not in DECLARED:
            raise NotValid(f"--changed is {one!r}; use one of {', '.join(DECLARED)}")
        if kind in ("category", "language") and not note:
            raise NotValid(f"--changed {kind} needs a name: --changed {kind}=NAME")
        changes.append(Declared(kind, datetime.now(UTC), note))
    return changes


WORDS = {"fresh": "fresh", "warn": "warning", "stale": "STALE", "unknown": "unknown"}


def as_table(report: FreshnessReport) -> str:
    """Return the signals, the runs and the next steps as tables."""
    rows = [
        [one.signal.name, WORDS[one.state], number(one.now, one), number(one.then, one), limits(one)]
        for one in report.findings
    ]
    parts = [text_table(("signal", "state", "now", "baseline", "limits"), rows, left=2)]
    parts.append("".join(f"{one.signal.name}: {one.words or f'unknown; {one.reason}'}\n" for one in report.findings))
    if report.runs:
        held = [
            [run.name, share(run.mean), share(run.p90), f"{run.holes:,}", f"{run.returned:,}", f"{run.queries:,}"]
            for run in report.runs
        ]
        parts.append(text_table(("run", "unjudged share", "p90", "unjudged", "returned", "queries"), held))
    parts.append(_next_steps(report))
    return "\n".join(parts)


def number(value: float | None, one: Finding) -> str:
    """Return a number in its unit; a dash if there is none."""
    if value is None:
        return "-"
    unit = one.signal.unit
    return (
        share(value)
        if unit == SHARE
        else f"{value:.0f} d"
        if unit == DAYS
        else f"{value:.3f}"
        if unit == INDEX
        else f"{value:.0f}"
    )


def share(value: float | None) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> share(0.25), share(None)
    ('25.0%', '-')
    """
    return "-" if value is None else f"{value:.1%}"


def limits(one: Finding) -> str:
    """Return the limits above which a signal warns or is stale."""
    thresholds = (("warning >", one.signal.warn), ("stale >", one.signal.stale))
    return ", ".join(f"{word} {number(limit, one)}" for word, limit in thresholds if limit is not None)


def _next_steps(report: FreshnessReport) -> str:
    if not report.actions:
        left = len(report.unknown)
        unknown = f"; {amount(left, 'signal is', 'signals are')} unknown" if left else ""
        return f"no action is needed{unknown}\n"
    lines = [f"the labels are {'stale' if report.state == 'stale' else 'aging'}; next steps:"]
    for name in dict.fromkeys(action.name for action in report.actions):
        why = ", ".join(one.signal.name for one in report.asking if one.signal.action == name)
        lines.append(f"  {ACTIONS[name].title} ({why}). {ACTIONS[name].words}")
    return "\n".join(lines) + "\n"


def as_json(report: FreshnessReport) -> str:
    """Return the report as JSON; unknown numbers are null with a reason."""
    return json.dumps(report.as_json(), ensure_ascii=False, indent=1) + "\n"


FORMATS: dict[str, Callable[[FreshnessReport], str]] = {"table": as_table, "json": as_json}


NONE_GIVEN = Missing("no baseline was given; name a manifest, a bundle or older documents with --baseline")
NO_DOCUMENTS = Missing("no current documents were given; name them with --documents")
NO_LOG = Missing("no current query log was given; name it with --log")
HEAD = 1 << 16
Names = Mapping[str, str]


@dataclass(frozen=True)
class BaselineFacts:
    """The baseline: its facts, the age of the labels, and the tiers of its traffic."""

    known: Known
    days: float | Missing = NO_DATE
    traffic: Mapping[str, Any] | None = None
    queries: tuple[Any, ...] = ()


@dataclass(frozen=True)
class CurrentFacts:
    """The facts of the current files; ``there`` contains the judged documents among them, or None if unknown."""

    documents: int | Missing
    hashes: Mapping[str, str] | Missing
    category: Values | Missing
    language: Values | Missing
    traffic: Traffic | Missing
    there: set[str] | None


def read_baseline(path: str | None, doc_ids: set[str], names: Names, reports: list[Report]) -> BaselineFacts:
    """Read the baseline from a manifest, a bundle or older documents."""
    if path is None:
        return BaselineFacts(Known(*[NONE_GIVEN] * 6))
    file = Path(path)
    if file.is_dir() or file.suffix == ".zip":
        from assay.formats.manifest import contents

        return _of_bundle(contents(file), path)
    if _is_manifest(file):
        beside = {one.name: one.read_bytes for one in file.parent.iterdir() if one.is_file()}
        return _of_bundle({**beside, "manifest.json": file.read_bytes}, path)
    documents = _documents(path, reports)
    counted = {kind: values(count_values(documents, name), "in the older documents") for kind, name in names.items()}
    no = Missing("older documents do not have this information; name a manifest with --baseline")
    hashes = _hashes(documents, doc_ids)
    return BaselineFacts(Known(no, len(documents), hashes, counted["category"], counted["language"], no))


def _is_manifest(file: Path) -> bool:
    from assay.formats import sniff

    if not file.is_file():
        raise UnreadableInput(str(file), None, "the file does not exist", "expected a manifest, a bundle or documents")
    with file.open("rb") as stream:
        return sniff(stream.read(HEAD)) == "manifest"


def _of_bundle(files: Mapping[str, Callable[[], bytes]], path: str) -> BaselineFacts:
    """Read the manifest and the files next to it; a missing file leaves its signal unknown."""
    import json

    from assay.formats.manifest import read as read_manifest

    if "manifest.json" not in files:
        raise UnreadableInput(path, None, "it has no manifest.json", "expected an exported bundle", "F06")
    content = files["manifest.json"]()
    read_manifest(content, path=path).strict()
    manifest = json.loads(content)
    baseline = manifest.get("baseline") or {}
    if not isinstance(baseline, dict):
        raise UnreadableInput(path, None, "its baseline is not an object", "export the bundle again")
    queries = _rows("queries-csv", "queries.csv", files)
    hash_rows = _rows("document-hashes-csv", "document-hashes.csv", files)
    hashes = {row.doc_id: row.content_sha256 for row in hash_rows}
    missing = Missing("document-hashes.csv is not next to the manifest; export the whole bundle")
    try:
        known = known_then(baseline, hashes if hash_rows else missing, queries)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UnreadableInput(path, None, f"cannot read its baseline: {error}", "export the bundle again") from error
    return BaselineFacts(known, _days(manifest, files), baseline.get("traffic"), tuple(queries))


def _rows(format: str, name: str, files: Mapping[str, Callable[[], bytes]]) -> list[Any]:
    from assay.formats import FORMATS

    if name not in files:
        return []
    return list(FORMATS[format].read(files[name](), path=name).strict().rows)


def _days(manifest: Mapping[str, Any], files: Mapping[str, Callable[[], bytes]]) -> float | Missing:
    """Return the days since the median rating if the bundle has dates, otherwise since the freeze."""
    days = sorted(filter(None, (_moment(row.rated_at) for row in _rows("ratings-csv", "ratings.csv", files))))
    frozen = _moment(str((manifest.get("list") or {}).get("frozen_at", "")))
    moment = days[len(days) // 2] if days else frozen
    return NO_DATE if moment is None else (datetime.now(UTC) - moment).total_seconds() / 86_400


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def read_current(
    documents: str | None,
    log: str | None,
    doc_ids: set[str],
    names: Names,
    before: BaselineFacts,
    reports: list[Report],
) -> CurrentFacts:
    """Read the current documents and log, if given."""
    traffic = _traffic(log, before) if log else NO_LOG
    if documents is None:
        return CurrentFacts(NO_DOCUMENTS, NO_DOCUMENTS, NO_DOCUMENTS, NO_DOCUMENTS, traffic, None)
    rows = _documents(documents, reports)
    counted = {kind: values(count_values(rows, name), "now") for kind, name in names.items()}
    there = {row.doc_id for row in rows} & doc_ids
    hashes = _hashes(rows, doc_ids)
    return CurrentFacts(len(rows), hashes, counted["category"], counted["language"], traffic, there)


def _hashes(rows: Iterable[DocumentRow], doc_ids: set[str]) -> dict[str, str]:
    return {
        row.doc_id: content_hash(row.title, row.text, row.url, row.image, row.fields)
        for row in rows
        if row.doc_id in doc_ids
    }


def _documents(path: str, reports: list[Report]) -> list[DocumentRow]:
    from assay.formats import FORMATS
    from assay.formats.reader import recognize_or

    file = Path(path)
    if not file.is_file():
        raise UnreadableInput(path, None, "the file does not exist", "expected documents as JSONL or CSV")
    with file.open("rb") as stream:
        head = stream.read(HEAD)
    usual = "documents-csv" if ".csv" in file.suffixes else "documents-jsonl"
    name = recognize_or(head, path, "documents", usual, "assay convert --from {}")
    read = FORMATS[name].read(file, path=path).strict()
    reports.append(read.report)
    return list(read.rows)


def _traffic(path: str, before: BaselineFacts) -> Traffic | Missing:
    """Return the traffic of a log, cut into tiers like the baseline's."""
    import hashlib

    from assay.formats.log_blocks import open_log
    from assay.formats.reader import recognize_or
    from assay.sampling.column_counting import count_stream
    from assay.sampling.tiers import cut_tiers

    file = Path(path)
    if not file.is_file():
        raise UnreadableInput(path, None, "the file does not exist", "expected a query log")
    with file.open("rb") as stream:
        name = recognize_or(stream.read(HEAD), path, "query-log", "query-log-csv", "assay convert --from {}")
    log = count_stream(open_log(file, path=path, format=name), window_days=window(before.traffic))
    if not log.queries:
        raise NotValid(
            f"{path}: has no searches within {amount(window(before.traffic), 'day')} of its last day; use a longer log"
        )
    cut = cut_tiers(log.queries, **cuts(before.traffic))
    covered, tiers = count_searches(cut, before.queries) if before.queries else (None, {})
    return Traffic(hashlib.sha256(file.read_bytes()).hexdigest(), cut.curve, covered, tiers)
