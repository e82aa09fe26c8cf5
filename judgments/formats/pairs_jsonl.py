"""Which pairs does a machine judge get, with the texts that it needs?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from judgments.core.ids import id_fault
from judgments.core.report import Tally
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content, Source
from judgments.formats.grades import Keyed, RowFault
from judgments.formats.json_lines import Element, dump, id_text, objects
from judgments.formats.reading import Read, collect, note_unusual, open_as
from judgments.formats.rows import PairRow
from judgments.formats.writing import Written

NAME = "pairs-jsonl"
EXAMPLE = (
    '{"query_id": "q001", "query": "running shoes", "narrative": "", "doc_id": "doc-abc", '
    '"text": "A light shoe for dry paths.", "expected": ""}\n'
)
_TEXTS = ("query", "narrative", "text", "expected")


def read(source: Source, *, path: str = "-", encoding: str = "utf-8") -> Read[PairRow]:
    """Read pairs and account for every line.

    Parameters
    ----------
    source : path, bytes or binary stream
        The file; ``Path("-")`` is standard input.
    path : str
        The file as the user named it.
    encoding : str
        ``latin-1`` where the user says so.

    Raises
    ------
    UnreadableInput
        When the whole file is refused.
    """
    example = '{"query_id": "q001", "query": "...", "doc_id": "doc-abc", "text": "..."}'
    return collect(*open_as(source, path, NAME, example, encoding=encoding), _parse)


def write(rows: Iterable[PairRow], stream: BinaryIO) -> Written:
    """Write pairs in the order given.

    Raises
    ------
    NotValid
        When a text cannot be written as UTF-8.
    """
    listed = list(rows)
    for row in listed:
        texts = {"query_id": row.query_id, "query": row.query, "narrative": row.narrative, "doc_id": row.doc_id}
        stream.write(dump({**texts, "text": row.text, "expected": row.expected}))
    return Written(len(listed))


def _parse(content: Content, tally: Tally) -> Iterator[PairRow]:
    kept: Keyed[PairRow] = Keyed(tally)
    for element in objects(content, tally):
        try:
            row, repaired = _pair(element, tally)
        except RowFault as fault:
            tally.reject(fault.code, element.line, str(fault), fix=fault.fix or tally.expected, raw=element.raw)
            continue
        bin = "repaired" if repaired else "accepted"
        kept.add((row.query_id, row.doc_id), row, row, element.line, element.raw, bin)
    yield from kept.rows()


def _pair(element: Element, tally: Tally) -> tuple[PairRow, bool]:
    of = element.of
    query_id, number = id_text(of.get("query_id"))
    doc_id, another = id_text(of.get("doc_id"))
    for name, text in (("query", query_id), ("document", doc_id)):
        if fault := id_fault(text):
            raise RowFault(fault[0], f"the {name} id {fault[1]}", "mend the id")
    if number or another:
        tally.once("W42", element.line, "an id is a number", done="read as text")
    note_unusual(tally, element.line, query_id, doc_id)
    for key in of.keys() - {"query_id", "doc_id", *_TEXTS}:
        tally.once("W41", element.line, f"the key {key!r} is not known", done="ignored", column=key)
    texts = {name: _text(name, of.get(name)) for name in _TEXTS}
    return PairRow(query_id, doc_id, **texts, line=element.line), number or another


def _text(name: str, value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    raise RowFault("E23", f"{name} is {type(value).__name__}, not text")


FORMAT = Format(
    name=NAME,
    title="Pairs, JSONL",
    kind="pairs",
    extensions=(".jsonl", ".ndjson"),
    description="Pairs with query, need and text, and the expected answer where a judge needs it.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
)
