"""Streaming reader of click log files of any format and size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from assay.clicks.click_counts import Evidence, Robots, count_clicks
from assay.formats.log_blocks import MAX_LOG
from assay.formats.reader import finish, open_as
from assay.formats.text_lines import Content, Source

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.formats.row_types import ClickRow

BEAT = 50_000


def read_clicks(
    source: Source,
    *,
    path: str,
    format: str,
    robots: Robots | None = None,
    progress: Callable[[int], None] | None = None,
    encoding: str = "utf-8",
    **options: Any,
) -> tuple[Evidence, Report]:
    """Count the rows of a log while reading it."""
    from assay.formats import FORMATS

    member = FORMATS[format]
    example = member.example.splitlines()[0]
    content, tally = open_as(source, path, format, example, encoding=encoding, limit=MAX_LOG)
    assert member.stream is not None  # noqa: S101 (each format of this kind has one)
    with content:
        evidence = count_clicks(_watched(member.stream(content, tally, **options), content, progress), robots)
    if not tally.units - tally.bins["blank"] - tally.bins["comment"]:
        tally.refuse("contains no impressions and no clicks", code="F07")
    return evidence, finish(content, tally)


def _watched(rows: Iterable[ClickRow], content: Content, progress: Callable[[int], None] | None) -> Iterator[ClickRow]:
    for number, row in enumerate(rows):
        if progress is not None and number % BEAT == 0:
            progress(content.size)
        yield row
