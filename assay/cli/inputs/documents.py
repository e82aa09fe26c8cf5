"""Inputs of ``assay zelo``: documents of queries and their texts, from files of several formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.inputs.files import read_rows
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.formats.row_types import PairRow

# Kinds of files that list documents of queries.
KINDS = ("pairs", "qrels", "ratings", "run", "document-scores")


def documents(path: str) -> dict[str, list[str]]:
    """Return the documents of each query, in the order of the file."""
    name = "pairs-jsonl" if path == "-" else format_of(path)
    if name is None or kind_of(name) not in KINDS:
        raise NotValid(f"{path}: has no queries with documents; use pairs.jsonl, a pool, qrels or a run")
    listed: dict[str, dict[str, None]] = {}
    for row in read_rows(name, path):
        listed.setdefault(row.query_id, {})[row.doc_id] = None
    return {query_id: list(one) for query_id, one in listed.items()}


def texts(path: str) -> list[PairRow]:
    """Return the pairs with texts from pairs.jsonl or a zbench data set, annotated or not."""
    if path != "-" and (format_of(path, "pairs") or "").startswith("zbench-"):
        return read_rows("zbench-dataset", path)
    from assay.cli.inputs.judge_pairs import read_pairs

    return read_pairs(path)


def is_battles(path: str) -> bool:
    """Return whether a file contains battles, judged or not."""
    name = None if path == "-" else format_of(path)
    return name is not None and kind_of(name) == "battles"


def format_of(path: str, kind: str | None = None) -> str | None:
    """Return the format of a file by its content, limited to `kind` if given."""
    from assay.formats import sniff
    from assay.formats.text_lines import Content, reusable_source

    with Content(reusable_source(Path(path)), path) as content:
        return sniff(content.head, kind)


def kind_of(name: str) -> str:
    """Return the kind of a format."""
    from assay.formats import FORMATS

    return FORMATS[name].kind
