"""Declaration of a file format: name, kind, reader, writer and options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.core.read_report import Tally
    from assay.formats.log_blocks import LogBlock
    from assay.formats.pair_columns import PairColumns
    from assay.formats.reader import Read
    from assay.formats.row_types import LogRow
    from assay.formats.text_lines import Content
    from assay.formats.writer import Written

    Quick = Callable[[Content, Tally], Iterator[PairColumns]]
    Blocks = Callable[..., Iterator[LogBlock]]
    Rows = Callable[..., Iterable[LogRow]]
    Stream = Callable[..., Iterable[Any]]


OPTIONS = {
    "grades": "grade scale; by default any number is accepted",
    "columns": "maps columns of the file, such as doc_id=sku",
    "delimiter": "comma, semicolon or TAB; detected from the header by default",
    "conflicts": "first, last, min or max: which of two grades for a pair to use",
    "repeated": "sum, max or first: how to combine a query that appears twice in a counted log",
    "encoding": "latin-1 for old files",
}


# Usual extensions by file type. Names without a type are those of JSON files of other tools.
EXTENSIONS = {
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson"),
    "csv": (".csv",),
    "parquet": (".parquet",),
    "xlsx": (".xlsx",),
    "xml": (".xml",),
}


@dataclass(frozen=True, slots=True)
class Format:
    """Declaration of one format, used by the command line, forms, API and docs.

    Attributes
    ----------
    name, title, description : str
        ``trec-qrels``; ``TREC qrels``; one sentence.
    kind : str
        Kind of its rows: ``qrels``, ``subtopic-qrels``, ``run``, ``documents``, ``queries``, ``query-log``,
        ``click-log``, ``ratings``, ``labels``, ``pairs``, ``battles``, ``document-scores``, ``samples``, ``triplets``,
        ``graded-pairs``, ``nuggets``, ... Formats of the same kind can be converted into each other.
    extensions : tuple of str
        Usual file extensions; the first is used for writing. By default those of the file type at the end of the name.
    read : callable
        ``read(source, *, path, **options) -> Read``.
    write : callable or None
        ``write(rows, stream, **options) -> Written`` to a binary stream; None for a format that is only read.
    example : str
        A small complete file; for a binary format, the same rows as CSV.
    tool : str
        The other tool whose files these are; empty for a format of Assay.
    binary : bool
        Whether the file is binary.
    by_text : bool
        Whether the file identifies queries by their text; the reader numbers them.
    quick : callable or None
        ``quick(content, tally)`` yields the columns of a well-formed file of pairs, or raises `NeedsCare`; then
        ``read`` reports the problem.
    blocks : callable or None
        For query logs: ``blocks(content, tally, texts, **options)`` yields the searches as columns, block by block.
    rows : callable or None
        For query logs: ``rows(content, tally, lines=..., **options)`` yields the rows on these lines, and possibly
        others; None if ``stream`` must read all of them.
    stream : callable or None
        For query logs and click logs: ``stream(content, tally, **options)`` yields the rows as they are read.
    options : dict of str to str
        The options of ``read`` besides the path, with their meanings; only meanings that differ from the usual ones
        need to be given.
    """

    name: str
    title: str
    kind: str
    description: str
    read: Callable[..., Read[Any]]
    write: Callable[..., Written] | None
    example: str
    options: Mapping[str, str] = field(default_factory=dict)
    tool: str = ""
    binary: bool = False
    by_text: bool = False
    quick: Quick | None = None
    blocks: Blocks | None = None
    rows: Rows | None = None
    stream: Stream | None = None
    extensions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        meanings = {**OPTIONS, **self.options}
        options = {name: meanings[name] for name in signature(self.read).parameters if name in meanings}
        object.__setattr__(self, "options", options)
        if not self.extensions:
            object.__setattr__(self, "extensions", EXTENSIONS.get(self.name.rpartition("-")[2], EXTENSIONS["json"]))
