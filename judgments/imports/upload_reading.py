"""Reading of an uploaded file: its format, its rows, and their comparison with the collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.core.errors import Conflict, NotValid
from assay.core.read_report import MAX_RAW, Problem, Report
from judgments.hooks import IMPORT_KINDS
from judgments.imports.kinds import Checked, Finding, ImportKind
from judgments.jobs import limited_process, storage
from judgments.jobs.file_reading import largest
from judgments.jobs.limited_process import Limits
from judgments.models import Upload

PREVIEW_ROWS, PART = 10, 10_000
Progress = Callable[[int], None]


def read(upload: Upload, *, limits: Limits | None = None, progress: Progress | None = None) -> tuple[Report, Checked]:
    """Read an upload in a separate process, and compare it with the current collection."""
    member = IMPORT_KINDS[upload.kind]
    try:
        with storage.local(upload.path) as path:
            (upload.format, whole, report), *parts = limited_process.call(
                parsed, upload, path, limits=limits or largest(), progress=progress, watched=member.watched
            )
    except FileNotFoundError as error:
        raise Conflict(
            f"{upload.filename} was stored or discarded in the meantime. Check the list of files."
        ) from error
    rows = whole if whole is not None else [row for part in parts for row in part]
    checked = member.check(upload.collection, rows, upload)
    return _with_findings(report, checked.findings), checked


def parsed(upload: Upload, path: Path, *, progress: Progress | None = None) -> Iterator[Any]:
    """Yield the format, the rows if they are one object, and the report; then the rows in parts if they are a list."""
    from assay.formats import FORMATS

    member = IMPORT_KINDS[upload.kind]
    known = [name for name in FORMATS if FORMATS[name].kind == member.format_kind]
    only = known[0] if member.read is not None and len(known) == 1 else ""
    upload.format = upload.format or only or recognised(upload, path, member)
    if upload.format not in known:
        raise NotValid(
            f"Unknown format {upload.format!r} for {member.title}.", {"format": f"Use one of {', '.join(known)}."}
        )
    strange = sorted(set(upload.options) - set(FORMATS[upload.format].options))
    if strange:
        message = f"The option {strange[0]} does not apply to {FORMATS[upload.format].title} files."
        raise NotValid(message, {strange[0]: f"{message} Remove the option, or choose another format."})
    with path.open("rb") as stream:
        if member.read is not None:
            rows, report = member.read(stream, upload, **({"progress": progress} if member.watched else {}))
            yield upload.format, rows, report
            return
        content = FORMATS[upload.format].read(stream, path=upload.filename, **upload.options)
    whole = member.compact(content.rows)
    yield upload.format, whole, content.report
    for first in range(0, len(content.rows) if whole is None else 0, PART):
        yield content.rows[first : first + PART]


def recognised(upload: Upload, path: Path, member: ImportKind) -> str:
    """Return the format that the first bytes match among those of the kind, or the kind's default."""
    from assay.formats.detection import recognize_or
    from assay.formats.text_lines import Content

    with path.open("rb") as stream, Content(stream, upload.filename) as content:
        return recognize_or(content.head, upload.filename, member.format_kind, member.default_format, "format={}")


def _with_findings(report: Report, findings: Sequence[Finding]) -> Report:
    """Return the report with the collection's findings added and the refused rows counted as rejected."""
    problems = [
        Problem(row.line, "", row.code, row.severity, row.raw[:MAX_RAW], row.what, row.done, row.fix)
        for row in findings
    ]
    errors = [problem for problem in problems if problem.severity == "error"]
    bins = dict(report.bins)
    # A repaired row that the collection refuses is also subtracted from its count, so that the counts add up.
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
    """Return the first rows and the figures for the import preview."""
    first = [[_cell(getattr(row, column, None)) for column in member.columns] for row in checked.rows[:PREVIEW_ROWS]]
    return {
        "columns": list(member.columns),
        "rows": first,
        "to_store": len(checked.rows),
        "figures": checked.figures,
        "name": checked.name,
    }


def _cell(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    text = "" if value is None else str(int(value) if whole else value)
    return text if len(text) <= 160 else text[:159] + "…"


def no_rows_reason(report: Report) -> str:
    """Return the reason why there is no row to store."""
    if report.ok and not report.accepted:
        return "The file contains no rows."
    return "The collection already contains all rows of the file." if report.ok else "The file contains no usable rows."
