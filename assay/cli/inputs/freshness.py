"""Inputs of a freshness check: a baseline from a bundle or older documents, and the current documents and log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.content_hash import content_hash
from assay.core.counted_nouns import amount
from assay.core.errors import NotValid, UnreadableInput
from assay.staleness.baseline import count_searches, count_values, cuts, known_then, values, window
from assay.staleness.facts import NO_DATE, Known, Missing, Traffic, Values

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.formats.row_types import DocumentRow

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
        from assay.formats.bundles import contents

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
    read_manifest(content, path=path).report.raise_if_errors()
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
    read = FORMATS[format].read(files[name](), path=name)
    read.report.raise_if_errors()
    return list(read.rows)


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
    from assay.formats.detection import recognize_or

    file = Path(path)
    if not file.is_file():
        raise UnreadableInput(path, None, "the file does not exist", "expected documents as JSONL or CSV")
    with file.open("rb") as stream:
        head = stream.read(HEAD)
    usual = "documents-csv" if ".csv" in file.suffixes else "documents-jsonl"
    name = recognize_or(head, path, "documents", usual, "assay convert --from {}")
    read = FORMATS[name].read(file, path=path)
    read.report.raise_if_errors()
    reports.append(read.report)
    return list(read.rows)


def _traffic(path: str, before: BaselineFacts) -> Traffic | Missing:
    """Return the traffic of a log, cut into tiers like the baseline's."""
    import hashlib

    from assay.formats.detection import recognize_or
    from assay.formats.log_blocks import open_log
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
