"""Quepid book, JSON: query-document pairs with every rater's judgment, the information needs and the documents.

A book identifies raters by their e-mail address. The reader replaces addresses by pseudonyms, and neither rows nor
reports contain them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.formats.documents import document_of
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed
from assay.formats.json_lines import note_unknown, object_parts, parse, read_id, refuse_unstorable, text
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import DocumentRow, RatingRow
from assay.formats.text_keys import TextKeys, whole_rating
from assay.formats.text_lines import MAX_TEXT, Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written, export_order

NAME = "quepid-book"
# Where Quepid's importer creates the raters, with this option.
HOST = "raters.invalid"
_OWN = re.compile(rf"((?:r|anonymous-)\d+)@{re.escape(HOST)}")
_PAIRS = "query_doc_pairs"
_BOOK = ("name", "show_rank", "support_implicit_judgements", "scale", "scale_with_labels")
_OLDER = {"scorer", "selection_strategy"}
_PAIR = (
    *("query_text", "doc_id", "position", "document_fields", "information_need", "notes", "options"),
    "judgements",
)
# Written as they were read.
_UNCHANGED = ("document_fields", "notes", "options")
_JUDGMENT = ("rating", "unrateable", "judge_later", "user_email", "explanation")
_EXPECTED = '{"scale": [0, 1, 2, 3], "query_doc_pairs": [{"query_text": "...", "doc_id": "...", "judgements": []}]}'
EXAMPLE = (
    '{"name":"Demo","show_rank":false,"support_implicit_judgements":null,"scale":[0,1,2,3],'
    '"scale_with_labels":{"0":"Poor","3":"Perfect"},"query_doc_pairs":[\n'
    '{"query_text":"projector screen","doc_id":"325961","position":1,'
    '"document_fields":"{\\"name\\": \\"Matte White S\\"}","information_need":"A screen for my projector","notes":null,'
    '"options":null,"judgements":[{"rating":3.0,"unrateable":false,"judge_later":false,'
    f'"user_email":"r01@{HOST}","explanation":null}}]}},\n'
    '{"query_text":"projector screen","doc_id":"126679","position":2,"document_fields":null,'
    '"information_need":"A screen for my projector","notes":null,"options":null,"judgements":[]}\n]}\n'
)


@dataclass(frozen=True, slots=True)
class Book:
    """What a book says about all its pairs: its name, its other settings, and its scale with labels."""

    name: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    scale: tuple[int, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BookRating(RatingRow):
    """A judgment of a book, with the need of its query, the position and the document; an unjudged pair has the state
    ``unrated`` and no rater.
    """

    narrative: str = ""
    position: int | None = None
    document: DocumentRow | None = field(default=None, compare=False)
    pair: Mapping[str, Any] = field(default_factory=dict, compare=False)
    book: Book = field(default_factory=Book, compare=False)


def _parse(content: Content, tally: Tally) -> Iterator[BookRating]:
    if not content.head.lstrip().startswith(b"{"):
        tally.refuse("does not begin with {, so it is not a JSON object")
    if f'"{_PAIRS}"'.encode() not in content.head:
        tally.refuse(f"has no key {_PAIRS!r}, so it is not a book")
    settings: dict[str, Any] = {}
    pairs: list[tuple[int, Any]] = []
    for key, line, value in object_parts(content, tally, MAX_TEXT, frozenset({_PAIRS})):
        if key == _PAIRS:
            pairs.append((line, value))
        elif key in _OLDER or key in _BOOK:
            settings[key] = _unfaulty(value, tally, line)
        else:
            tally.once("W41", line, f"unknown key {key!r}", done="ignored", column=key)
    reading = _Reading(tally, _book(settings, tally), pseudonyms(_addresses(value for _, value in pairs), _OWN))
    for place, (line, value) in enumerate(pairs):
        reading.pair(value, line, f"{_PAIRS}[{place}]")
    yield from reading.keys.padded(reading.by_key.rows())


def _unfaulty(value: Any, tally: Tally, line: int) -> Any:
    if isinstance(value, RowFault):
        tally.refuse(str(value), line=line, code="F05")
    return value


def _book(settings: Mapping[str, Any], tally: Tally) -> Book:
    """Return the settings of a book; older books have the scale inside of the scorer."""
    scorer = settings.get("scorer")
    given = {**(scorer if isinstance(scorer, dict) else {}), **settings}
    scale, labels = given.get("scale"), given.get("scale_with_labels")
    if isinstance(scale, str):
        scale = scale.split(",")
    try:
        grades = tuple(whole_rating(part) for part in scale or ())
    except (RowFault, TypeError) as fault:
        tally.refuse(f"the scale {scale!r} is not a list of whole numbers: {fault}", code="E23")
    named = {str(key): str(value) for key, value in labels.items()} if isinstance(labels, dict) else {}
    others = {key: settings[key] for key in _BOOK[1:3] if key in settings}
    name = settings.get("name")
    return Book(name if isinstance(name, str) else "", others, grades, named)


def _addresses(pairs: Iterable[Any]) -> Iterator[str]:
    """Yield the addresses of all raters."""
    for pair in pairs:
        judgments = pair.get("judgements") if isinstance(pair, dict) else None
        for one in judgments if isinstance(judgments, list) else ():
            if isinstance(one, dict) and isinstance(address := one.get("user_email"), str) and address:
                yield address


def pseudonyms(names: Iterable[str], own: re.Pattern[str]) -> dict[str, str]:
    """Return the pseudonym of each name, in an order that does not depend on the names; those of Assay stay."""
    distinct = set(names)
    own_names = {name: match[1] for name in distinct if (match := own.fullmatch(name))}
    others = sorted(distinct - own_names.keys(), key=lambda one: hashlib.sha256(one.casefold().encode()).digest())
    free = (name for number in range(1, 2 * len(distinct) + 2) if (name := f"r{number:02d}") not in own_names.values())
    return own_names | dict(zip(others, free, strict=False))


class _Reading:
    """The pairs of one book."""

    def __init__(self, tally: Tally, book: Book, raters: Mapping[str, str]) -> None:
        self.tally, self.book, self.raters = tally, book, raters
        self.by_key: Keyed[BookRating] = Keyed(tally)
        self.keys = TextKeys(tally)
        self.scale = frozenset(book.scale) or None
        self.needs: dict[str, str] = {}
        self.documents: dict[str, DocumentRow] = {}
        self.anonymous: dict[tuple[str, str], int] = {}

    def pair(self, value: Any, line: int, where: str) -> None:
        """Read a pair and its judgments."""
        self.tally.read()
        with self.tally.rejecting(line, column=where):
            row, judgments, numbered = self._pair(value, line)
            if not judgments:
                self.by_key.add((row.query_id, row.doc_id, ""), None, row, line, where, numbered)
                return
            self.tally.put("header")
            for place, one in enumerate(judgments):
                self.tally.read()
                at = f"{where}.judgements[{place}]"
                with self.tally.rejecting(line, column=at):
                    rating = self._rating(row, one)
                    answer = rating.state if rating.grade is None else rating.grade
                    self.by_key.add((row.query_id, row.doc_id, rating.rater), answer, rating, line, at, numbered)
                    if rating.grade is not None:
                        self.tally.grade(rating.grade)

    def _pair(self, value: Any, line: int) -> tuple[BookRating, list[Any], bool]:
        if isinstance(value, RowFault):
            raise value
        if not isinstance(value, dict):
            raise RowFault("E23", f"a pair is {value_kind(value)}, not an object")
        refuse_unstorable(value)
        query_id = self.keys.query_id(value.get("query_text"), line)
        doc_id, numbered = read_id(value.get("doc_id"), line, self.tally, column="doc_id")
        note_unusual(self.tally, line, doc_id)
        note_unknown(value, _PAIR, line, self.tally)
        need = text(value, "information_need")
        if self.needs.setdefault(query_id, need) != need:
            what = f"the query {value['query_text']!r} has another information need above"
            raise RowFault("E18", what, "use one information need for all pairs of a query")
        judgments = value.get("judgements") or []
        if not isinstance(judgments, list):
            raise RowFault("E23", "judgements is not an array")
        position = value.get("position")
        row = BookRating(
            query_id,
            doc_id,
            "",
            None,
            "unrated",
            query=value["query_text"],
            line=line,
            by_text=True,
            narrative=need,
            position=position if isinstance(position, int) and not isinstance(position, bool) else None,
            document=self._document(doc_id, value.get("document_fields"), line),
            pair={key: value[key] for key in _UNCHANGED if value.get(key) is not None},
            book=self.book,
        )
        return row, judgments, numbered

    def _document(self, doc_id: str, fields: Any, line: int) -> DocumentRow | None:
        if fields is None or fields == "":
            return self.documents.get(doc_id)
        of = parse(fields) if isinstance(fields, str) else fields
        if not isinstance(of, dict):
            raise RowFault("E23", "document_fields is not an object")
        document = document_of(doc_id, of, line)
        known = self.documents.setdefault(doc_id, document)
        if known != document:
            what = f"the document {doc_id!r} has other fields above"
            self.tally.once("W63", line, what, done="the first fields are used", column="document_fields")
        return known

    def _rating(self, pair: BookRating, value: Any) -> BookRating:
        if not isinstance(value, dict):
            raise RowFault("E23", f"a judgment is {value_kind(value)}, not an object")
        note_unknown(value, _JUDGMENT, pair.line, self.tally)
        grade, state = value.get("rating"), "graded"
        if value.get("unrateable") is True or value.get("judge_later") is True:
            if grade is not None:
                raise RowFault(
                    "E23", "a judgment has both a rating and unrateable or judge_later", "remove one of them"
                )
            state = "unrateable" if value.get("unrateable") is True else "later"
        elif grade is None:
            raise RowFault("E23", "a judgment has no rating", "set unrateable or judge_later, or remove the judgment")
        else:
            grade = whole_rating(grade, self.scale)
        key = (pair.query_id, pair.doc_id)
        address = value.get("user_email")
        if isinstance(address, str) and address:
            rater = self.raters[address]
        elif address is None or address == "":
            self.anonymous[key] = self.anonymous.get(key, 0) + 1
            rater = f"anonymous-{self.anonymous[key]}"
        else:
            raise RowFault("E23", "user_email is not text")
        return BookRating(
            *(pair.query_id, pair.doc_id, rater, grade, state),
            query=pair.query,
            note=text(value, "explanation"),
            line=pair.line,
            by_text=True,
            narrative=pair.narrative,
            position=pair.position,
            document=pair.document,
            pair=pair.pair,
            book=self.book,
        )


def write(
    rows: Iterable[RatingRow],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    name: str = "",
    omit_unrated: bool = False,
) -> Written:
    """Write a book that Quepid can import with ``force_create_users``; raters have addresses that cannot exist."""
    chosen = [row for row in rows if not (omit_unrated and row.state == "unrated")]
    if not all(isinstance(row, BookRating) for row in chosen):
        chosen = export_order(chosen)
    book = next((row.book for row in chosen if isinstance(row, BookRating)), Book())
    top = max((row.grade for row in chosen if row.grade is not None), default=0)
    scale = book.scale or tuple(range(top + 1))
    head = {
        "name": name or book.name or "Assay",
        "show_rank": book.settings.get("show_rank", False),
        "support_implicit_judgements": book.settings.get("support_implicit_judgements"),
        "scale": list(scale),
        "scale_with_labels": dict(book.labels),
    }
    texts, written = queries or {}, 0
    stream.write((_compact(head)[:-1] + f',"{_PAIRS}":[\n').encode())
    for (query_id, doc_id), group in groupby(chosen, key=lambda row: (row.query_id, row.doc_id)):
        pair = list(group)
        query = texts.get(query_id) or pair[0].query
        if not query:
            what = f"query {query_id!r} has no text, which {NAME} needs; add the texts (--queries queries.csv)"
            raise NotValid(what)
        try:
            stream.write(((",\n" if written else "") + _compact(_pair_object(query, doc_id, pair))).encode())
        except UnicodeEncodeError as error:
            raise NotValid(f"document {doc_id!r} cannot be written as UTF-8: {error}") from error
        written += len(pair)
    stream.write(b"\n]}\n" if written else b"]}\n")
    return Written(written)


def _pair_object(query: str, doc_id: str, rows: list[RatingRow]) -> dict[str, Any]:
    first = rows[0] if isinstance(rows[0], BookRating) else BookRating("", "", "", None)
    fields = first.pair.get("document_fields")
    if fields is None and first.document:
        fields = json.dumps(_fields(first.document), ensure_ascii=False)
    return {
        "query_text": query,
        "doc_id": doc_id,
        "position": first.position,
        "document_fields": fields,
        "information_need": first.narrative or None,
        "notes": first.pair.get("notes"),
        "options": first.pair.get("options"),
        "judgements": [_judgment(row) for row in rows if row.state != "unrated"],
    }


def _fields(document: DocumentRow) -> dict[str, Any]:
    own = {"title": document.title, "text": document.text, "url": document.url, "image": document.image}
    return {key: value for key, value in own.items() if value and key not in document.fields} | dict(document.fields)


def _judgment(row: RatingRow) -> dict[str, Any]:
    anonymous = row.rater.startswith("anonymous-")
    return {
        "rating": None if row.grade is None else float(row.grade),
        "unrateable": row.state == "unrateable",
        "judge_later": row.state == "later",
        "user_email": None if anonymous else f"{row.rater}@{HOST}",
        "explanation": row.note or None,
    }


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


FORMAT = Format(
    name=NAME,
    title="Quepid book, JSON",
    tool="Quepid",
    kind="ratings",
    description=(
        "Pairs with the judgments of each rater, unrateable pairs, explanations, information needs, documents and the "
        "scale, as Quepid exports and imports books; raters get pseudonyms."
    ),
    read=reader(NAME, _EXPECTED, _parse),
    write=write,
    example=EXAMPLE,
    by_text=True,
)
