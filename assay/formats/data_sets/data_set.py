"""Data sets of the package ir_datasets, which downloads them when they are first read, and folders, read and written.

A folder has the layout of BEIR or MTEB, or files named like Assay's own: ``corpus``, ``queries`` and ``qrels/SPLIT``,
or folders of these names with one file per part. Each may be JSONL, Parquet or TSV, compressed with gzip or not.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from assay.core.errors import NotValid, UnreadableInput
from assay.core.read_report import Report
from assay.core.text_rules import amount
from assay.formats.row_types import DocumentRow, LabelRow, QueryRow

KINDS = ("documents", "queries", "qrels")
USUAL_SPLIT = "test"
CATALOG_PREFIX = "ir_datasets:"


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of one kind, and the reports of the files that they come from."""

    rows: Sequence[Any]
    reports: tuple[Report, ...] = ()


# Reads one file of a folder as rows of a kind.
FileReader = Callable[[Path, str], Part]


class DataSet(Protocol):
    """A source of documents, queries and qrels."""

    @property
    def name(self) -> str:
        """Return the source as the user named it."""

    @property
    def splits(self) -> tuple[str, ...]:
        """Return the splits that have qrels."""

    def read(self, kind: str, split: str) -> Part:
        """Return the rows of a kind; the split matters only for qrels."""


def is_data_set(source: str) -> bool:
    """Return whether a source names a folder or an id of ir_datasets.

    Examples
    --------
    >>> is_data_set("ir_datasets:beir/scifact/test"), is_data_set("qrels.txt")
    (True, False)
    """
    return source.startswith(CATALOG_PREFIX) or (source != "-" and Path(source).is_dir())


def open_data_set(source: str, read_file: FileReader) -> DataSet:
    """Open a folder or an id of ir_datasets."""
    if source.startswith(CATALOG_PREFIX):
        return open_catalog(source.removeprefix(CATALOG_PREFIX))
    return open_folder(Path(source), read_file)


def chosen_split(data: DataSet, wanted: str | None) -> str:
    """Return the wanted split, the only one, or ``test``."""
    known = ", ".join(data.splits) or "none"
    if wanted is None:
        if len(data.splits) == 1:
            return data.splits[0]
        wanted = USUAL_SPLIT
    if wanted not in data.splits:
        raise NotValid(f"{data.name}: no qrels of the split {wanted!r}; splits: {known} (--split NAME)")
    return wanted


_TITLES, _TEXTS = ("title", "headline"), ("text", "body", "abstract", "content")
_QUERIES, _NEEDS = ("text", "title", "query"), ("description", "narrative")


@dataclass(frozen=True, slots=True)
class CatalogData:
    """A data set by its id, such as ``beir/scifact/test``; its qrels are its only split."""

    name: str
    data: Any
    splits: tuple[str, ...]

    def read(self, kind: str, split: str) -> Part:
        """Read the rows of a kind."""
        have = {"documents": self.data.has_docs(), "queries": self.data.has_queries(), "qrels": self.data.has_qrels()}
        if not have[kind]:
            offered = ", ".join(name for name, there in have.items() if there) or "nothing"
            raise NotValid(f"{self.name} has no {kind}, only {offered}; name another id")
        rows = {"documents": self._documents, "queries": self._queries, "qrels": self._labels}[kind]
        try:
            return Part(list(rows()))
        except (OSError, RuntimeError) as error:
            raise NotValid(f"{self.name}: ir_datasets cannot load it ({error}); see https://ir-datasets.com") from error

    def _documents(self) -> Iterator[DocumentRow]:
        for one in self.data.docs_iter():
            of = _values(one)
            doc_id, title = of.pop("doc_id"), _first(of, _TITLES)
            text = _first(of, _TEXTS)
            yield DocumentRow(doc_id, title, text or ("" if title else str(one.default_text())), fields=of)

    def _queries(self) -> Iterator[QueryRow]:
        for one in self.data.queries_iter():
            of = _values(one)
            query = _first(of, _QUERIES) or str(one.default_text())
            yield QueryRow(one.query_id, query, "\n\n".join(text for name in _NEEDS if (text := _first(of, (name,)))))

    def _labels(self) -> Iterator[LabelRow]:
        for one in self.data.qrels_iter():
            yield LabelRow(one.query_id, one.doc_id, float(one.relevance))


def open_catalog(name: str) -> CatalogData:
    """Open a data set by its id."""
    import ir_datasets

    try:
        data = ir_datasets.load(name)
    except KeyError:
        raise NotValid(f"ir_datasets has no data set {name!r}; https://ir-datasets.com lists them") from None
    return CatalogData(f"{CATALOG_PREFIX}{name}", data, (name.rpartition("/")[2],) if data.has_qrels() else ())


