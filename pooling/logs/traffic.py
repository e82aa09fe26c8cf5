"""Contents of a stored query log: queries within a window, traffic by tier, and rows by line number."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from django.core.files.storage import default_storage

from assay.core.redaction import redact
from assay.formats.log_blocks import open_log, rows_on_lines
from assay.formats.row_types import LogRow
from assay.sampling.column_counting import count_stream
from assay.sampling.counted_log import WINDOW_DAYS, CountedLog
from assay.sampling.tiers import HEAD_SHARE, TORSO_SHARE, Tier, cut_tiers
from judgments.imports import ingestion
from judgments.jobs import limited_process
from judgments.jobs.limited_process import largest
from judgments.jobs.single_flight import compute_once
from judgments.models import QuerySample, Upload
from judgments.snapshots.baselines import Freezing
from pooling.logs import stored_log
from pooling.models import QueryLog


def baseline(freezing: Freezing) -> dict[str, Any]:
    """Return the traffic curve of the log and the share of its searches that judged queries cover."""
    samples = sorted(
        {query.sample for query in freezing.queries if query.sample},
        key=lambda sample: (sample.frame.get("searches") or 0, sample.pk),
    )
    if samples:
        return _of_sample(samples[-1], freezing)
    log = freezing.collection.query_logs.first()
    if log is None:
        return {"reason": "no query log was read"}
    log_figures = traffic(log)
    return {"log_sha256": log.sha256, "curve": [list(point) for point in log_figures.curve], "covered": None}


def _of_sample(sample: QuerySample, freezing: Freezing) -> dict[str, Any]:
    searches = Counter({query.query_id: query.frequency or 0 for query in freezing.queries if query.sample == sample})
    whole = sample.frame.get("searches") or 0
    return {
        "log_sha256": sample.log_sha256,
        "curve": sample.curve,
        "covered": sum(searches.values()) / whole if whole else None,
        "parameters": sample.parameters,
    }


DAY = 24 * 3600
CUTS = {"head_share": HEAD_SHARE, "torso_share": TORSO_SHARE}
Progress = Callable[[int], None]
# About ten seconds of counting; single searches in a table are counted five times as fast as other logs.
LARGE = 1_000_000
FASTER = 5


@dataclass(frozen=True)
class Traffic:
    """A log's traffic within a window."""

    tiers: tuple[Tier, ...]
    curve: tuple[tuple[int, float], ...]
    first: str
    last: str
    dropped: dict[str, int]

    @property
    def searches(self) -> int:
        return sum(tier.traffic for tier in self.tiers)

    @property
    def distinct(self) -> int:
        return sum(tier.queries for tier in self.tiers)


def rows_on(log: QueryLog | Upload, lines: Iterable[int]) -> dict[int, LogRow]:
    """Return the rows on these lines, without personal data."""
    with default_storage.open(log.path) as stream:
        return rows_in(stream, log, lines)


def rows_in(stream: IO[bytes], log: QueryLog | Upload, lines: Iterable[int]) -> dict[int, LogRow]:
    """Return the rows on these lines of an open log, without personal data."""
    name = log.name if isinstance(log, QueryLog) else log.filename
    rows = rows_on_lines(stream, set(lines), path=name, format=log.format, **log.options)
    return {line: replace(row, query=redact(row.query)[0]) for line, row in sorted(rows.items())}


def counted(
    log: QueryLog,
    *,
    window_days: int | None = WINDOW_DAYS,
    language: str | None = None,
    progress: Progress | None = None,
) -> CountedLog:
    """Return the log's distinct queries within the window; ``progress`` receives the rows so far."""
    return _counted(log, window_days if log.first_at else None, language, progress)


def _counted(
    log: QueryLog | Upload, window_days: int | None, language: str | None = None, progress: Progress | None = None
) -> CountedLog:
    with ingestion.local(log.path) as path:
        return _counted_in(path, log, window_days, language, progress)


def _counted_in(
    path: Path,
    log: QueryLog | Upload,
    window_days: int | None,
    language: str | None = None,
    progress: Progress | None = None,
) -> CountedLog:
    name = log.name if isinstance(log, QueryLog) else log.filename
    with path.open("rb") as stream:
        rows = open_log(stream, path=name, format=log.format, **log.options)
        return count_stream(rows, window_days=window_days, language=language, progress=progress)


def is_large(log: QueryLog) -> bool:
    """Return whether counting the log takes too long for a page, so that a job draws the queries."""
    most = LARGE * FASTER if log.format == stored_log.RAW else LARGE
    return bool(log.report.get("rows", 0) > most)


def traffic(
    log: QueryLog,
    *,
    window_days: int | None = WINDOW_DAYS,
    language: str | None = None,
    **cuts: Any,
) -> Traffic:
    """Return the log's tiers and curve without its queries; cached, because a stored log never changes."""
    if is_usual(log, window_days, language, cuts) and "traffic" in log.report:
        return _from_json(log.report["traffic"])
    known = sha256(json.dumps([log.path, window_days, language, cuts], sort_keys=True).encode()).hexdigest()

    def count() -> Traffic:
        return _seen(counted(log, window_days=window_days, language=language), **cuts)

    return compute_once(f"traffic:{known}", count, keep=DAY)


def is_usual(log: QueryLog, window_days: int | None, language: str | None, cuts: Mapping[str, Any]) -> bool:
    """Return whether the log was counted with these settings at its import."""
    cut_settings = {**CUTS, **{name: value for name, value in cuts.items() if value is not None}}
    return cut_settings == CUTS and language is None and (window_days == WINDOW_DAYS or not log.first_at)


def languages(log: QueryLog) -> dict[str, int]:
    """Return the languages of the log with their searches, most frequent first."""
    return dict(log.report.get("languages", []))


def usual(whole: CountedLog, upload: Upload) -> Traffic:
    """Return the traffic of a log with the default settings, counted while its file is open."""
    if not whole.first:
        return _seen(whole)
    with ingestion.local(upload.path) as path:
        return _seen(limited_process.call(_counted_in, path, upload, WINDOW_DAYS, limits=largest()))


def _seen(frame: CountedLog, **cuts: Any) -> Traffic:
    tiers = cut_tiers(frame.queries, **cuts)
    days = [moment.isoformat() if moment else "" for moment in (frame.first, frame.last)]
    return Traffic(tiers.tiers, tiers.curve, *days, frame.dropped)


def _from_json(figures: dict[str, Any]) -> Traffic:
    curve = tuple((rank, share) for rank, share in figures["curve"])
    return Traffic(**{**figures, "tiers": tuple(Tier(**tier) for tier in figures["tiers"]), "curve": curve})
