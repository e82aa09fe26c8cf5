"""Import of a file into a collection, in two steps: receive, then store.

``receive`` reads the file, compares it with the collection and writes a report; it stores nothing in the collection.
``store`` stores all of it or nothing; it refuses a report with errors unless the lead has agreed to leave out those
lines. ``take_in`` and ``store_soon`` do the same while a user waits, and leave slow work to a job. The file itself is
always read in a separate process (`judgments.jobs.limited_process`).
"""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from assay.core.errors import (
    AssayError,
    BeyondLimits,
    Busy,
    Conflict,
    NotValid,
    TooLarge,
    UnreadableInput,
)
from assay.core.read_report import MAX_RAW, Problem, Report
from assay.core.text_rules import amount
from judgments.hooks import IMPORT_KINDS
from judgments.imports import upload_sessions
from judgments.imports.kinds import Checked, Finding, ImportKind
from judgments.jobs import jobs, limited_process
from judgments.jobs.limited_process import Limits, largest, small, turns
from judgments.models import Collection, Job, Upload, User, audit
from judgments.web import access
from judgments.web.middleware import check_quota

PREVIEW_ROWS, PART = 10, 10_000
# Attribute of an upload with the rows that were just read, so that a request that checks and stores reads them once.
READ = "_read"
Progress = Callable[[int], None]


def read(upload: Upload, *, limits: Limits | None = None, progress: Progress | None = None) -> tuple[Report, Checked]:
    """Read an upload in a separate process, and compare it with the current collection."""
    member = IMPORT_KINDS[upload.kind]
    rows, report = _read_before(upload) or _read_apart(upload, member, limits or largest(), progress)
    checked = member.check(upload.collection, rows, upload)
    return _with_findings(report, checked.findings), checked


def _read_before(upload: Upload) -> tuple[Any, Report] | None:
    """Return what the same request read of a small file in this format and with these options, once."""
    choice, *content = upload.__dict__.pop(READ, (None,))
    return (content[0], content[1]) if choice == (upload.format, upload.options) else None


def _read_apart(upload: Upload, member: ImportKind, limits: Limits, progress: Progress | None) -> tuple[Any, Report]:
    try:
        with local(upload.path) as path:
            (upload.format, whole, report), *parts = limited_process.call(
                parsed, upload, path, limits=limits, progress=progress, watched=member.watched
            )
    except FileNotFoundError as error:
        raise _changed(upload) from error
    rows = whole if whole is not None else [row for part in parts for row in part]
    if upload.bytes <= settings.JOB_FROM_BYTES:
        upload.__dict__[READ] = (upload.format, dict(upload.options)), rows, report
    return rows, report


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
    from assay.formats.reader import recognize_or
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


UNSTORED_RETENTION = timedelta(days=7)
# Logs of user behavior may contain personal data until they are stored.
PERSONAL_RETENTION = timedelta(days=1)
# The key of the preview for the error of an unreadable file.
REFUSED = "refused"


class NothingNew(NotValid):
    """The collection already contains all rows of the file."""


def receive(
    collection: Collection,
    *,
    kind: str,
    file: IO[bytes],
    filename: str,
    actor: User,
    format: str = "",
    options: dict[str, Any] | None = None,
) -> Upload:
    """Read a file and report its content, without storing anything in the collection."""
    upload = _taken(collection, kind, file, filename, actor, format, options or {})
    with _forgotten_unless_read(upload):
        _look(upload)
    upload.save()
    return upload


def take_in(
    collection: Collection,
    *,
    kind: str,
    file: IO[bytes],
    filename: str,
    actor: User,
    format: str = "",
    options: dict[str, Any] | None = None,
    keep_refused: bool = False,
) -> Upload:
    """Receive a file in a web request. A job reads files that take too long."""
    check_quota(actor)
    upload = _taken(collection, kind, file, filename, actor, format, options or {})
    with _forgotten_unless_read(upload):
        try:
            _look_now(upload)
        except (UnreadableInput, NotValid) as error:
            if not keep_refused:
                raise
            upload.preview = {REFUSED: str(error)}
    upload.save()
    return upload


def _look_now(upload: Upload) -> None:
    """Read a file within a web request; a file that takes longer stays unread."""
    if upload.bytes <= settings.JOB_FROM_BYTES:
        with suppress(BeyondLimits, Busy), turns().turn():
            _look(upload, limits=small())


def refusal(upload: Upload) -> str:
    """Return why a file could not be read; empty for readable files."""
    return str(upload.preview.get(REFUSED, "")) if not upload.report else ""


def read_again(upload: Upload, *, format: str, options: dict[str, Any], actor: User) -> Job | None:
    """Read a file again with other options before it is stored; return a job if it takes too long for a request."""
    if Upload.objects.filter(pk=upload.pk, stored_at__isnull=False).exists():
        raise Conflict(f"{upload.filename} is already stored.")
    upload.format, upload.options, upload.report, upload.preview = format, options, {}, {}
    _look_now(upload)
    upload.save(update_fields=["format", "options", "report", "preview"])
    return None if upload.report else read_later(upload, actor=actor)


