"""Import of a file into a collection, in two steps: receive, then store.

``receive`` reads the file, compares it with the collection and writes a report; it stores nothing in the collection.
``store`` stores all of it or nothing: if the report has errors it refuses, unless the lead has read them and agrees
to leave their lines out. ``take_in`` and ``store_soon`` do the same while a user waits, and leave slow work to a job.
The file itself is always read in a separate process (`judgments.apart`).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from datetime import timedelta
from typing import IO, Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, Sum
from django.urls import reverse
from django.utils import timezone

from judgments import audit, jobs, storage
from judgments.apart import Limits
from judgments.core.amounts import amount
from judgments.core.errors import (
    AssayError,
    BeyondLimits,
    Busy,
    Conflict,
    NotFound,
    NotValid,
    TooLarge,
    TooMany,
    UnreadableInput,
)
from judgments.core.report import Report
from judgments.import_kinds import KINDS, Checked
from judgments.models import Collection, Job, Upload, User
from judgments.upload_reading import Progress, nothing, preview, read, small, turns

KEPT_UNSTORED = timedelta(days=7)
# Logs of what people did: they name persons until they are stored.
KEPT_PERSONAL = timedelta(days=1)
RETRY_AFTER = 60
# Where the preview of a file that cannot be read says why.
REFUSED = "refused"


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
    """The same for somebody who waits: what is not read within moments is left unread, for a job.

    With ``keep_refused`` a file that cannot be read stays, so that it can be read in another way: `refusal` then says
    what is wrong.

    Raises
    ------
    TooMany, TooLarge
        The account has too much that waits, or that is in storage for nothing.
    """
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
    """Read a file while somebody waits; one that takes longer stays unread."""
    if upload.bytes <= settings.JOB_FROM_BYTES:
        with suppress(BeyondLimits, Busy), turns().turn():
            _look(upload, limits=small())


def refusal(upload: Upload) -> str:
    """Why a file that was kept could not be read; empty for every other."""
    return str(upload.preview.get(REFUSED, "")) if not upload.report else ""


def read_again(upload: Upload, *, format: str, options: dict[str, Any], actor: User) -> Job | None:
    """Read a file that is not stored yet in another way; the job, where it takes longer than a page may.

    Raises
    ------
    Conflict
        It was stored meanwhile.
    UnreadableInput
        It cannot be read this way either. What was found before stays.
    """
    if Upload.objects.filter(pk=upload.pk, stored_at__isnull=False).exists():
        raise Conflict(f"{upload.filename} was stored already.")
    upload.format, upload.options, upload.report, upload.preview = format, options, {}, {}
    _look_now(upload)
    upload.save(update_fields=["format", "options", "report", "preview"])
    return None if upload.report else read_later(upload, actor=actor)


def _taken(
    collection: Collection, kind: str, file: IO[bytes], filename: str, actor: User, format: str, options: dict[str, Any]
) -> Upload:
    """The file in storage, unread."""
    path, sha256, size = storage.keep_stream("uploads", file)
    if size > settings.MAX_UPLOAD_BYTES:
        storage.forget(path)
        limit = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
        raise TooLarge(f"{filename} has {size / 1024 / 1024:,.0f} MB; this server takes {limit:,}. Split the file.")
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
        storage.forget(upload.path)
        raise


def _look(upload: Upload, *, limits: Limits | None = None, progress: Progress | None = None) -> None:
    """Read the file, and write down what is in it."""
    report, checked = read(upload, limits=limits, progress=progress)
    upload.report = asdict(report)
    upload.preview = preview(KINDS[upload.kind], checked)


@contextmanager
def coming(actor: User, size: int) -> Iterator[None]:
    """Count the bytes of a request that is on its way as the account's, while it lasts.

    Raises
    ------
    TooMany, TooLarge
        As `check_quota`; what else is on its way counts too.
    """
    with _lock:
        before = _coming[actor.pk]
        _coming[actor.pk] += size
    try:
        check_quota(actor, before)
        yield
    finally:
        with _lock:
            _coming[actor.pk] -= size
            if not _coming[actor.pk]:
                del _coming[actor.pk]


_lock = threading.Lock()
_coming: Counter[int] = Counter()


def check_quota(actor: User, others: int = 0) -> None:
    """See whether an account may send a file; ``others`` are the bytes of other files that are on their way.

    Raises
    ------
    TooMany
        Its files wait for jobs.
    TooLarge
        It has too many bytes in storage that are not stored in a collection.
    """
    waiting = Job.objects.filter(
        created_by=actor, kind__in=["read", "import"], state__in=[Job.State.QUEUED, Job.State.RUNNING]
    ).count()
    if waiting >= settings.UPLOADS_WAITING:
        told = f"{amount(waiting, 'file of yours waits', 'files of yours wait')} to be read. Send this one again later."
        raise TooMany(told, RETRY_AFTER)
    unstored = Upload.objects.filter(created_by=actor, stored_at__isnull=True).aggregate(bytes=Sum("bytes"))
    if (unstored["bytes"] or 0) + others >= settings.UPLOAD_QUOTA_MB << 20:
        told = f"Your files that are not stored yet have {settings.UPLOAD_QUOTA_MB:,} MB."
        raise TooLarge(f"{told} That is all that one account may have. Store or discard some of them.")


def store(
    upload: Upload,
    *,
    actor: User,
    accept_errors: bool = False,
    options: dict[str, Any] | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
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
    progress, limits
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
    report, checked = read(upload, limits=limits, progress=progress if member.prepare is None else _half(progress))
    if not upload.report:  # it was left to a job unread
        upload.report, upload.preview = asdict(report), preview(member, checked)
        Upload.objects.filter(pk=upload.pk).update(format=upload.format, report=upload.report, preview=upload.preview)
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


def store_soon(upload: Upload, *, actor: User, accept_errors: bool, options: dict[str, Any]) -> dict[str, Any] | Job:
    """Store a file at once where that takes moments, else as a job; answers what was stored, or the job."""
    if upload.bytes <= settings.JOB_FROM_BYTES:
        with suppress(BeyondLimits, Busy), turns().turn():
            return store(upload, actor=actor, accept_errors=accept_errors, options=options, limits=small())
    return store_later(upload, actor=actor, accept_errors=accept_errors, options=options)


def store_later(upload: Upload, *, actor: User, accept_errors: bool, options: dict[str, Any]) -> Job:
    """The same as a job, for files that take longer than a request should."""
    parameters = {"upload": str(upload.uuid), "accept_errors": accept_errors, "options": options}
    return _start("import", f"Store {upload.filename}", parameters, upload, actor)


def read_later(upload: Upload, *, actor: User) -> Job:
    """Read a file as a job; its page then shows what is in it."""
    return _start("read", f"Read {upload.filename}", {"upload": str(upload.uuid)}, upload, actor)


@transaction.atomic
def _start(kind: str, title: str, parameters: dict[str, Any], upload: Upload, actor: User) -> Job:
    User.objects.select_for_update().get(pk=actor.pk)  # many at once are counted one by one
    check_quota(actor)
    return jobs.start(kind, title=title, parameters=parameters, collection=upload.collection, actor=actor)


def work_on_reading(work: jobs.Work) -> dict[str, Any]:
    """The job behind :func:`read_later`. A file that cannot be read is forgotten."""
    upload = Upload.objects.select_related("collection").filter(uuid=work.job.parameters["upload"]).first()
    if upload is None:
        raise NotFound("The file was thrown away before it was read. Send it again.")
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
        raise  # somebody else reads it
    except AssayError:
        throw_away(upload)
        raise


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
    unseen = not upload.report
    with _thrown_away_if_useless(upload) if unseen else nullcontext():
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
