"""Bundles: list the files of a folder or zip archive, and write zip archives with reproducible bytes."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO

from assay.core.errors import UnreadableInput

MAX_ENTRIES = 10_000
MAX_EXPANDED = 1 << 31
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
    return _zipped(bundle)


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


def _zipped(bundle: Path) -> dict[str, Callable[[], bytes]]:
    try:
        with zipfile.ZipFile(bundle) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    except (zipfile.BadZipFile, OSError) as error:
        raise UnreadableInput(
            str(bundle), None, f"is not a zip archive ({error})", "expected a bundle", "F02"
        ) from error
    unsafe = [
        entry.filename for entry in entries if entry.filename.startswith("/") or ".." in Path(entry.filename).parts
    ]
    if unsafe:
        raise UnreadableInput(
            str(bundle), None, f"contains the unsafe file name {unsafe[0]!r}", "export it again", "F02"
        )
    if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > MAX_EXPANDED:
        raise UnreadableInput(str(bundle), None, "is too large when unpacked", "unpack it and verify the folder", "F02")
    return {entry.filename: partial(_entry, bundle, entry.filename) for entry in entries}


def _entry(bundle: Path, name: str) -> bytes:
    try:
        with zipfile.ZipFile(bundle) as archive:
            return archive.read(name)
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError) as error:
        raise UnreadableInput(
            str(bundle), None, f"{name} cannot be unpacked ({error})", "copy it again", "F02"
        ) from error
