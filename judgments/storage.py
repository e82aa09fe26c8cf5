"""File storage: store, open, check and delete files."""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage


def keep(folder: str, name: str, content: bytes) -> str:
    """Store bytes under ``folder/name`` and answer the path; a taken name is made unique, never overwritten."""
    return default_storage.save(f"{folder}/{name}", ContentFile(content))


def keep_stream(folder: str, source: IO[bytes]) -> tuple[str, str, int]:
    """Store a stream under a new name in the folder; answers path, SHA-256 and size in bytes."""
    digest, size = hashlib.sha256(), 0
    for block in _blocks(source):
        digest.update(block)
        size += len(block)
    source.seek(0)
    return default_storage.save(f"{folder}/{uuid.uuid4().hex}", File(source)), digest.hexdigest(), size


def _blocks(source: IO[bytes], size: int = 1 << 20) -> Iterable[bytes]:
    while block := source.read(size):
        yield block


def open_file(path: str) -> IO[bytes]:
    """The stored file, opened for reading."""
    return default_storage.open(path, "rb")


@contextmanager
def local(path: str) -> Iterator[Path]:
    """The stored file in a folder of this machine: where it is, or a copy that goes again.

    Raises
    ------
    FileNotFoundError
        There is none.
    """
    try:
        found = Path(default_storage.path(path))
    except NotImplementedError:
        with default_storage.open(path, "rb") as source, NamedTemporaryFile(prefix="assay-") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
            copy.flush()
            yield Path(copy.name)
        return
    if not found.exists():
        raise FileNotFoundError(path)
    yield found


def read_bytes(path: str) -> bytes:
    """The whole stored file."""
    with default_storage.open(path, "rb") as file:
        return file.read()


def size(path: str) -> int:
    """How many bytes the stored file has."""
    return int(default_storage.size(path))


def exists(path: str) -> bool:
    """Whether there is a stored file at the path."""
    return default_storage.exists(path)


def forget(path: str) -> None:
    """Remove a stored file; one that is gone already is no error."""
    default_storage.delete(path)
