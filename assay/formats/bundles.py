"""Bundles: list the files of a folder or zip archive, and write zip archives with reproducible bytes."""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO

from assay.core.errors import UnreadableInput

MAX_ENTRIES = 10_000
MAX_EXPANDED = 1 << 31
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def contents(bundle: Path) -> dict[str, Callable[[], bytes]]:
    """Return the files of a folder or zip archive by their paths inside, each with a function that reads it."""
    if bundle.is_dir():
        files = sorted(path for path in bundle.rglob("*") if path.is_file())
        return {path.relative_to(bundle).as_posix(): path.read_bytes for path in files}
    if not bundle.is_file():
        raise UnreadableInput(
            str(bundle), None, "the folder or file does not exist", "expected an exported bundle", "F00"
        )
    return zipped(bundle, str(bundle))


def write_zip(files: Mapping[str, bytes], stream: BinaryIO) -> None:
    """Write files to a zip archive whose bytes depend only on the files: sorted, without times."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            # Otherwise the archive would reveal the system that created it.
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])


def zipped(archive_file: Path | BinaryIO, path: str) -> dict[str, Callable[[], bytes]]:
    """Return the files of a zip archive; ``path`` names it in messages."""
    try:
        with zipfile.ZipFile(archive_file) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise UnreadableInput(path, None, f"is not a zip archive ({error})", "expected a bundle", "F02") from error
    names = [entry.filename for entry in entries]
    unsafe = [name for name in names if name.startswith("/") or "\\" in name or ".." in Path(name).parts]
    if unsafe:
        raise UnreadableInput(path, None, f"contains the unsafe file name {unsafe[0]!r}", "export it again", "F02")
    if twice := [name for name, number in Counter(names).items() if number > 1]:
        raise UnreadableInput(path, None, f"contains {twice[0]!r} twice", "export it again", "F02")
    # Only these two can be unpacked up to a given size.
    if packed := [entry.filename for entry in entries if entry.compress_type not in _METHODS]:
        raise UnreadableInput(path, None, f"{packed[0]!r} is compressed by another method", "use deflate", "F02")
    if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > MAX_EXPANDED:
        raise UnreadableInput(path, None, "is too large when unpacked", "unpack it and verify the folder", "F02")
    return {name: partial(_entry, archive_file, path, name) for name in names}


def _entry(archive_file: Path | BinaryIO, path: str, name: str) -> bytes:
    try:
        with zipfile.ZipFile(archive_file) as archive, archive.open(name) as part:
            # With a size, no more is unpacked, whatever the archive says.
            return part.read(archive.getinfo(name).file_size)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError) as error:
        raise UnreadableInput(path, None, f"{name} cannot be unpacked ({error})", "copy it again", "F02") from error
