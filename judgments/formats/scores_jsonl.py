"""How good is each document by its battles, and how sure is that?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from judgments.core.ids import id_fault
from judgments.core.report import Tally
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content, Source
from judgments.formats.grades import Keyed, RowFault
from judgments.formats.json_lines import Element, dump, id_text, objects
from judgments.formats.reading import Read, collect, note_unusual, open_as
from judgments.formats.writing import Written

NAME = "scores-jsonl"
EXAMPLE = (
    '{"query_id": "q001", "doc_id": "doc-abc", "score": 1.25, "se": 0.8}\n'
    '{"query_id": "q001", "doc_id": "doc-xyz", "score": -1.25, "se": 0.8}\n'
)


@dataclass(frozen=True, slots=True)
class DocumentScore:
    """A score within a query, natural logarithms with mean 0; ``se`` is its standard error where it is known."""

    query_id: str
    doc_id: str
    score: float
    se: float | None = None
    line: int = field(default=0, compare=False)


def read(source: Source, *, path: str = "-", encoding: str = "utf-8") -> Read[DocumentScore]:
    """Read scores and account for every line.

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
    example = '{"query_id": "q001", "doc_id": "doc-abc", "score": 1.25, "se": 0.8}'
    return collect(*open_as(source, path, NAME, example, encoding=encoding), _parse)


def write(rows: Iterable[DocumentScore], stream: BinaryIO) -> Written:
    """Write scores in the order given.

    Raises
    ------
    NotValid
        When a number is not finite.
    """
    number = 0
    for row in rows:
        stream.write(dump({"query_id": row.query_id, "doc_id": row.doc_id, "score": row.score, "se": row.se}))
        number += 1
    return Written(number)


def _parse(content: Content, tally: Tally) -> Iterator[DocumentScore]:
    kept: Keyed[DocumentScore] = Keyed(tally)
    for element in objects(content, tally):
        try:
            row, repaired = _score(element, tally)
        except RowFault as fault:
            tally.reject(fault.code, element.line, str(fault), fix=fault.fix or tally.expected, raw=element.raw)
            continue
        bin = "repaired" if repaired else "accepted"
        kept.add((row.query_id, row.doc_id), (row.score, row.se), row, element.line, element.raw, bin)
    yield from kept.rows()


def _score(element: Element, tally: Tally) -> tuple[DocumentScore, bool]:
    of = element.of
    query_id, number = id_text(of.get("query_id"))
    doc_id, another = id_text(of.get("doc_id"))
    for name, text in (("query", query_id), ("document", doc_id)):
        if fault := id_fault(text):
            raise RowFault(fault[0], f"the {name} id {fault[1]}", "mend the id")
    if number or another:
        tally.once("W42", element.line, "an id is a number", done="read as text")
    note_unusual(tally, element.line, query_id, doc_id)
    for key in of.keys() - {"query_id", "doc_id", "score", "se"}:
        tally.once("W41", element.line, f"the key {key!r} is not known", done="ignored", column=key)
    error = None if of.get("se") is None else _number("se", of["se"])
    if error is not None and error < 0:
        raise RowFault("E12", f"the standard error {error:g} is below 0")
    return DocumentScore(query_id, doc_id, _number("score", of.get("score")), error, element.line), number or another


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RowFault("E12", f"{name} is {value!r}, not a number", "write a number such as 1.25")
    return float(value)


FORMAT = Format(
    name=NAME,
    title="Scores of battles, JSONL",
    kind="document-scores",
    extensions=(".jsonl", ".ndjson"),
    description="A score for each document of a query, with its standard error.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
)