def _values(one: Any) -> dict[str, Any]:
    """Return the values of a row that JSON can store."""
    return {name: value for name, value in one._asdict().items() if isinstance(value, str | int | float | bool)}


def _first(of: dict[str, Any], names: tuple[str, ...]) -> str:
    """Remove and return the first of these values that is text."""
    name = next((name for name in names if isinstance(of.get(name), str) and of[name].strip()), None)
    return of.pop(name) if name else ""


_ENDING = r"\.(?:jsonl|ndjson|tsv|csv|txt|parquet)(?:\.gz)?"
# The files of a split are numbered: test-00000-of-00002.parquet.
_NUMBER = r"(?:-\d+-of-\d+)?"
_DOCUMENT_FILES = re.compile(rf"(?:corpus|documents)(?:/[^/]+?)?{_NUMBER}{_ENDING}")
_QUERY_FILES = re.compile(rf"queries(?:/[^/]+?)?{_NUMBER}{_ENDING}")
_QREL_FILES = re.compile(rf"(?:qrels|default|data)/(?P<split>[^/]+?){_NUMBER}{_ENDING}|qrels{_ENDING}")
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
        if _DOCUMENT_FILES.fullmatch(name):
            by_kind["documents"].append(file)
        elif _QUERY_FILES.fullmatch(name):
            by_kind["queries"].append(file)
        elif match := _QREL_FILES.fullmatch(name):
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


MAX_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Layout:
    """The format of the qrels and the ending of their files."""

    qrels: str
    ending: str


LAYOUTS = {"beir": Layout("beir-qrels", ".tsv"), "mteb": Layout("qrels-jsonl", ".jsonl")}


def write_folder(
    layout: str,
    out: Path,
    documents: Sequence[DocumentRow],
    queries: Sequence[QueryRow],
    splits: Mapping[str, Sequence[LabelRow]],
) -> list[str]:
    """Write corpus.jsonl, queries.jsonl and qrels/SPLIT into a new folder, all or nothing; return notes.

    Each query with labels must be among the queries. Documents without content are written with empty texts, because
    BEIR's loader needs all of them.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise NotValid(f"{out} is not an empty folder; name a new one with --out")
    odd = [split for split in splits if not split or Path(split).name != split or split.startswith(".")]
    if odd:
        raise NotValid(f"the split {odd[0]!r} cannot be the name of a file; use a name such as test")
    labels = [row for rows in splits.values() for row in rows if row.grade is not None]
    texts = {row.query_id for row in queries}
    if unknown := sorted({row.query_id for row in labels} - texts):
        raise NotValid(
            f"{amount(len(unknown), 'query', 'queries')} with labels have no text: {_shown(unknown)}; add them"
        )
    missing = sorted({row.doc_id for row in labels} - {row.doc_id for row in documents})
    empty = [DocumentRow(doc_id) for doc_id in missing]
    notes = []
    if missing:
        count = amount(len(missing), "judged document")
        notes.append(f"{count} without content, written with an empty text: {_shown(missing)}")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as folder:
        notes += _write(LAYOUTS[layout], Path(folder), [*documents, *empty], queries, splits)
        out.mkdir(exist_ok=True)
        for one in Path(folder).iterdir():
            shutil.move(one, out / one.name)
    return notes


def _write(
    layout: Layout,
    folder: Path,
    documents: Sequence[DocumentRow],
    queries: Sequence[QueryRow],
    splits: Mapping[str, Sequence[LabelRow]],
) -> list[str]:
    from assay.formats import FORMATS

    (folder / "qrels").mkdir()
    options = {} if layout.qrels == "beir-qrels" else {"beir": True}
    files = [
        ("corpus.jsonl", "documents-jsonl", documents, {"beir": True}),
        ("queries.jsonl", "queries-jsonl", queries, {"beir": True}),
        *((f"qrels/{split}{layout.ending}", layout.qrels, rows, options) for split, rows in splits.items()),
    ]
    notes: list[str] = []
    for name, format, rows, given in files:
        write = FORMATS[format].write
        if write is None:
            raise AssertionError(f"{format} cannot be written")
        with (folder / name).open("wb") as stream:
            notes += write(rows, stream, **given).notes
    return notes


def _shown(ids: Sequence[str]) -> str:
    return ", ".join(ids[:MAX_SHOWN]) + (f" and {len(ids) - MAX_SHOWN:,} more" if ids[MAX_SHOWN:] else "")
