"""Shared parts of all readers: the result, the final report, and the detection of wrong files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from assay.core.ids import is_unusual
from assay.core.read_report import Report, Tally
from assay.formats.text_lines import MAX_EXPANDED, Content, Source, numbered_lines

if TYPE_CHECKING:
    from assay.core.text_column import Places

Row = TypeVar("Row")


class NeedsCare(Exception):
    """Raised when a file needs the slower careful reader, which reports what is wrong."""


@dataclass(frozen=True, slots=True)
class Read(Generic[Row]):
    """The usable rows and the report."""

    rows: Sequence[Row]
    report: Report

    def strict(self) -> Self:
        """Return this; raise an exception if the file has an error."""
        self.report.raise_if_errors()
        return self


def collect(
    content: Content, tally: Tally, parse: Callable[[Content, Tally], Iterable[Row]], *, empty: str = ""
) -> Read[Row]:
    """Read everything and finish the report."""
    with content:
        rows = parse(content, tally)
        # Rows that are stored as columns stay so.
        listed = rows if isinstance(rows, Sequence) else list(rows)
    if empty and not tally.units - tally.bins["blank"] - tally.bins["comment"]:
        tally.refuse(f"contains no {empty}", code="F07")
    return Read(listed, finish(content, tally))


def reader(
    format: str, line: str, parse: Callable[..., Iterable[Row]], *, empty: str = "", encoded: bool = True
) -> Callable[..., Read[Row]]:
    """Return the reader of a format for a function that yields its rows; its keyword arguments are the options."""

    def read(source: Source, *, path: str = "-", **options: Any) -> Read[Row]:
        """Read a file and account for every line."""
        encoding = options.pop("encoding", "utf-8") if encoded else "utf-8"
        opened = open_as(source, path, format, line, encoding=encoding)
        return collect(*opened, partial(parse, **options), empty=empty)

    *usual, others = signature(read).parameters.values()
    own = [one for one in signature(parse).parameters.values() if one.kind is Parameter.KEYWORD_ONLY]
    own += [others.replace(name="encoding", kind=Parameter.KEYWORD_ONLY)] if encoded else []
    read.__signature__ = Signature([*usual, *own])  # type: ignore[attr-defined]
    return read


def refuse_early(
    content: Content, tally: Tally, parse: Callable[[Iterable[tuple[int, str]], Tally], Iterable[object]]
) -> None:
    """Read the first lines first, so that a large file of the wrong format is refused early."""
    whole = content.head.rfind(b"\n") + 1
    try:
        lines = list(numbered_lines(content.head[:whole]))
    except UnicodeDecodeError:
        # Reading the file reports the line.
        return
    trial = Tally(tally.path, tally.format, tally.expected)
    rows = list(parse(lines, trial)) if whole else []
    report = trial.report()
    if report.errors and not rows and {problem.code for problem in report.errors} == {"E10"}:
        first = report.errors[0]
        tally.refuse(f"this does not look like {tally.format}: {first.what}", line=first.line)
    report.raise_if_errors()


def note_unusual(tally: Tally, line: int, *ids: str) -> None:
    """Flag ids with a space outside ASCII or not in NFC (W39), because a look-alike may exist."""
    if any(map(is_unusual, ids)):
        what = "an id with an unusual space, or not in Unicode form NFC"
        tally.once("W39", line, what, done="accepted unchanged")


def filled_lines(lines: Iterable[tuple[int, str]], tally: Tally) -> Iterator[tuple[int, str]]:
    """Yield the lines with content; blank lines are counted here."""
    for line, text in lines:
        tally.read()
        if text.strip():
            yield line, text
        else:
            tally.put_blank(line)


def note_skipped(tally: Tally, before: int, comments: Places | Sequence[int], blanks: Places) -> None:
    """Count comments and blank lines of a piece."""
    for bin, code, what, lines in (("comment", "W34", "a comment", comments), ("blank", "W35", "a blank", blanks)):
        if len(lines):
            tally.put(bin, len(lines))
            tally.once(code, before + int(lines[0]), f"{what} line", done="skipped", times=len(lines))


def finish(content: Content, tally: Tally) -> Report:
    """Report repairs of the file as a whole, and return the report."""
    if content.bom:
        tally.once("W30", 1, "the file begins with a byte order mark", done="removed")
    if content.carriage_return_line is not None:
        line = content.carriage_return_line
        tally.once("W31", line, "lines end in CRLF or CR", done="read as line endings")
    if not content.ends_in_newline:
        tally.once("W36", content.lines_read, "the last line has no line ending", done="read as a complete line")
    return tally.report(sha256=content.sha256, size=content.size, lines=content.lines_read)


def open_as(
    source: Source,
    path: str,
    format: str,
    example: str,
    *,
    encoding: str = "utf-8",
    limit: int = MAX_EXPANDED,
    hashed: bool = True,
) -> tuple[Content, Tally]:
    """Open an input with its counters, and prepare the message for a file of another format."""
    from assay.formats.detection import lookalike, sniff

    content = Content(source, path, encoding=encoding, limit=limit, hashed=hashed)
    near = sniff(content.head)
    if near and near != format:
        from assay.formats import FORMATS

        # A file may match several formats; {"q1": {"d1": 3}} may be qrels or a run.
        near = None if sniff(content.head, FORMATS[format].kind) == format else near
    hint = f"; the nearest format is {near}" if near and near != format else ""
    if hint and (other := lookalike(content.head, near)):
        hint = f"; this looks like {other[0]}: {other[1]}"
    return content, Tally(path, format, f"expected {format}, a line such as {example!r}{hint}")
