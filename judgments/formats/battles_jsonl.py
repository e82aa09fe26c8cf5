"""Which two documents met, and which one did a machine prefer, by how much?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from judgments.core.ids import id_fault
from judgments.core.report import Tally
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content, Source
from judgments.formats.grades import RowFault
from judgments.formats.json_lines import Element, dump, id_text, objects
from judgments.formats.reading import Read, collect, note_unusual, open_as
from judgments.formats.writing import Written

NAME = "battles-jsonl"
EXAMPLE = (
    '{"query_id": "q001", "a": "doc-abc", "b": "doc-xyz", "score": 0.6, "model": "a-model", "swapped": false, '
    '"reason": "b names the size that was asked for"}\n'
    '{"query_id": "q001", "a": "doc-abc", "b": "doc-klm", "score": -1.0, "model": "a-model", "swapped": true, '
    '"reason": "only a is a tent"}\n'
)
_KNOWN = {"query_id", "a", "b", "score", "model", "swapped", "reason"}


@dataclass(frozen=True, slots=True)
class Battle:
    """One model's answer to two documents.

    Parameters
    ----------
    query_id, a, b : str
        The query and the two documents.
    score : float or None
        From -1 (a) to 1 (b), as if a had been shown first; None where there is no answer yet, or the call failed.
    model : str
        Who answered.
    swapped : bool
        Whether b was shown first.
    reason : str
        Why, in the model's words.
    """

    query_id: str
    a: str
    b: str
    score: float | None = None
    model: str = ""
    swapped: bool = False
    reason: str = ""
    line: int = field(default=0, compare=False)


def read(source: Source, *, path: str = "-", encoding: str = "utf-8") -> Read[Battle]:
    """Read battles and account for every line. One pair may have many: of several models, and in both orders.

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
    example = '{"query_id": "q001", "a": "doc-abc", "b": "doc-xyz", "score": 0.6}'
    return collect(*open_as(source, path, NAME, example, encoding=encoding), _parse)


def write(rows: Iterable[Battle], stream: BinaryIO) -> Written:
    """Write battles in the order given.

    Raises
    ------
    NotValid
        When a text cannot be written as UTF-8.
    """
    number = 0
    for row in rows:
        stream.write(
            dump(
                {
                    "query_id": row.query_id,
                    "a": row.a,
                    "b": row.b,
                    "score": row.score,
                    "model": row.model or None,
                    "swapped": row.swapped,
                    "reason": row.reason or None,
                }
            )
        )
        number += 1
    return Written(number)


def _parse(content: Content, tally: Tally) -> Iterator[Battle]:
    for element in objects(content, tally):
        try:
            row, repaired = _battle(element, tally)
        except RowFault as fault:
            tally.reject(fault.code, element.line, str(fault), fix=fault.fix or tally.expected, raw=element.raw)
            continue
        tally.put("repaired" if repaired else "accepted")
        yield row


def _battle(element: Element, tally: Tally) -> tuple[Battle, bool]:
    of = element.of
    ids = [id_text(of.get(name)) for name in ("query_id", "a", "b")]
    for name, (text, _) in zip(("query", "first document's", "second document's"), ids, strict=True):
        if fault := id_fault(text):
            raise RowFault(fault[0], f"the {name} id {fault[1]}", "mend the id")
    query_id, a, b = (text for text, _ in ids)
    if a == b:
        raise RowFault("E23", f"{a!r} meets itself", "name two documents")
    numbers = any(number for _, number in ids)
    if numbers:
        tally.once("W42", element.line, "an id is a number", done="read as text")
    note_unusual(tally, element.line, query_id, a)
    note_unusual(tally, element.line, query_id, b)
    for key in of.keys() - _KNOWN:
        tally.once("W41", element.line, f"the key {key!r} is not known", done="ignored", column=key)
    swapped = of.get("swapped", False)
    if not isinstance(swapped, bool):
        raise RowFault("E23", f"swapped is {swapped!r}, not true or false")
    texts = {name: _text(name, of.get(name)) for name in ("model", "reason")}
    return Battle(query_id, a, b, _score(of.get("score")), swapped=swapped, line=element.line, **texts), numbers


def _score(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RowFault("E12", f"the score {value!r} is not a number", "write a number from -1 to 1, or null")
    if not -1 <= value <= 1:
        raise RowFault("E14", f"the score {value:g} lies outside -1 to 1", "cut it to -1 or 1, or write null")
    return float(value)


def _text(name: str, value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    raise RowFault("E23", f"{name} is {type(value).__name__}, not text")


FORMAT = Format(
    name=NAME,
    title="Battles, JSONL",
    kind="battles",
    extensions=(".jsonl", ".ndjson"),
    description="Two documents of a query and a model's preference, from -1 (a) to 1 (b).",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
)
