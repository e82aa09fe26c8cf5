"""Parse grades, counts and shares in cells, and handle rows with different values for the same key."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

from assay.core.read_report import MAX_RAW, RowFault, Tally
from assay.core.text_rules import id_fault
from assay.formats.trec_lines import number

Row = TypeVar("Row")
# The values of a scale; None accepts any number.
Grades = tuple[int, ...] | None
Pick = Literal["first", "last", "min", "max"]

MAX_DIGITS = 15

_COUNT = re.compile(r"\d{1,15}(\.0+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?", re.ASCII)
_FRACTION = re.compile(r"[+-]?(\d+\.\d*|\.\d+)", re.ASCII)

# Maximum number of quoted characters of a line in a message.
LONGEST_QUOTE = 120


class Fault(NamedTuple):
    """Why a row cannot be used, and how to fix it."""

    code: str
    what: str
    fix: str


def checked_id(text: str, name: str = "document id", *, spaces: bool = True) -> str:
    """Return an id, or raise `RowFault` if it is invalid."""
    if fault := id_fault(text, spaces=spaces):
        raise RowFault(fault[0], f"the {name} {fault[1]}", "correct the id")
    return text


def scale_grade(text: str, grades: Grades) -> tuple[int, bool]:
    """Parse a grade on a scale, and return whether it was written as a fraction (``3.0``).

    Examples
    --------
    >>> scale_grade("3", (0, 1, 2, 3)), scale_grade("3.0", (0, 1, 2, 3))
    ((3, False), (3, True))
    >>> scale_grade("2.5", (0, 1, 2, 3))
    Traceback (most recent call last):
        ...
    assay.core.read_report.RowFault: the grade 2.5 is a fraction
    """
    known = f"one of {', '.join(map(str, grades))}" if grades is not None else "a whole number"
    if _WHOLE.fullmatch(text) and len(text) <= MAX_DIGITS:
        grade = int(text.partition(".")[0])
        if grades is None or grade in grades:
            return grade, "." in text
        raise RowFault("E14", f"the grade {text} is not on the scale", f"expected {known}, or map the grades first")
    if _FRACTION.fullmatch(text):
        raise RowFault("E13", f"the grade {text} is a fraction", f"expected {known}, or map the grades first")
    raise RowFault("E12", f"the grade {text!r} is not a number", f"expected {known}")


def any_grade(text: str) -> tuple[float, bool]:
    """Parse a grade without a scale: any finite number, as the evaluator accepts it.

    Examples
    --------
    >>> any_grade("-1"), any_grade("0.5")
    ((-1.0, False), (0.5, False))
    """
    grade = number(text)
    if grade is None or grade in (float("inf"), float("-inf")):
        raise RowFault("E12", f"the grade {text!r} is not a number", "expected a number such as 3")
    return grade, False


def count(text: str, column: str, *, least: int = 0) -> int | None:
    """Return a whole number that is not negative, None for an empty cell.

    Examples
    --------
    >>> count("12", "clients"), count("", "clients")
    (12, None)
    """
    text = text.strip()
    if not text:
        return None
    if _COUNT.fullmatch(text) and (value := int(text.partition(".")[0])) >= least:
        return value
    fix = f"expected a number such as {least + 12}"
    raise RowFault("E12", f"the {column} {text!r} is not a whole number, {least} or more", fix)


def share(text: str, column: str, *, most: float | None = None) -> float | None:
    """Return a number from 0 to ``most``, None for an empty cell.

    Examples
    --------
    >>> share("0.25", "probability", most=1.0), share("", "weight")
    (0.25, None)
    """
    text = text.strip()
    if not text:
        return None
    value = number(text)
    if value is None or value < 0 or value == float("inf") or (most is not None and value > most):
        limit = f" from 0 to {most:g}" if most is not None else " from 0"
        raise RowFault("E12", f"the {column} {text!r} is not a number{limit}", "expected a number such as 0.25")
    return value


@dataclass(slots=True)
class _Entry(Generic[Row]):
    row: Row
    value: object
    line: int
    raw: str
    bin: str
    # The first line of the key.
    first: int
    held: bool = False


class Keyed(Generic[Row]):
    """Accepts one row for each key and accounts for the others. Same key and same value: W33, counted once. Same key
    and another value: E16, and no row of the key is accepted unless `pick` selects one. If ``twice_is_conflict`` is
    set, the same value is also a conflict.
    """

    def __init__(self, tally: Tally, pick: Pick | None = None, *, twice_is_conflict: bool = False) -> None:
        self._tally, self._pick, self._strict = tally, pick, twice_is_conflict
        self._entries: dict[Hashable, _Entry[Row]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, key: Hashable, value: object, row: Row, line: int, raw: str, repaired: bool = False) -> None:
        """Add one row; it is accepted or repaired if no other row contradicts it."""
        bin = "repaired" if repaired else "accepted"
        known = self._entries.get(key)
        if known is None:
            self._entries[key] = _Entry(row, value, line, raw[:MAX_RAW], bin, line)
            self._tally.put(bin)
        elif known.value == value and not self._strict:
            self._tally.put("duplicate")
            what = f"repeats line {known.line}"
            self._tally.note("W33", line, what, done="counted once", fix="remove one of the two", raw=raw)
        elif self._pick is None:
            self._hold(known, line, raw)
        else:
            self._choose(known, _Entry(row, value, line, raw, bin, line), self._pick)

    def rows(self) -> Iterator[Row]:
        """Yield the accepted rows in the order of the file."""
        return (entry.row for entry in self._entries.values() if not entry.held)

    def places(self) -> list[tuple[int, Row]]:
        """Return the accepted rows, each with the first line of its key."""
        return [(entry.first, entry.row) for entry in self._entries.values() if not entry.held]

    def all_rows(self) -> list[Row]:
        """Return one row of each key, including conflicting ones."""
        return [entry.row for entry in self._entries.values()]

    def _hold(self, known: _Entry[Row], line: int, raw: str) -> None:
        fix = "keep one of the two"
        if not known.held:
            known.held = True
            self._tally.move(known.bin, "conflict")
            what = f"{_cut(known.raw)!r} contradicts line {line}, {_cut(raw)!r}"
            self._tally.note("E16", known.line, what, done="rejected", fix=fix, raw=known.raw)
        self._tally.put("conflict")
        what = f"{_cut(raw)!r} contradicts line {known.line}, {_cut(known.raw)!r}"
        self._tally.note("E16", line, what, done="rejected", fix=fix, raw=raw)

    def _choose(self, known: _Entry[Row], new: _Entry[Row], pick: Pick) -> None:
        wins = {
            "first": False,
            "last": True,
            "min": _low(new.value) < _low(known.value),
            "max": _low(new.value) > _low(known.value),
        }[pick]
        winner = new if wins else known
        what = f"{_shown(new.value)} here but {_shown(known.value)} on line {known.line}"
        done = f"kept {_shown(winner.value)} (the {pick})"
        self._tally.note("E16", new.line, what, done=done, raw=new.raw, severity="warning")
        self._tally.put(new.bin if wins else "conflict")
        if wins:
            self._tally.move(known.bin, "conflict")
            known.row, known.value, known.line, known.raw, known.bin = new.row, new.value, new.line, new.raw, new.bin


def _shown(value: object) -> str:
    if value is None:
        return "no grade"
    return f"grade {value:g}" if isinstance(value, int | float) else "different content"


def _cut(raw: str) -> str:
    """Return a line for a message, shortened if it is long."""
    line = raw.strip()
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}…"


def _low(value: object) -> float:
    return value if isinstance(value, int | float) else float("-inf")
