"""Bundles as folders or zip archives, and their manifest: the files with hashes, and their verification.

``manifest.json`` lists every other file of a bundle with its hash, size and rows. It contains no time except that of
the freeze, so that the same snapshot gives the same bytes; its hash identifies the bundle.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from assay.core.errors import NotValid, UnreadableInput
from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.json_lines import DECODER, refuse_unstorable
from assay.formats.reader import Read, collect, open_as
from assay.formats.text_lines import Content, Source
from assay.formats.writer import Written

NAME = "manifest"
FILE = "manifest.json"
VERSION = 1
MAX_BYTES = 1 << 26
EXAMPLE = """{
  "assay_manifest": 1,
  "files": [
    {
      "bytes": 51,
      "format": "trec-qrels",
      "path": "qrels.txt",
      "rows": 3,
      "sha256": "2d387135af0a19d08f10a694bd8933703959f801dea966925f14ca532d9d6135"
    }
  ]
}
"""


@dataclass(frozen=True, slots=True)
class BundleFile:
    """One file of a bundle, as its manifest describes it; ``path`` is relative, with ``/``."""

    path: str
    format: str
    sha256: str
    bytes: int
    rows: int


@dataclass(frozen=True, slots=True)
class Verification:
    """Differences between a bundle and its manifest, and between its files and the content that its hash covers."""

    files: int
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    different: tuple[str, ...]
    content: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Return whether there is no difference."""
        return not (self.missing or self.extra or self.different or self.content)


def file_entry(path: str, format: str, rows: int, content: bytes) -> dict[str, Any]:
    """Return the manifest entry of one file.

    Examples
    --------
    >>> file_entry("qrels.txt", "trec-qrels", 1, b"q1 0 d1 3\\n")["bytes"]
    10
    """
    digest = hashlib.sha256(content).hexdigest()
    return {"bytes": len(content), "format": format, "path": path, "rows": rows, "sha256": digest}


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """Return the bytes of a manifest: sorted keys, indentation of two spaces, UTF-8, final line end."""
    try:
        text = json.dumps(manifest, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
        return f"{text}\n".encode()
    except ValueError as error:
        raise NotValid(f"the manifest cannot be written: {error}") from error


def read(source: Source, *, path: str = "-") -> Read[BundleFile]:
    """Read the files that a manifest lists."""
    return collect(*open_as(source, path, NAME, '{"assay_manifest": 1, "files": [...]}'), _parse)


def write(rows: Iterable[BundleFile], stream: BinaryIO, *, about: Mapping[str, Any] | None = None) -> Written:
    """Write a manifest: sorted keys, indentation of two spaces, files sorted by path."""
    files = sorted(rows, key=lambda row: row.path)
    for row in files:
        if not _is_inside(row.path):
            raise NotValid(f"the path {row.path!r} is not inside the bundle")
    stream.write(manifest_bytes({**(about or {}), "assay_manifest": VERSION, "files": [asdict(row) for row in files]}))
    return Written(len(files))


def verify(bundle: Path) -> Verification:
    """Compare a bundle, a folder or a zip archive, with its manifest."""
    return verify_files(contents(bundle), str(bundle))


def verify_files(files: Mapping[str, Callable[[], bytes]], path: str) -> Verification:
    """Compare files with the manifest among them; ``path`` names the bundle in messages."""
    from assay.formats.snapshot_bundle import content_faults

    if FILE not in files:
        raise UnreadableInput(path, None, f"it does not contain {FILE}", "expected a folder or zip of an export", "F06")
    body = files[FILE]()
    listed = {row.path: row for row in read(body, path=f"{path}/{FILE}").strict().rows}
    different = [
        path
        for path, row in listed.items()
        if path in files and file_entry(path, row.format, row.rows, files[path]()) != asdict(row)
    ]
    missing = listed.keys() - files.keys()
    # The content of files that differ from their hashes may not be readable.
    content = () if missing or different else tuple(content_faults(DECODER.decode(body.decode()), files, path))
    return Verification(
        len(listed),
        tuple(sorted(missing)),
        tuple(sorted(files.keys() - listed.keys() - {FILE})),
        tuple(sorted(different)),
        content,
    )


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts and "\\" not in path


def _parse(content: Content, tally: Tally) -> Iterator[BundleFile]:
    if not content.head.lstrip().startswith(b"{"):
        tally.refuse("does not begin with {, so it is not a manifest")
    text = content.text(MAX_BYTES)
    try:
        value = DECODER.decode(text)
        refuse_unstorable(value)
    except (RecursionError, ValueError) as error:
        tally.refuse(f"is not usable JSON: {error}", code="F05")
    if (
        not isinstance(value, dict)
        or value.get("assay_manifest") != VERSION
        or not isinstance(value.get("files"), list)
    ):
        tally.refuse("is not an Assay manifest")
    for place, entry in enumerate(value["files"]):
        tally.read()
        try:
            row = _entry(entry)
        except RowFault as fault:
            tally.reject(fault.code, None, str(fault), fix="export the bundle again", column=f"files[{place}]")
            continue
        tally.put("accepted")
        yield row


def _entry(entry: Any) -> BundleFile:
    kinds = {"path": str, "format": str, "sha256": str, "bytes": int, "rows": int}
    if not isinstance(entry, dict) or any(type(entry.get(key)) is not kind for key, kind in kinds.items()):
        raise RowFault("E23", f"an entry without {', '.join(kinds)}")
    if not _is_inside(entry["path"]):
        raise RowFault("E23", f"the path {entry['path']!r} is not inside the bundle")
    return BundleFile(**{key: entry[key] for key in kinds})


FORMAT = Format(
    name=NAME,
    title="Bundle manifest",
    kind="manifest",
    description="The files of an exported bundle with their hashes and their origin.",
    read=read,
    write=write,
    example=EXAMPLE,
)


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
    return {name: partial(_unpacked, archive_file, path, name) for name in names}


def _unpacked(archive_file: Path | BinaryIO, path: str, name: str) -> bytes:
    try:
        with zipfile.ZipFile(archive_file) as archive, archive.open(name) as part:
            # With a size, no more is unpacked, whatever the archive says.
            return part.read(archive.getinfo(name).file_size)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError) as error:
        raise UnreadableInput(path, None, f"{name} cannot be unpacked ({error})", "copy it again", "F02") from error
