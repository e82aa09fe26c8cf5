"""Reading of an uploaded file: its format, its rows, and how they compare with the collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings

from judgments import apart, storage
from judgments.apart import Limits
from judgments.core.errors import Conflict, NotValid
from judgments.core.report import MAX_RAW, Problem, Report
from judgments.import_kinds import KINDS, Checked, Finding, ImportKind
from judgments.models import Upload
from judgments.turns import Turns

PREVIEW_ROWS, PART = 10, 10_000
# Files that a web process has read at once while people wait for them; how many more may wait, and how long.
AT_ONCE, WAITING, WAITING_SECONDS = 1, 4, 3.0
SMALL_SECONDS, SMALL_MEMORY, SMALL_LINES = 5, 512 << 20, 100_000
Answer = TypeVar("Answer")
Progress = Callable[[int], None]


def read(upload: Upload, *, limits: Limits | None = None, progress: Progress | None = None) -> tuple[Report, Checked]:
    """Read an upload in a process of its own, and compare it with the collection as it is now.

    Parameters
    ----------
    upload : Upload
        Its format is told from the content where it has none yet.
    limits : Limits, optional
        What reading it may take; otherwise as much as any file may.
    progress : callable, optional
        Called with the bytes that were read so far, where the kind of file can tell.

    Raises
    ------
    BeyondLimits
        Reading it takes more.
    """
    member = KINDS[upload.kind]
    try:
        with storage.local(upload.path) as path:
            (upload.format, whole, report), *parts = apart.call(
                parsed, upload, path, limits=limits or largest(), progress=progress, watched=member.watched
            )
    except FileNotFoundError as error:
        raise Conflict(f"{upload.filename} was stored or thrown away meanwhile. Look at the list.") from error
    rows = whole if whole is not None else [row for part in parts for row in part]
    checked = member.check(upload.collection, rows, upload)
    return _with_findings(report, checked.findings), checked


def parsed(upload: Upload, path: Path, *, progress: Progress | None = None) -> Iterator[Any]:
    """The format of a file, its rows where they are one thing, and the report; then the rows where they are a list."""
    from judgments.formats import FORMATS

    member = KINDS[upload.kind]
    upload.format = upload.format or recognised(upload, path, member)
    if upload.format not in FORMATS or FORMATS[upload.format].kind != member.format_kind:
        known = [name for name in FORMATS if FORMATS[name].kind == member.format_kind]
        raise NotValid(
            f"{member.title} are not read from {upload.format!r}.", {"format": f"One of {', '.join(known)}."}
        )
    strange = sorted(set(upload.options) - set(FORMATS[upload.format].options))
    if strange:
        message = f"{FORMATS[upload.format].title} files are read without the option {strange[0]}."
        raise NotValid(message, {strange[0]: f"{message} Leave it out, or choose another format."})
    with path.open("rb") as stream:
        if member.read is not None:
            rows, report = member.read(stream, upload, **({"progress": progress} if member.watched else {}))
            yield upload.format, rows, report
            return
        found = FORMATS[upload.format].read(stream, path=upload.filename, **upload.options)
    yield upload.format, None, found.report
    for first in range(0, len(found.rows), PART):
        yield found.rows[first : first + PART]


def recognised(upload: Upload, path: Path, member: ImportKind) -> str:
    """The format that the first bytes look like, among those of the kind; else the kind's usual one."""
    from judgments.formats.decoding import Content
    from judgments.formats.sniffing import recognize_or

    with path.open("rb") as stream, Content(stream, upload.filename) as content:
        return recognize_or(content.head, upload.filename, member.format_kind, member.default_format, "format={}")


def largest() -> Limits:
    """What reading any file may take; a job does it."""
    return Limits(
        cpu=settings.READ_SECONDS,
        seconds=5 * settings.READ_SECONDS,
        memory=settings.READ_MEMORY_MB << 20,
        expanded=settings.READ_EXPANDED_MB << 20,
        lines=settings.READ_LINES,
    )


def small() -> Limits:
    """What reading a file may take while somebody waits for a page; what takes more is left to a job."""
    return Limits(
        cpu=min(SMALL_SECONDS, settings.READ_SECONDS),
        seconds=5 * SMALL_SECONDS,
        memory=min(SMALL_MEMORY, settings.READ_MEMORY_MB << 20),
        expanded=settings.JOB_FROM_BYTES,
        lines=SMALL_LINES,
    )


@cache
def turns() -> Turns:
    """Return who may have a file read in this process while they wait; whoever has no turn soon leaves it to a job."""
    return Turns(AT_ONCE, waiting=WAITING, seconds=WAITING_SECONDS)


def read_at_once(function: Callable[..., Answer], *args: Any, most: int) -> Answer:
    """Read a file of at most so many bytes, unpacked, for a page that cannot go on without it.

    Parameters
    ----------
    function, *args
        As `judgments.apart.call` takes them: the reader and what it reads.
    most : int
        Bytes.

    Raises
    ------
    BeyondLimits
        Reading it takes too much.
    Busy
        Others have their files read.
    """
    with turns().turn():
        limits = replace(small(), cpu=2 * SMALL_SECONDS, expanded=most, lines=max(SMALL_LINES, most // 8))
        return apart.call(function, *args, limits=limits)  # type: ignore[no-any-return]


def _with_findings(report: Report, findings: Sequence[Finding]) -> Report:
    """The reader's report with what the collection says added, and the rows that stay out moved to their bin."""
    problems = [
        Problem(row.line, "", row.code, row.severity, row.raw[:MAX_RAW], row.what, row.done, row.fix)
        for row in findings
    ]
    errors = [problem for problem in problems if problem.severity == "error"]
    bins = dict(report.bins)
    # A row that was repaired and then refused by the collection leaves its bin too: the books still balance.
    from_accepted = min(bins["accepted"], len(errors))
    bins["accepted"] -= from_accepted
    bins["repaired"] -= len(errors) - from_accepted
    bins["rejected"] += len(errors)
    codes = dict(report.codes)
    for problem in problems:
        codes[problem.code] = codes.get(problem.code, 0) + 1
    everything = sorted((*report.problems, *problems), key=lambda problem: problem.line or 0)
    return replace(
        report,
        bins=bins,
        codes=codes,
        problems=tuple(everything[:2000]),
        error_count=report.error_count + len(errors),
        warning_count=report.warning_count + len(problems) - len(errors),
    )


def preview(member: ImportKind, checked: Checked) -> dict[str, Any]:
    """The first rows as read, and the figures, for the page that asks whether to store them."""
    first = [[_cell(getattr(row, column, None)) for column in member.columns] for row in checked.rows[:PREVIEW_ROWS]]
    return {"columns": list(member.columns), "rows": first, "to_store": len(checked.rows), "figures": checked.figures}


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 160 else text[:159] + "…"


def nothing(report: Report) -> str:
    """Why there is no row to store."""
    if report.ok and not report.accepted:
        return "It has no rows."
    return "All of its rows are in the collection already, unchanged." if report.ok else "No row can be used."
