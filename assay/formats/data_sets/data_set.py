"""Data sets: what they offer, and those of the package ir_datasets, which downloads them when they are first read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from assay.core.errors import NotValid
from assay.core.read_report import Report
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
    from assay.formats.data_sets.folder import open_folder

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
