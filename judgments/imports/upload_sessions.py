"""Upload sessions: files that a program sends in chunks, so that an interrupted upload continues where it stopped.

The chunks are separate files in storage, because no storage backend can append to a file. The import of the kind joins
them, checks the hash of the whole, and reads the result like any other upload.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import uuid as uuid_module
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from tempfile import TemporaryFile
from typing import IO, Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from assay.core.errors import AssayError, Busy, Conflict, NotValid, TooLarge, TooMany
from assay.core.text_rules import amount
from judgments.imports.kinds import ImportKind
from judgments.models import Collection, UploadSession, User
from judgments.web import access
from judgments.web.middleware import RETRY_AFTER, check_quota

State = UploadSession.State

# The size of chunks that the server asks for, and the largest that it accepts. Only the last chunk may be smaller than
# the smallest, because each chunk is a file and a row update.
CHUNK_BYTES, MOST_CHUNK_BYTES, LEAST_CHUNK_BYTES = 8 << 20, 16 << 20, 1 << 20
# Number of unfinished sessions of an account.
MOST_OPEN = 20
# A session is discarded when nothing arrived for this long; its outcome is repeated for this long.
IDLE, REMEMBERED = timedelta(days=1), timedelta(days=7)
# An import that is still marked as running after this time was interrupted.
INTERRUPTED = timedelta(minutes=10)
SHA256 = re.compile("[0-9a-f]{64}")


def existing(kind: ImportKind, collection: Collection, sha256: str) -> dict[str, Any] | None:
    """Return what the collection already stores of exactly this file; None if it has to be sent."""
    return None if kind.existing is None else kind.existing(collection, sha256)


@transaction.atomic
def begin(
    collection: Collection, *, kind: str, filename: str, size: int, sha256: str, actor: User
) -> tuple[UploadSession, bool]:
    """Return the actor's session for a file, and whether it is new; an earlier session for the file continues."""
    if size > settings.MAX_UPLOAD_BYTES:
        limit = settings.MAX_UPLOAD_BYTES // (1024 * 1024)
        raise TooLarge(f"{filename} is {size / 1024 / 1024:,.0f} MB. The limit is {limit:,} MB. Split the file.")
    if not SHA256.fullmatch(sha256):
        raise NotValid("The hash of the file is not a SHA-256.", {"sha256": "Send 64 lowercase hexadecimal digits."})
    User.objects.select_for_update().get(pk=actor.pk)  # handle concurrent requests one after another
    mine = UploadSession.objects.filter(created_by=actor).exclude(state=State.DONE)
    earlier = mine.filter(collection=collection, kind=kind, sha256=sha256, bytes=size).first()
    if earlier is not None:
        return earlier, False
    if mine.count() >= MOST_OPEN:
        problem = f"{amount(MOST_OPEN, 'of your uploads is', 'of your uploads are')} unfinished. Finish or cancel one."
        raise TooMany(problem, RETRY_AFTER)
    check_quota(actor, size)
    made = UploadSession.objects.create(
        collection=collection, kind=kind, filename=filename[-255:], bytes=size, sha256=sha256, created_by=actor
    )
    return made, True


def session_for(actor: User, collection: Collection, uuid: uuid_module.UUID) -> UploadSession:
    """Return the actor's own session with this id in the collection."""
    return access.existing(
        UploadSession.objects.filter(collection=collection, created_by=actor, uuid=uuid),
        "You have no such upload. It may have been discarded because nothing arrived for a day.",
    )


def add_chunk(session: UploadSession, *, offset: int, content: bytes) -> UploadSession:
    """Store the next bytes of a file; of two concurrent calls for the same bytes, one fails."""
    if session.state != State.RECEIVING:
        raise Conflict(f"{session.filename} is complete and accepts no more bytes.")
    if offset != session.offset:
        raise _other_offset(session)
    end = offset + len(content)
    if end > session.bytes:
        raise NotValid(f"The chunk ends at byte {end:,}, but the file has {session.bytes:,} bytes.")
    if len(content) < LEAST_CHUNK_BYTES and end < session.bytes:
        raise NotValid(f"Only the last chunk may be smaller than {LEAST_CHUNK_BYTES:,} bytes.")
    path = default_storage.save(f"chunks/{uuid_module.uuid4().hex}", ContentFile(content))
    rows = UploadSession.objects.filter(pk=session.pk, offset=offset, state=State.RECEIVING)
    if not rows.update(offset=end, chunks=[*session.chunks, path], touched_at=timezone.now()):
        default_storage.delete(path)
        session.refresh_from_db()
        raise _other_offset(session)
    session.refresh_from_db()
    return session


def _other_offset(session: UploadSession) -> Conflict:
    return Conflict(f"The next byte of {session.filename} is {session.offset:,}. Continue there.", "offset")


@contextmanager
def importing(session: UploadSession) -> Iterator[IO[bytes]]:
    """Return the whole file for its import; of two concurrent calls, one is refused."""
    if session.offset < session.bytes:
        raise Conflict(
            f"{session.filename} is incomplete: {session.offset:,} of {session.bytes:,} bytes arrived. Send the rest."
        )
    now = timezone.now()
    free = Q(state=State.RECEIVING) | Q(state=State.IMPORTING, touched_at__lt=now - INTERRUPTED)
    if not UploadSession.objects.filter(free, pk=session.pk).update(state=State.IMPORTING, touched_at=now):
        raise Busy(f"{session.filename} is being imported. Ask again in 5 seconds.", 5)
    session.state = State.IMPORTING
    with TemporaryFile() as whole:
        try:
            _join(session, whole)
        except AssayError:
            discard(session)
            raise
        try:
            yield whole
        except BaseException:
            # The client may try again with another name or other options, without sending the file again.
            release(session)
            raise


def release(session: UploadSession) -> None:
    """Let the client import a complete file again."""
    UploadSession.objects.filter(pk=session.pk, state=State.IMPORTING).update(state=State.RECEIVING)


def _join(session: UploadSession, whole: IO[bytes]) -> None:
    try:
        for path in session.chunks:
            with default_storage.open(path) as chunk:
                shutil.copyfileobj(chunk, whole, 1 << 20)
    except FileNotFoundError as error:
        raise Conflict(f"Some bytes of {session.filename} are missing in storage. Send the file again.") from error
    whole.seek(0, io.SEEK_SET)
    digest = hashlib.file_digest(whole, "sha256").hexdigest()
    if digest != session.sha256:
        message = f"{session.filename} arrived with the hash {digest[:12]}..., not {session.sha256[:12]}..."
        raise NotValid(f"{message} It was discarded. Send it again.", "sha256")
    whole.seek(0, io.SEEK_SET)


def finish(session: UploadSession, *, status: int, body: dict[str, Any]) -> None:
    """Keep the outcome of the import and delete the chunks."""
    chunks = session.chunks
    UploadSession.objects.filter(pk=session.pk).update(
        state=State.DONE, outcome={"status": status, "body": body}, chunks=[], touched_at=timezone.now()
    )
    for path in chunks:
        default_storage.delete(path)


def discard(session: UploadSession) -> None:
    """Delete a session and its chunks."""
    UploadSession.objects.filter(pk=session.pk).delete()
    for path in session.chunks:
        default_storage.delete(path)


def sweep() -> int:
    """Discard abandoned sessions, and outcomes that no client asks for any more; return their number."""
    now = timezone.now()
    old = Q(touched_at__lt=now - IDLE) & ~Q(state=State.DONE) | Q(touched_at__lt=now - REMEMBERED)
    sessions = list(UploadSession.objects.filter(old)[:1000])
    for session in sessions:
        discard(session)
    return len(sessions)
