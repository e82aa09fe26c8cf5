"""Data sets in a folder: the layouts of BEIR and MTEB, and files named like Assay's own.

The files are ``corpus``, ``queries`` and ``qrels/SPLIT``, or folders of these names with one file per part. Each may be
JSONL, Parquet or TSV, compressed with gzip or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import UnreadableInput
from assay.formats.data_sets.data_set import USUAL_SPLIT, FileReader, Part

_ENDING = r"\.(?:jsonl|ndjson|tsv|csv|txt|parquet)(?:\.gz)?"
# The files of a split are numbered: test-00000-of-00002.parquet.
_NUMBER = r"(?:-\d+-of-\d+)?"
_DOCUMENTS = re.compile(rf"(?:corpus|documents)(?:/[^/]+?)?{_NUMBER}{_ENDING}")
_QUERIES = re.compile(rf"queries(?:/[^/]+?)?{_NUMBER}{_ENDING}")
_QRELS = re.compile(rf"(?:qrels|default|data)/(?P<split>[^/]+?){_NUMBER}{_ENDING}|qrels{_ENDING}")
_LAYOUT = "expected corpus.jsonl, queries.jsonl and qrels/test.tsv, as BEIR and MTEB have them"
_ID = {"documents": "doc_id", "queries": "query_id"}


@dataclass(frozen=True, slots=True)
class FolderData:
    """The files of a data set by kind, and by split for qrels."""

    name: str
    documents: tuple[Path, ...]
    queries: tuple[Path, ...]
    qrels: dict[str, tuple[Path, ...]]
    read_file: FileReader

    @property
    def splits(self) -> tuple[str, ...]:
        """Return the splits that have qrels."""
        return tuple(self.qrels)

    def read(self, kind: str, split: str) -> Part:
        """Read the files of a kind; an id in two files is refused."""
        files = self.qrels[split] if kind == "qrels" else getattr(self, kind)
        if not files:
            raise UnreadableInput(self.name, None, f"has no file with {kind}", _LAYOUT, "F00")
        parts = [self.read_file(path, kind) for path in files]
        if len(parts) > 1:
            _refuse_repeated(kind, zip(files, parts, strict=True))
        return Part([row for part in parts for row in part.rows], tuple(one for part in parts for one in part.reports))


def open_folder(path: Path, read_file: FileReader) -> FolderData:
    """Find the files of a data set."""
    by_kind: dict[str, list[Path]] = {"documents": [], "queries": []}
    qrels: dict[str, list[Path]] = {}
    for file in sorted(one for pattern in ("*", "*/*") for one in path.glob(pattern) if one.is_file()):
        name = file.relative_to(path).as_posix()
        if _DOCUMENTS.fullmatch(name):
            by_kind["documents"].append(file)
        elif _QUERIES.fullmatch(name):
            by_kind["queries"].append(file)
        elif match := _QRELS.fullmatch(name):
            qrels.setdefault(match["split"] or USUAL_SPLIT, []).append(file)
    if not (by_kind["documents"] or by_kind["queries"] or qrels):
        raise UnreadableInput(str(path), None, "is a folder without the files of a data set", _LAYOUT, "F00")
    for kind, files in (*by_kind.items(), *((f"qrels of {split}", files) for split, files in qrels.items())):
        _refuse_copies(path, kind, files)
    return FolderData(
        str(path),
        tuple(by_kind["documents"]),
        tuple(by_kind["queries"]),
        {split: tuple(files) for split, files in sorted(qrels.items())},
        read_file,
    )


def _refuse_copies(path: Path, kind: str, files: Sequence[Path]) -> None:
    """Refuse a kind with several files that are not the numbered parts of one."""
    wholes = {re.sub(r"-\d+-of-\d+", "", file.relative_to(path).as_posix()) for file in files}
    if len(wholes) > 1:
        shown = ", ".join(sorted(wholes)[:5])
        raise UnreadableInput(str(path), None, f"has several files with {kind}: {shown}", "remove all but one", "E16")


def _refuse_repeated(kind: str, parts: Iterable[tuple[Path, Part]]) -> None:
    """Refuse a row whose key is in an earlier file; within a file, its reader has found repeated keys."""
    files: dict[Any, Path] = {}
    for path, part in parts:
        for row in part.rows:
            key = (row.query_id, row.doc_id) if kind == "qrels" else getattr(row, _ID[kind])
            if (earlier := files.setdefault(key, path)) != path:
                what = f"{key!r} is in {earlier.name}, too"
                raise UnreadableInput(str(path), row.line, what, "remove one of the two", "E16")
