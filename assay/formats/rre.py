"""Ratings of RRE, the Rated Ranking Evaluator, in both of its shapes, and in the shape that Quepid imports.

Topics, query groups and queries may each be absent; then the object above plays their part. Labels of a group are those
of all its queries, unless a query has labels of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import Tally
from assay.formats.format import Format, reader_options
from assay.formats.grade_cells import Keyed, Pick, RowFault, checked_id
from assay.formats.json_lines import object_parts, refuse_unstorable
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import LabelRow
from assay.formats.text_keys import TextKeys, whole_rating
from assay.formats.text_lines import MAX_TEXT, Content
from assay.formats.writer import Written, export_order, whole_grade

NAME, QUEPID = "rre", "quepid-rre"
_LEVELS = ("topics", "query_groups", "queries")
_LABELS = "relevant_documents"
_PLACEHOLDER = "$query"
_EXPECTED = '{"queries": [{"placeholders": {"$query": "..."}, "relevant_documents": {"doc-abc": {"gain": 3}}}]}'


def _parse(content: Content, tally: Tally, *, conflicts: Pick | None = None) -> Iterator[LabelRow]:
    head = content.head.lstrip()
    if not head.startswith(b"{") or not any(f'"{key}"'.encode() in head for key in (*_LEVELS, _LABELS)):
        tally.refuse("is not a JSON object with topics, query_groups, queries or relevant_documents")
    root: dict[str, Any] = {}
    parts: list[tuple[str, int, Any]] = []
    for key, line, value in object_parts(content, tally, MAX_TEXT, frozenset(_LEVELS)):
        if key in _LEVELS:
            parts.append((key, line, value))
        elif isinstance(value, RowFault):
            tally.refuse(str(value), line=line, code="F05")
        else:
            root[key] = value
    reading = _Reading(tally, conflicts, str(root.get("query_placeholder") or _PLACEHOLDER))
    if not parts:
        reading.level(root, 1, "", root.get(_LABELS))
    numbers = dict.fromkeys(_LEVELS, 0)
    for key, line, value in parts:
        reading.level(value, line, f"{key}[{numbers[key]}]", root.get(_LABELS))
        numbers[key] += 1
    for row in reading.by_key.rows():
        tally.grade(row.grade or 0)
        yield row


class _Reading:
    """The queries and labels of one file."""

    def __init__(self, tally: Tally, conflicts: Pick | None, placeholder: str) -> None:
        self.tally, self.placeholder = tally, placeholder
        self.by_key: Keyed[LabelRow] = Keyed(tally, conflicts)
        self.keys = TextKeys(tally)

    def level(self, value: Any, line: int, where: str, inherited: Any) -> None:
        """Read a topic, group or query."""
        if isinstance(value, RowFault) or not isinstance(value, dict):
            self.tally.read()
            fault = value if isinstance(value, RowFault) else RowFault("E23", "not an object")
            self.tally.reject(fault.code, line, str(fault), fix=self.tally.expected, column=where)
            return
        labels = value.get(_LABELS, inherited)
        below = next((key for key in _LEVELS if isinstance(value.get(key), list)), None)
        if below is None:
            self._query(value, line, where, labels)
            return
        if below == "queries" and len(value[below]) > 1 and labels:
            done = "each query gets the labels of the group"
            self.tally.once("W66", line, "a group of several queries", done=done, column=_LABELS)
        for number, one in enumerate(value[below]):
            self.level(one, line, f"{where}.{below}[{number}]".lstrip("."), labels)

    def _query(self, value: Mapping[str, Any], line: int, where: str, labels: Any) -> None:
        self.tally.read()
        try:
            refuse_unstorable(value)
            placeholders = value.get("placeholders")
            text = placeholders.get(self.placeholder) if isinstance(placeholders, dict) else value.get("query")
            query_id = self.keys.query_id(text, line)
            pairs = self._pairs(labels)
        except RowFault as fault:
            self.tally.reject(fault.code, line, str(fault), fix=fault.fix or self.tally.expected, column=where)
            return
        self.tally.put("header")
        if not pairs:
            self.tally.once("W65", line, "a query without documents", done="skipped")
        for doc_id, gain in pairs:
            self.tally.read()
            try:
                grade = whole_rating(gain)
                row = LabelRow(query_id, checked_id(doc_id), grade, query=str(text), line=line, by_text=True)
            except RowFault as fault:
                self.tally.reject(fault.code, line, str(fault), fix=fault.fix, raw=doc_id, column=where)
                continue
            note_unusual(self.tally, line, doc_id)
            self.by_key.add((query_id, doc_id), grade, row, line, f"{where} {doc_id} {grade}")

    def _pairs(self, labels: Any) -> list[tuple[str, Any]]:
        """Return the documents with their gains, from ``{doc: {"gain": 3}}`` or ``{"3": [doc]}``."""
        if labels is None:
            return []
        if not isinstance(labels, dict):
            raise RowFault("E23", f"{_LABELS} is not an object")
        lists = [isinstance(value, list) for value in labels.values()]
        if any(lists) and not all(lists):
            raise RowFault("E23", f"{_LABELS} mixes both shapes", "use one shape for all documents")
        if lists and lists[0]:
            return [(str(doc_id), gain) for gain, doc_ids in labels.items() for doc_id in doc_ids]
        pairs = []
        for doc_id, value in labels.items():
            gain = value.get("gain", value.get("rating")) if isinstance(value, dict) else None
            if gain is None:
                raise RowFault("E23", f"the document {doc_id!r} has no gain", 'write {"gain": 3}')
            pairs.append((doc_id, gain))
        return pairs


def _write(
    rows: Iterable[LabelRow],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    index: str = "index",
    template: str = "template.json",
    flat: bool = False,
) -> Written:
    """Write one group per query, or flat with the documents of each grade, as Quepid imports them."""
    ordered = export_order(row for row in rows if row.grade is not None)
    written, texts = [], dict[str, str]()
    for query_id, group in groupby(ordered, key=lambda row: row.query_id):
        labels = list(group)
        text = (queries or {}).get(query_id) or labels[0].query
        if not text:
            what = f"query {query_id!r} has no text, which {NAME} needs; add the texts (--queries queries.csv)"
            raise NotValid(what)
        if (other := texts.setdefault(text, query_id)) != query_id:
            raise NotValid(
                f"the queries {other!r} and {query_id!r} have the same text, by which {NAME} identifies them"
            )
        grades = {row.doc_id: int(whole_grade(row.grade, query_id, row.doc_id)) for row in labels}
        query = {"template": template, "placeholders": {_PLACEHOLDER: text}}
        written.append(_flat(query, grades) if flat else _group(text, query, grades))
    body = {"queries": written} if flat else {"topics": [{"description": "Assay", "query_groups": written}]}
    whole = {"id_field": "id", "index": index, **({"template": template} if flat else {}), **body}
    try:
        stream.write((json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode())
    except UnicodeEncodeError as error:
        raise NotValid(f"cannot be written as UTF-8: {error}") from error
    return Written(len(ordered))


def _group(text: str, query: Mapping[str, Any], grades: Mapping[str, int]) -> dict[str, Any]:
    labels = {doc_id: {"gain": grade} for doc_id, grade in grades.items()}
    return {"name": text, "queries": [query], _LABELS: labels}


def _flat(query: Mapping[str, Any], grades: Mapping[str, int]) -> dict[str, Any]:
    by_grade: dict[str, list[str]] = {}
    for doc_id, grade in sorted(grades.items(), key=lambda one: (-one[1], one[0])):
        by_grade.setdefault(str(grade), []).append(doc_id)
    return {"placeholders": query["placeholders"], _LABELS: by_grade}


def _example(flat: bool) -> str:
    from io import BytesIO

    stream = BytesIO()
    rows = [LabelRow("q1", "193", 0, query="star trek"), LabelRow("q1", "1370", 3, query="star trek")]
    _write(rows, stream, flat=flat)
    return stream.getvalue().decode()


FORMAT = Format(
    name=NAME,
    title="RRE ratings, JSON",
    tool="RRE",
    kind="qrels",
    extensions=(".json",),
    description="Topics, query groups and queries with the gains of their documents, in any of RRE's shapes.",
    read=reader(NAME, _EXPECTED, _parse, empty="judgments"),
    write=_write,
    example=_example(False),
    options=reader_options("conflicts encoding"),
    by_text=True,
)
QUEPID_FORMAT = Format(
    name=QUEPID,
    title="RRE ratings for Quepid, JSON",
    tool="Quepid",
    kind="qrels",
    extensions=(".json",),
    description="Queries with the documents of each grade, the only shape of RRE's that Quepid imports.",
    read=reader(QUEPID, _EXPECTED, _parse, empty="judgments"),
    write=partial(_write, flat=True),
    example=_example(True),
    options=reader_options("conflicts encoding"),
    by_text=True,
)
