"""How does a file become rows of a collection?

In two steps. ``receive`` reads the file, compares it with the collection and writes a report; nothing of it is stored.
``store`` puts all of it in, or nothing: with errors in the report it refuses, unless the lead has read them and lets
their lines stay out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import IO, Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from judgments import audit, jobs, storage
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotFound, NotValid, TooLarge
from judgments.core.report import Report
from judgments.import_kinds import KINDS, Checked
from judgments.models import Collection, Job, Upload, User
from judgments.upload_reading import Progress, nothing, preview, read, recognised

KEPT_UNSTORED = timedelta(days=7)
# Logs of what people did: they name persons until they are stored.
KEPT_PERSONAL = timedelta(days=1)


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
    """Read a file and report what is in it. Nothing is stored in the collection.

    Parameters
    ----------
    collection : Collection
        What it is compared with.
    kind : str
        A member of ``KINDS``.
    file : binary stream
        The content.
    filename : str
        As the user named it; the report uses it.
    actor : User
        Who sent it.
    format : str
        A member of ``judgments.formats.FORMATS``; told from the content when empty.
    options : dict, optional
        For the reader (``columns``, ``grades``, ...).

    Raises
    ------
    UnreadableInput
        The file as a whole cannot be read; the text names file, line and remedy.
    TooLarge
        More bytes than the server takes.
    """
    member = KINDS[kind]
    path, sha256, size = storage.keep_stream("uploads", file)
    upload = Upload(
        collection=collection,
        kind=kind,
        format=format,
        options=options or {},
        filename=filename[-255:],
        path=path,
        sha256=sha256,
        bytes=size,
        created_by=actor,
    )
    try:
        if size > settings.MAX_UPLOAD_BYTES:
            limit = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
            raise TooLarge(f"{filename} has {size / 1024 / 1024:,.0f} MB; this server takes {limit:,}. Split the file.")
        upload.format = format or recognised(upload, member)
        report, checked = read(upload)
    except Exception:
        storage.forget(path)
        raise
    upload.report = asdict(report)
    upload.preview = preview(member, checked)
    upload.save()
    return upload


def store(
    upload: Upload,
    *,
    actor: User,
    accept_errors: bool = False,
    options: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Put the file into the collection: all of it, or nothing.

    Parameters
    ----------
    upload : Upload
        What ``receive`` answered.
    actor : User
        Who stores it.
    accept_errors : bool
        The report's errors were read, and their lines may stay out.
    options : dict, optional
        For the kind: the name of a run, for example.
    progress : callable, optional
        As for :func:`judgments.upload_reading.read`.

    Returns
    -------
    dict
        What was stored: counts, and the public id of what was made.

    Raises
    ------
    UnreadableInput
        There are errors and nobody accepted them.
    NotValid
        There is no row to store.
    """
    if Upload.objects.filter(pk=upload.pk, stored_at__isnull=False).exists():
        raise Conflict(f"{upload.filename} was stored already.")
    member = KINDS[upload.kind]
    report, checked = read(upload, progress=progress if member.prepare is None else _half(progress))
    if not accept_errors:
        report.raise_if_errors()
    if not checked.rows:
        raise NotValid(f"{upload.filename}: nothing to store.", {"file": nothing(report)})
    if member.prepare is not None:
        checked = member.prepare(checked, upload, progress=_half(progress, upload.bytes))
    try:
        with _forgotten_unless_stored(checked):
            stored = _put_in(upload, checked, report, options or {}, actor)
    except IntegrityError as error:
        message = (
            f"Somebody stored the same at the same moment as {upload.filename}. Look at the list, then send again."
        )
        raise Conflict(message) from error
    storage.forget(upload.path)
    return {**stored, "left_out": report.error_count}


def _half(progress: Callable[[int], None] | None, before: int = 0) -> Callable[[int], None] | None:
    """The file is gone through twice: each time is half of the work."""
    return None if progress is None else lambda read: progress((before + read) // 2)


@contextmanager
def _forgotten_unless_stored(checked: Checked) -> Iterator[None]:
    """A file that was made to stay goes again when nothing was stored."""
    try:
        yield
    except BaseException:
        if checked.kept is not None:
            storage.forget(checked.kept[0])
        raise


@transaction.atomic
def _put_in(upload: Upload, checked: Checked, report: Report, options: dict[str, Any], actor: User) -> dict[str, Any]:
    """Write the rows and the audit row, and mark the upload; two calls at once cannot both do it."""
    if not Upload.objects.filter(pk=upload.pk, stored_at__isnull=True).update(stored_at=timezone.now()):
        raise Conflict(f"{upload.filename} was stored already.")
    member = KINDS[upload.kind]
    stored = member.store(upload.collection, checked, upload, options, actor)
    rows = amount(stored["rows"], "row")
    audit.record(
        "ingestion.store",
        f"{actor} stored {upload.filename} ({member.title.lower()}, {rows})",
        actor=actor,
        collection=upload.collection,
        target=upload,
        sha256=upload.sha256,
        errors_left_out=report.error_count,
    )
    return stored


def store_later(upload: Upload, *, actor: User, accept_errors: bool, options: dict[str, Any]) -> Job:
    """The same as a job, for files that take longer than a request should."""
    parameters = {"upload": str(upload.uuid), "accept_errors": accept_errors, "options": options}
    title = f"Store {upload.filename}"
    return jobs.start("import", title=title, parameters=parameters, collection=upload.collection, actor=actor)


def work_on_upload(work: jobs.Work) -> dict[str, Any]:
    """The job behind :func:`store_later`. A second attempt after a crash finds nothing stored, or all of it."""
    parameters = work.job.parameters
    upload = Upload.objects.select_related("collection").filter(uuid=parameters["upload"]).first()
    if upload is None:
        raise NotFound("The file was thrown away before it was stored. Send it again.")
    if upload.stored_at is not None:
        return {"rows": 0, "already": True}
    units = int(upload.report.get("units", 0))
    work.progress(0, units if KINDS[upload.kind].watched and units else None)
    stored = store(
        upload,
        actor=work.job.created_by,
        accept_errors=parameters["accept_errors"],
        options=parameters["options"],
        progress=lambda read: work.progress(units * read // max(1, upload.bytes)),
    )
    work.say(f"stored {amount(stored['rows'], 'row')}")
    return stored


def throw_away(upload: Upload, *, actor: User | None = None) -> None:
    """Forget a file that is not to be stored; one that somebody stores at the same moment stays."""
    with transaction.atomic():
        deleted, _ = Upload.objects.filter(pk=upload.pk, stored_at__isnull=True).delete()
        if not deleted:
            return
        audit.record(
            "ingestion.throw_away",
            f"{actor or 'The server'} discarded the file {upload.filename}, of which nothing was stored",
            actor=actor,
            collection=upload.collection,
            kind=upload.kind,
            bytes=upload.bytes,
            sha256=upload.sha256,
            uploaded_by=str(upload.created_by),
        )
    storage.forget(upload.path)


def sweep() -> int:
    """Forget files that nobody stored within a week, logs within a day; answers how many."""
    personal = [name for name in KINDS if KINDS[name].personal]
    old = Q(created_at__lt=timezone.now() - KEPT_UNSTORED)
    old |= Q(created_at__lt=timezone.now() - KEPT_PERSONAL, kind__in=personal)
    uploads = list(Upload.objects.filter(old, stored_at__isnull=True)[:1000])
    for upload in uploads:
        throw_away(upload)
    return len(uploads)
