"""Inputs of a freshness check: a baseline from a bundle or older documents, and today's documents and log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.staleness.baseline import count_asked, count_values, cuts, known_then, values, window
from evaluation.staleness.facts import NO_DATE, Known, Missing, Traffic, Values
from judgments.core.amounts import amount
from judgments.core.content_hash import content_hash
from judgments.core.errors import NotValid, UnreadableInput

if TYPE_CHECKING:
    from judgments.core.report import Report
    from judgments.formats.rows import DocumentRow

NONE_GIVEN = Missing("no baseline was given; name a manifest, a bundle or older documents with --baseline")
NO_DOCUMENTS = Missing("no documents of today were given; name them with --documents")
NO_LOG = Missing("no query log of today was given; name it with --log")
HEAD = 1 << 16
Names = Mapping[str, str]


@dataclass(frozen=True)
class Before:
    """The baseline: what is known of then, how old the labels are, and how the traffic was cut."""

    known: Known
    days: float | Missing = NO_DATE
    traffic: Mapping[str, Any] | None = None
    queries: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Today:
    """What the files of today say; ``there`` are the judged documents that are among them, None where nobody knows."""

    documents: int | Missing
    hashes: Mapping[str, str] | Missing
    category: Values | Missing
    language: Values | Missing
    traffic: Traffic | Missing
    there: set[str] | None


def read_baseline(path: str | None, doc_ids: set[str], names: Names, reports: list[Report]) -> Before:
    """Read a manifest, a bundle or older documents, whatever the file is."""
    if path is None:
        return Before(Known(*[NONE_GIVEN] * 6))
    file = Path(path)
    if file.is_dir() or file.suffix == ".zip":
        from judgments.formats.bundles import contents

        return _of_bundle(contents(file), path)
    if _is_manifest(file):
        beside = {one.name: one.read_bytes for one in file.parent.iterdir() if one.is_file()}
        return _of_bundle({**beside, "manifest.json": file.read_bytes}, path)
    documents = _documents(path, reports)
    counted = {kind: values(count_values(documents, name), "in the older documents") for kind, name in names.items()}
    no = Missing("older documents say nothing of it; name a manifest with --baseline")
    hashes = _hashes(documents, doc_ids)
    return Before(Known(no, len(documents), hashes, counted["category"], counted["language"], no))


def _is_manifest(file: Path) -> bool:
    from judgments.formats import sniff

    if not file.is_file():
        raise UnreadableInput(str(file), None, "there is no such file", "expected a manifest, a bundle or documents")
    with file.open("rb") as stream:
        return sniff(stream.read(HEAD)) == "manifest"


def _of_bundle(files: Mapping[str, Callable[[], bytes]], path: str) -> Before:
    """The manifest with the files that stand beside it; one that is missing leaves its signal unknown."""
    import json

    from judgments.formats.manifest import read as read_manifest

    if "manifest.json" not in files:
        raise UnreadableInput(path, None, "there is no manifest.json in it", "expected an exported bundle", "F06")
    content = files["manifest.json"]()
    read_manifest(content, path=path).report.raise_if_errors()
    manifest = json.loads(content)
    baseline = manifest.get("baseline") or {}
    if not isinstance(baseline, dict):
        raise UnreadableInput(path, None, "its baseline is no object", "export the bundle again")
    queries = _rows("queries-csv", "queries.csv", files)
    told = _rows("document-hashes-csv", "document-hashes.csv", files)
    hashes = {row.doc_id: row.content_sha256 for row in told}
    missing = Missing("document-hashes.csv does not stand beside the manifest; export the whole bundle")
    try:
        known = known_then(baseline, hashes if told else missing, queries)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UnreadableInput(path, None, f"its baseline cannot be read: {error}", "export the bundle again") from error
    return Before(known, _days(manifest, files), baseline.get("traffic"), tuple(queries))


def _rows(format: str, name: str, files: Mapping[str, Callable[[], bytes]]) -> list[Any]:
    from judgments.formats import FORMATS

    if name not in files:
        return []
    found = FORMATS[format].read(files[name](), path=name)
    found.report.raise_if_errors()
    return list(found.rows)


def _days(manifest: Mapping[str, Any], files: Mapping[str, Callable[[], bytes]]) -> float | Missing:
    """Since the median rating where the bundle has dates, else since the freeze."""
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


def read_now(
    documents: str | None, log: str | None, doc_ids: set[str], names: Names, before: Before, reports: list[Report]
) -> Today:
    """Read the documents and the log of today, as far as they are given."""
    traffic = _traffic(log, before) if log else NO_LOG
    if documents is None:
        return Today(NO_DOCUMENTS, NO_DOCUMENTS, NO_DOCUMENTS, NO_DOCUMENTS, traffic, None)
    rows = _documents(documents, reports)
    counted = {kind: values(count_values(rows, name), "now") for kind, name in names.items()}
    there = {row.doc_id for row in rows} & doc_ids
    hashes = _hashes(rows, doc_ids)
    return Today(len(rows), hashes, counted["category"], counted["language"], traffic, there)


def _hashes(rows: Iterable[DocumentRow], doc_ids: set[str]) -> dict[str, str]:
    return {
        row.doc_id: content_hash(row.title, row.text, row.url, row.image, row.fields)
        for row in rows
        if row.doc_id in doc_ids
    }


def _documents(path: str, reports: list[Report]) -> list[DocumentRow]:
    from judgments.formats import FORMATS
    from judgments.formats.sniffing import recognize_or

    file = Path(path)
    if not file.is_file():
        raise UnreadableInput(path, None, "there is no such file", "expected documents as JSONL or CSV")
    with file.open("rb") as stream:
        head = stream.read(HEAD)
    usual = "documents-csv" if ".csv" in file.suffixes else "documents-jsonl"
    name = recognize_or(head, path, "documents", usual, "assay convert --from {}")
    found = FORMATS[name].read(file, path=path)
    found.report.raise_if_errors()
    reports.append(found.report)
    return list(found.rows)


def _traffic(path: str, before: Before) -> Traffic | Missing:
    """The curve of a log, cut as the baseline's was."""
    import hashlib

    from judgments.formats.log_blocks import open_log
    from judgments.formats.sniffing import recognize_or
    from pooling.sampling.log_columns import count_stream
    from pooling.sampling.tiers import cut_tiers

    file = Path(path)
    if not file.is_file():
        raise UnreadableInput(path, None, "there is no such file", "expected a query log")
    with file.open("rb") as stream:
        name = recognize_or(stream.read(HEAD), path, "query-log", "query-log-csv", "assay convert --from {}")
    log = count_stream(open_log(file, path=path, format=name), window_days=window(before.traffic))
    if not log.queries:
        raise NotValid(f"{path}: no search is left within {amount(window(before.traffic), 'day')} of its last day")
    cut = cut_tiers(log.queries, **cuts(before.traffic))
    covered, tiers = count_asked(cut, before.queries) if before.queries else (None, {})
    return Traffic(hashlib.sha256(file.read_bytes()).hexdigest(), cut.curve, covered, tiers)
