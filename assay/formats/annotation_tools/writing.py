"""Shared parts of the writers for annotation tools: pairs with texts, JSON lists, and what a tool cannot store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any, BinaryIO, TypeVar

from assay.core.errors import NotValid
from assay.core.read_report import RowFault
from assay.core.text_rules import amount
from assay.formats.json_lines import is_number, may_be_unstorable, refuse_unstorable
from assay.formats.labels_jsonl import MachineLabel
from assay.formats.quepid.book_json import BookRating
from assay.formats.ratings_csv import HUMAN
from assay.formats.row_types import RatingRow

Row = TypeVar("Row", RatingRow, MachineLabel)
_DETAILS = (
    *("relevant", "prompt_sha256", "probabilities", "rationale", "raw"),
    *("tokens_in", "tokens_out", "cost_usd"),
)


@dataclass
class PairTexts:
    """The texts of queries and documents, from the rows or from files; ``documents`` are texts by id."""

    queries: Mapping[str, str] | None = None
    documents: Mapping[str, str] | None = None

    def of(self, row: RatingRow | MachineLabel) -> dict[str, str]:
        """Return the query of a pair, which may be empty, and the text of its document, if there is one."""
        query = (self.queries or {}).get(row.query_id, "") or str(getattr(row, "query", ""))
        text = (self.documents or {}).get(row.doc_id, "") or str(getattr(row, "text", ""))
        return {"query": query} | ({"text": text} if text or self.documents is not None else {})


@dataclass
class Losses:
    """Counts what a tool cannot store, for the notes of its writer."""

    tool: str
    keeper: str
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, what: str, done: str = "left out") -> None:
        """Count one rating or answer."""
        self.counts[what, done] += 1

    def notes(self, noun: str) -> tuple[str, ...]:
        """Return a note for each loss; the other format keeps everything."""
        return tuple(
            f"{self.tool} cannot store {what}: {done} for {amount(count, noun)}; {self.keeper} keeps them"
            for (what, done), count in sorted(self.counts.items())
        )


def of_people(rows: Iterable[RatingRow], losses: Losses, fields: Mapping[str, str]) -> Iterator[RatingRow]:
    """Yield the ratings of people, and count the others and the fields that the tool does not have."""
    for row in rows:
        if row.source not in HUMAN:
            losses.add("resolutions, gold grades and grades of machines")
            continue
        if row.source == "import":
            losses.add("the source of ratings")
        for name, what in fields.items():
            if getattr(row, name) not in ("", None):
                losses.add(what)
        if isinstance(row, BookRating) and (row.narrative or row.document or row.pair):
            losses.add("information needs and documents of a book")
        yield row


def with_grades(rows: Iterable[RatingRow], losses: Losses) -> Iterator[RatingRow]:
    """Yield the ratings with a grade, and count the others."""
    for row in rows:
        if row.grade is None:
            losses.add("ratings without a grade")
        else:
            yield row


def pairs_of(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows of each pair, by query and document, then by rater; answers of judges keep their order."""
    ordered = sorted(rows, key=lambda row: (row.query_id, row.doc_id, getattr(row, "rater", "")))
    for _, group in groupby(ordered, key=attrgetter("query_id", "doc_id")):
        yield list(group)


def refuse_repeated(rows: Iterable[tuple[RatingRow | MachineLabel, str]], what: str, remedy: str) -> None:
    """Raise an exception if two rows of a pair have the same rater or model."""
    seen: set[str] = set()
    for row, name in rows:
        if name in seen:
            where = f"query {row.query_id!r}, document {row.doc_id!r}"
            raise NotValid(f"{where}: two {what} of {name!r}; {remedy}")
        seen.add(name)


def version_of(row: MachineLabel, judge: str) -> str:
    """Return the model of an answer, with its judge unless that is the tool itself."""
    return " ".join(word for word in (row.judge if row.judge != judge else "", row.model) if word)


def score_of(row: MachineLabel) -> float | None:
    """Return the score that the tool gave, or else the probability of the grade."""
    score = (row.parameters or {}).get("score")
    if not is_number(score):
        score = (row.probabilities or {}).get(str(row.grade))
    return score if is_number(score) else None


def count_details(row: MachineLabel, losses: Losses, stored: Collection[str] = ("score",)) -> None:
    """Count the details of an answer that the tool does not store; usefulness, which is not a grade, is refused."""
    if row.usefulness is not None:
        where = f"query {row.query_id!r}, document {row.doc_id!r}"
        raise NotValid(f"{where}: {losses.tool} cannot store usefulness; use {losses.keeper}")
    details = {name: getattr(row, name) for name in _DETAILS if name not in stored}
    details["parameters"] = set(row.parameters or ()) - set(stored)
    if any(value not in (None, "", set(), {}) for value in details.values()):
        losses.add("details of an answer, such as its rationale and cost")


def setting(name: str, value: Any, choices: Iterable[str] = ()) -> str:
    """Return a setting of a writer: a name, or one of the choices."""
    known = tuple(choices)
    if not isinstance(value, str) or not value or (known and value not in known):
        wanted = f"one of {', '.join(known)}" if known else "a name"
        raise NotValid(f"{name}={value!r} is not valid; expected {wanted}")
    return value


def users_of(value: Any) -> dict[str, Any]:
    """Return the tool's users by the names of the raters."""
    if not isinstance(value, dict):
        raise NotValid('users is not an object; map raters to users, such as {"r01": "..."}, or write @FILE')
    return value


def json_text(value: Any, *, ascii: bool = False, indent: int | None = None) -> str:
    """Return a value as JSON that Assay and UTF-8 can store."""
    try:
        text = json.dumps(value, ensure_ascii=ascii, allow_nan=False, indent=indent)
        text.encode()
    except ValueError as fault:
        raise NotValid(f"cannot be written as JSON: {fault}; correct the text or number") from fault
    if may_be_unstorable(text):
        refuse_value(value)
    return text


def refuse_value(value: Any) -> None:
    """Raise an exception if Assay cannot read a value again."""
    try:
        refuse_unstorable(value)
    except RowFault as fault:
        raise NotValid(f"cannot be written: {fault}; correct the text or number") from fault


def write_list(objects: Iterable[str], stream: BinaryIO) -> None:
    """Write a JSON list as the objects come, each on a line of its own."""
    before = "[\n"
    for text in objects:
        stream.write(f"{before}{text}".encode())
        before = ",\n"
    stream.write(b"[\n]\n" if before == "[\n" else b"\n]\n")