def keep_stream(folder: str, source: IO[bytes]) -> tuple[str, str, int]:
    """Store a stream under a new name in the folder; return path, SHA-256 and size in bytes."""
    digest, size = hashlib.sha256(), 0
    while block := source.read(1 << 20):
        digest.update(block)
        size += len(block)
    source.seek(0)
    return default_storage.save(f"{folder}/{uuid.uuid4().hex}", File(source)), digest.hexdigest(), size


@contextmanager
def local(path: str) -> Iterator[Path]:
    """Return a local path of the stored file, or of a temporary copy."""
    try:
        stored = Path(default_storage.path(path))
    except NotImplementedError:
        with default_storage.open(path, "rb") as source, NamedTemporaryFile(prefix="assay-") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
            copy.flush()
            yield Path(copy.name)
        return
    if not stored.exists():
        raise FileNotFoundError(path)
    yield stored


def _taken(
    collection: Collection, kind: str, file: IO[bytes], filename: str, actor: User, format: str, options: dict[str, Any]
) -> Upload:
    """Store the file without reading it."""
    path, sha256, size = keep_stream("uploads", file)
    if size > settings.MAX_UPLOAD_BYTES:
        default_storage.delete(path)
        limit = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
        raise TooLarge(f"{filename} is {size / 1024 / 1024:,.0f} MB. The limit is {limit:,} MB. Split the file.")
    return Upload(
        collection=collection,
        kind=kind,
        format=format,
        options=options,
        filename=filename[-255:],
        path=path,
        sha256=sha256,
        bytes=size,
        created_by=actor,
    )


@contextmanager
def _forgotten_unless_read(upload: Upload) -> Iterator[None]:
    try:
        yield
    except BaseException:
        default_storage.delete(upload.path)
        raise


def _look(upload: Upload, *, limits: Limits | None = None, progress: Progress | None = None) -> None:
    """Read the file and store the report."""
    report, checked = read(upload, limits=limits, progress=progress)
    upload.report = asdict(report)
    upload.preview = preview(IMPORT_KINDS[upload.kind], checked)


