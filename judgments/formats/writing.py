"""What do all writers share: order, ids that can be written, and what was changed on the way out?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from judgments.core.errors import NotValid
from judgments.core.ids import id_fault

if TYPE_CHECKING:
    from judgments.formats.rows import LabelRow, RunRow

MAX_SHOWN = 20

_CONTROL_OR_SPACE = re.compile(r"[%\s\x00-\x1f\x7f-\x9f]")


class _Paired(Protocol):
    @property
    def query_id(self) -> str: ...
    @property
    def doc_id(self) -> str: ...


PairedRow = TypeVar("PairedRow", bound=_Paired)


@dataclass(frozen=True, slots=True)
class Written:
    """How many rows were written, what was changed on the way, and which ids were encoded (original to encoded)."""

    rows: int
    notes: tuple[str, ...] = ()
    idmap: Mapping[str, str] = field(default_factory=dict)


def export_order(rows: Iterable[PairedRow]) -> list[PairedRow]:
    """Return rows by query id, then document id; code points order as UTF-8 bytes do."""
    return sorted(rows, key=lambda row: (row.query_id, row.doc_id))


def refuse_ids(format: str, identifiers: Iterable[str], *, spaces: bool = False) -> None:
    """Refuse the whole export when an id cannot be written.

    Raises
    ------
    NotValid
        With the list of those ids.
    """
    bad = sorted({text for text in identifiers if id_fault(text, spaces=spaces)})
    if bad:
        shown = ", ".join(map(repr, bad[:MAX_SHOWN])) + (f" and {len(bad) - MAX_SHOWN} more" if bad[MAX_SHOWN:] else "")
        raise NotValid(f"{format} cannot carry these ids: {shown}; rename them, or write with encode_ids")


def encode_id(text: str) -> str:
    """Percent-encode ``%``, white space and control characters, and nothing else.

    Examples
    --------
    >>> encode_id("my doc"), encode_id("50%"), encode_id("é")
    ('my%20doc', '50%25', 'é')
    """
    return _CONTROL_OR_SPACE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), text)


def id_encoder(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the map from each id that needs it to its encoded form.

    Raises
    ------
    NotValid
        When an id is empty: nothing can stand for it.
    """
    encoded = {text: encode_id(text) for pair in pairs for text in pair}
    if "" in encoded:
        raise NotValid("an id is empty; give it one")
    return {text: code for text, code in sorted(encoded.items()) if text != code}


def whole_grade(row: LabelRow) -> str:
    """Return a grade as digits; a fraction is no label and is refused.

    Raises
    ------
    NotValid
        When the grade is not a whole number.
    """
    grade = row.grade
    if grade is None or grade != int(grade):
        where = f"query {row.query_id!r}, document {row.doc_id!r}"
        raise NotValid(f"{where}: the grade {grade} is not a whole number; use a label rule that ends on the scale")
    return str(int(grade))


def ranked_order(rows: Iterable[RunRow]) -> list[tuple[RunRow, int]]:
    """Return results with their ranks, by query, then in trec_eval's order: score, then document, descending."""
    by_query: dict[str, list[RunRow]] = {}
    for row in rows:
        by_query.setdefault(row.query_id, []).append(row)
    return [
        (row, rank)
        for query_id in sorted(by_query)
        for rank, row in enumerate(
            sorted(by_query[query_id], key=lambda row: (row.score, row.doc_id), reverse=True), start=1
        )
    ]


def finite_score(format: str, row: RunRow) -> float:
    """Return a score that the format can hold.

    Raises
    ------
    NotValid
        When it is infinite.
    """
    if not math.isfinite(row.score):
        where = f"query {row.query_id!r}, document {row.doc_id!r}"
        raise NotValid(f"{where}: {format} cannot carry the score {row.score}; give it a number, or write a TREC run")
    return float(row.score)


def tags_left_out(format: str, ordered: Iterable[tuple[RunRow, int]]) -> tuple[str, ...]:
    """Say that tags are not written, where there are any."""
    tags = sorted({row.tag for row, _ in ordered if row.tag})
    if not tags:
        return ()
    shown = ", ".join(tags[:3]) + (f" and {len(tags) - 3} more" if tags[3:] else "")
    return (f"{format} has no place for tags; left out: {shown}",)
