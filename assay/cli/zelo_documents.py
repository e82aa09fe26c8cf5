"""Inputs of ``assay zelo``: documents of queries and their texts, from any file that names them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.files import tell_warnings
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats.rows import PairRow

# What names documents of queries, whatever else it says about them.
KINDS = ("pairs", "qrels", "ratings", "run", "document-scores")


def documents(path: str) -> dict[str, list[str]]:
    """The documents of each query, in the order of the file.

    Raises
    ------
    NotValid
        The file names none.
    """
    name = "pairs-jsonl" if path == "-" else format_of(path)
    if name is None or kind_of(name) not in KINDS:
        raise NotValid(f"{path}: names no documents of queries; give pairs.jsonl, a pool, qrels or a run")
    listed: dict[str, dict[str, None]] = {}
    for row in read_as(name, path):
        listed.setdefault(row.query_id, {})[row.doc_id] = None
    return {query_id: list(one) for query_id, one in listed.items()}


def texts(path: str) -> list[PairRow]:
    """The pairs with what they say: pairs.jsonl, or a data set of zbench, annotated or not.

    Raises
    ------
    NotValid
        The file has no texts.
    """
    if path != "-" and (format_of(path, "pairs") or "").startswith("zbench-"):
        return read_as("zbench-dataset", path)
    from assay.cli.judge_pairs import read_pairs

    return read_pairs(path)


def is_battles(path: str) -> bool:
    """Whether a file holds battles, fought or not."""
    name = None if path == "-" else format_of(path)
    return name is not None and kind_of(name) == "battles"


def read_as(name: str, path: str) -> list[Any]:
    """The rows of a file in a format, once all of it could be read; what was odd is told.

    Raises
    ------
    NotValid
        It could not.
    """
    from judgments.formats import FORMATS

    found = FORMATS[name].read(Path(path), path=path)
    found.report.raise_if_errors()
    tell_warnings([found.report])
    return list(found.rows)


def format_of(path: str, kind: str | None = None) -> str | None:
    """Which format a file is in, by its content; of `kind` where that is wanted."""
    from judgments.formats import sniff
    from judgments.formats.decoding import Content, kept

    with Content(kept(Path(path)), path) as content:
        return sniff(content.head, kind)


def kind_of(name: str) -> str:
    """What a row of a format is."""
    from judgments.formats import FORMATS

    return FORMATS[name].kind
