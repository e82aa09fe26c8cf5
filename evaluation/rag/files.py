"""Files of samples and outputs in storage: one record per line, each readable on its own."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from assay.core.errors import AssayError, NotValid
from assay.core.run_names import stem
from assay.formats.json_lines import dump
from evaluation.models import RagOutput, RagSample, RagSampleSet, RagSystem
from judgments.imports.kinds import Checked
from judgments.jobs import storage
from judgments.models import Upload

Record = TypeVar("Record")


@dataclass(frozen=True)
class Placed(Generic[Record]):
    """A record with the byte position of its line in the file."""

    record: Record
    start: int
    length: int


@dataclass(frozen=True)
class Stored(Generic[Record]):
    """A file in storage, with its hash and records."""

    path: str
    sha256: str
    records: list[Placed[Record]]


def write(records: Iterable[Record], to_dict: Callable[[Record], dict[str, Any]], name: str) -> Stored[Record]:
    """Write records to a new file."""
    body, placed = io.BytesIO(), []
    for record in records:
        start = body.tell()
        try:
            body.write(dump(to_dict(record)))
        except NotValid as error:
            raise NotValid(f"sample {record.sample_id!r} {error}") from error  # type: ignore[attr-defined]
        placed.append(Placed(record, start, body.tell() - start))
    content = body.getvalue()
    return Stored(storage.keep("rag", f"{name}.jsonl", content), hashlib.sha256(content).hexdigest(), placed)


def write_upload(
    checked: Checked, upload: Upload, to_dict: Callable[[Any], dict[str, Any]], format_name: str
) -> Checked:
    """Write the records of an upload to the file that stays in storage."""
    stored = write(checked.rows, to_dict, upload.uuid.hex)
    return replace(checked, rows=stored.records, stored=(stored.path, format_name), hashes=(stored.sha256,))


def of_upload(checked: Checked) -> Stored[Any]:
    """Return the file that `write_upload` wrote."""
    if checked.stored is None:
        raise AssertionError("an upload is written before it is stored")
    return Stored(checked.stored[0], checked.hashes[0], list(checked.rows))


def upload_fields(upload: Upload, options: Mapping[str, Any], default: str) -> dict[str, Any]:
    """Return the fields that a sample set or a system stores about its upload: name, file and report."""
    return {
        "name": str(options.get("name") or stem(upload.filename) or default),
        "filename": upload.filename,
        "sha256": upload.sha256,
        "report": {name: upload.report.get(name, {}) for name in ("bins", "codes")},
    }


@contextmanager
def checked(row: RagSampleSet | RagSystem) -> Iterator[Path]:
    """Return the file of a sample set or a system, after checking its hash."""
    try:
        with storage.local(row.path) as path:
            with path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
            if digest != row.stored_sha256:
                raise AssayError(f"The file of {row} changed in storage: its hash differs. Restore it from a backup.")
            yield path
    except FileNotFoundError as error:
        raise AssayError(f"The file of {row} is not in storage. Restore it from a backup.") from error


def objects(row: RagSampleSet | RagSystem, index: Iterable[RagSample | RagOutput]) -> list[dict[str, Any]]:
    """Return the objects on the lines of these index rows."""
    records = []
    try:
        with storage.open_file(row.path) as stream:
            for one in index:
                stream.seek(one.start)
                records.append(json.loads(stream.read(one.length)))
    except (FileNotFoundError, ValueError) as error:
        raise AssayError(f"The file of {row} is missing or damaged in storage. Restore it from a backup.") from error
    return records
