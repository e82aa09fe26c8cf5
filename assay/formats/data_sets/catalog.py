"""Data sets of the package ir_datasets, which downloads them when they are first read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.core.errors import NotValid
from assay.formats.data_sets.data_set import CATALOG_PREFIX, Part
from assay.formats.row_types import DocumentRow, LabelRow, QueryRow

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
