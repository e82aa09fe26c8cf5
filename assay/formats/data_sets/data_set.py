"""What a data set offers: its splits, and its rows by kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from assay.core.errors import NotValid
from assay.core.read_report import Report

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
        from assay.formats.data_sets.catalog import open_catalog

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