def store(
    upload: Upload,
    *,
    actor: User,
    accept_errors: bool = False,
    options: dict[str, Any] | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> dict[str, Any]:
    """Store the file in the collection, all of it or nothing."""
    if Upload.objects.filter(pk=upload.pk, stored_at__isnull=False).exists():
        raise Conflict(f"{upload.filename} is already stored.")
    member = IMPORT_KINDS[upload.kind]
    report, checked = read(upload, limits=limits, progress=progress if member.prepare is None else _half(progress))
    if not upload.report:  # not read yet
        upload.report, upload.preview = asdict(report), preview(member, checked)
        Upload.objects.filter(pk=upload.pk).update(format=upload.format, report=upload.report, preview=upload.preview)
    if not accept_errors:
        report.raise_if_errors()
    if not checked.rows:
        error = NothingNew if report.ok and report.accepted else NotValid
        raise error(f"{upload.filename} has nothing to store.", {"file": no_rows_reason(report)})
    if member.prepare is not None:
        checked = member.prepare(checked, upload, progress=_half(progress, upload.bytes))
    try:
        with _forgotten_unless_stored(checked):
            stored = _put_in(upload, checked, report, options or {}, actor)
    except IntegrityError as error:
        message = f"Another user stored the rows of {upload.filename} at the same time. Check the list and try again."
        raise Conflict(message) from error
    default_storage.delete(upload.path)
    return {**stored, "left_out": report.error_count}


def _half(progress: Callable[[int], None] | None, before: int = 0) -> Callable[[int], None] | None:
    """Report the progress of two passes through the file, each half of the work."""
    return None if progress is None else lambda read: progress((before + read) // 2)


@contextmanager
def _forgotten_unless_stored(checked: Checked) -> Iterator[None]:
    """Delete a converted file if nothing was stored."""
    try:
        yield
    except BaseException:
        if checked.stored is not None:
            default_storage.delete(checked.stored[0])
        raise


def _changed(upload: Upload) -> Conflict:
    return Conflict(f"{upload.filename} was stored or discarded in the meantime. Check the list of files.")


@transaction.atomic
def _put_in(upload: Upload, checked: Checked, report: Report, options: dict[str, Any], actor: User) -> dict[str, Any]:
    """Write the rows and the audit row, and mark the upload as stored; of two concurrent calls, one fails."""
    if not Upload.objects.filter(pk=upload.pk, stored_at__isnull=True).update(stored_at=timezone.now()):
        raise _changed(upload)
    member = IMPORT_KINDS[upload.kind]
    stored = member.store(upload.collection, checked, upload, options, actor)
    rows = amount(stored["rows"], "row")
    audit.record(
        "ingestion.store",
        f"{actor} stored {upload.filename} ({member.title.lower()}, {rows})",
        actor=actor,
        target=upload,
        sha256=upload.sha256,
        errors_left_out=report.error_count,
    )
    return stored


def store_soon(upload: Upload, *, actor: User, accept_errors: bool, options: dict[str, Any]) -> dict[str, Any] | Job:
    """Store a small file at once and a large one as a job; return what was stored, or the job."""
    if upload.bytes <= settings.JOB_FROM_BYTES:
        with suppress(BeyondLimits, Busy), turns().turn():
            return store(upload, actor=actor, accept_errors=accept_errors, options=options, limits=small())
    return store_later(upload, actor=actor, accept_errors=accept_errors, options=options)


def store_later(upload: Upload, *, actor: User, accept_errors: bool, options: dict[str, Any]) -> Job:
    """Store a file as a job."""
    parameters = {"upload": str(upload.uuid), "accept_errors": accept_errors, "options": options}
    return _start("import", f"Store {upload.filename}", parameters, upload, actor)


def read_later(upload: Upload, *, actor: User) -> Job:
    """Read a file as a job."""
    return _start("read", f"Read {upload.filename}", {"upload": str(upload.uuid)}, upload, actor)


@transaction.atomic
def _start(kind: str, title: str, parameters: dict[str, Any], upload: Upload, actor: User) -> Job:
    User.objects.select_for_update().get(pk=actor.pk)  # handle concurrent requests one after another
    check_quota(actor)
    return jobs.start(kind, title=title, parameters=parameters, collection=upload.collection, actor=actor)


def work_on_reading(work: jobs.Work) -> dict[str, Any]:
    """Run the job of :func:`read_later`; an unreadable file is discarded."""
    upload = access.existing(
        Upload.objects.select_related("collection").filter(uuid=work.job.parameters["upload"]),
        "The file was discarded before it was read. Import it again.",
    )
    if not upload.report:
        with _thrown_away_if_useless(upload):
            _look(upload, progress=lambda read: work.progress(read, upload.bytes))
            work.progress(upload.bytes, upload.bytes)
        upload.save()
    return {"page": reverse("upload", args=[upload.uuid])}


@contextmanager
def _thrown_away_if_useless(upload: Upload) -> Iterator[None]:
    try:
        yield
    except jobs.Lost:
        raise  # another worker reads it
    except AssayError:
        throw_away(upload)
        raise


def work_on_upload(work: jobs.Work) -> dict[str, Any]:
    """Run the job of :func:`store_later`. After a crash, either nothing or everything is stored."""
    parameters = work.job.parameters
    upload = access.existing(
        Upload.objects.select_related("collection").filter(uuid=parameters["upload"]),
        "The file was discarded before it was stored. Import it again.",
    )
    if upload.stored_at is not None:
        return {"rows": 0, "already": True}
    units = int(upload.report.get("units", 0))
    work.progress(0, units if IMPORT_KINDS[upload.kind].watched and units else None)
    unseen = not upload.report
    try:
        with _thrown_away_if_useless(upload) if unseen else nullcontext():
            stored = store(
                upload,
                actor=work.job.created_by,
                accept_errors=parameters["accept_errors"],
                options=parameters["options"],
                progress=lambda read: work.progress(units * read // max(1, upload.bytes)),
            )
    except NothingNew as nothing:
        work.say(str(nothing))
        return {"rows": 0, "already": True}
    work.say(f"stored {amount(stored['rows'], 'row')}")
    return stored


def throw_away(upload: Upload, *, actor: User | None = None) -> None:
    """Discard a file, unless another user stores it at the same time."""
    with transaction.atomic():
        deleted, _ = Upload.objects.filter(pk=upload.pk, stored_at__isnull=True).delete()
        if not deleted:
            return
        audit.record(
            "ingestion.throw_away",
            f"{actor or 'The server'} discarded the file {upload.filename} without storing it",
            actor=actor,
            collection=upload.collection,
            kind=upload.kind,
            bytes=upload.bytes,
            sha256=upload.sha256,
            uploaded_by=str(upload.created_by),
        )
    default_storage.delete(upload.path)


def sweep() -> int:
    """Discard abandoned upload sessions, and files that were not stored within a week, or within a day for logs; return
    their number."""
    personal = [name for name in IMPORT_KINDS if IMPORT_KINDS[name].personal]
    old = Q(created_at__lt=timezone.now() - UNSTORED_RETENTION)
    old |= Q(created_at__lt=timezone.now() - PERSONAL_RETENTION, kind__in=personal)
    uploads = list(Upload.objects.filter(old, stored_at__isnull=True)[:1000])
    for upload in uploads:
        throw_away(upload)
    return len(uploads) + upload_sessions.sweep()
