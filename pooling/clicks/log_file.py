"""Streaming reader of click log files of any format and size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from judgments.formats.decoding import Content, Source
from judgments.formats.log_blocks import MAX_LOG
from judgments.formats.reading import finish, open_as
from pooling.clicks.evidence import Evidence, Robots, count_clicks

if TYPE_CHECKING:
    from judgments.core.report import Report
    from judgments.formats.rows import ClickRow

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
    """Count a log while it is read.

    Parameters
    ----------
    source, path, encoding, options
        As for the format's own reader.
    format : str
        A member of `FORMATS` of the kind ``click-log``.
    robots : Robots, optional
        Which clients are left out.
    progress : callable, optional
        Called with the bytes read so far.

    Raises
    ------
    UnreadableInput
        When the whole file is refused.
    """
    from judgments.formats import FORMATS

    member = FORMATS[format]
    example = member.example.splitlines()[0]
    content, tally = open_as(source, path, format, example, encoding=encoding, limit=MAX_LOG)
    assert member.stream is not None  # noqa: S101 (each format of this kind has one)
    with content:
        evidence = count_clicks(_watched(member.stream(content, tally, **options), content, progress), robots)
    if not tally.units - tally.bins["blank"] - tally.bins["comment"]:
        tally.refuse("holds nothing that was shown or clicked on", code="F07")
    return evidence, finish(content, tally)


def _watched(rows: Iterator[ClickRow], content: Content, progress: Callable[[int], None] | None) -> Iterator[ClickRow]:
    for number, row in enumerate(rows):
        if progress is not None and number % BEAT == 0:
            progress(content.size)
        yield row
