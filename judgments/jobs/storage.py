"""File storage: store, open, check and delete files."""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage


def keep(folder: str, name: str, content: bytes) -> str:
    """Store bytes under ``folder/name`` and return the path; an existing file is never overwritten."""
    return default_storage.save(f"{folder}/{name}", ContentFile(content))


def keep_stream(folder: str, source: IO[bytes]) -> tuple[str, str, int]:
    """Store a stream under a new name in the folder; return path, SHA-256 and size in bytes."""
    digest, size = hashlib.sha256(), 0
    while block := source.read(1 << 20):
        digest.update(block)
        size += len(block)
    source.seek(0)
    return default_storage.save(f"{folder}/{uuid.uuid4().hex}", File(source)), digest.hexdigest(), size


def open_file(path: str) -> IO[bytes]:
    """Open the stored file for reading."""
    return default_storage.open(path, "rb")


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


def read_bytes(path: str) -> bytes:
    """Return the whole stored file."""
    with default_storage.open(path, "rb") as file:
        return file.read()


def size(path: str) -> int:
    """Return the size of the stored file in bytes."""
    return int(default_storage.size(path))


def exists(path: str) -> bool:
    """Return whether a stored file exists at the path."""
    return default_storage.exists(path)


def forget(path: str) -> None:
    """Delete a stored file; a missing file is not an error."""
    default_storage.delete(path)
