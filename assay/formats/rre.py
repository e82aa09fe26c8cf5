"""Ratings of RRE, the Rated Ranking Evaluator, in both of its shapes, and in the shape that Quepid imports.

Topics, query groups and queries may each be absent; then the object above plays their part. Labels of a group are those
of all its queries, unless a query has labels of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO

from assay.core.read_report import RowFault, Tally
from assay.core.text_rules import id_fault
from assay.formats.format import Format
from assay.formats.grade_cells import Pick
from assay.formats.json_lines import object_parts, refuse_unstorable
from assay.formats.reader import reader
from assay.formats.row_types import LabelRow
from assay.formats.text_keys import QueryLabels, TextLabels, labels_by_query
from assay.formats.text_lines import MAX_TEXT, Content
from assay.formats.writer import Written, whole_grade, write_text

NAME, QUEPID = "rre", "quepid-rre"
_LEVELS = ("topics", "query_groups", "queries")
_LABELS = "relevant_documents"
_PLACEHOLDER = "$query"
_TOPIC = "Assay"
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
    yield from reading.labels.rows()


class _Reading:
    """The queries and labels of one file."""

    def __init__(self, tally: Tally, conflicts: Pick | None, placeholder: str) -> None:
        self.tally, self.placeholder = tally, placeholder
        self.labels = TextLabels(tally, conflicts, whole=True)
        self.groups = 0

    def level(self, value: Any, line: int, where: str, inherited: Any, group: str = "") -> None:
        """Read a topic, group or query."""
        if isinstance(value, RowFault) or not isinstance(value, dict):
            self.tally.read()
            fault = value if isinstance(value, RowFault) else RowFault("E23", "not an object")
            self.tally.reject(fault.code, line, str(fault), fix=self.tally.expected, column=where)
            return
        labels = value.get(_LABELS, inherited)
        below = next((key for key in _LEVELS if isinstance(value.get(key), list)), None)
        if below is None:
            self._query(value, line, where, labels, "" if _LABELS in value else group)
            return
        shared = below == "queries" and len(value[below]) > 1 and bool(labels)
        self._note_names(value, line, named=shared)
        if shared:
            group = self._group_name(value)
            done = "each query gets the labels of the group"
            self.tally.once("W66", line, "a group of several queries", done=done, column=_LABELS)
        for number, one in enumerate(value[below]):
            self.level(one, line, f"{where}.{below}[{number}]".lstrip("."), labels, group)

    def _note_names(self, value: Mapping[str, Any], line: int, *, named: bool) -> None:
        """Report descriptions and names that no row keeps; the name of a group with one query is usually its text."""
        name, description = value.get("name"), value.get("description")
        if description and description != _TOPIC and not (named and not name):
            done = "ignored"
            self.tally.once("W41", line, "a description of a topic or group", done=done, column="description")
        queries = value.get("queries")
        if name and not named and isinstance(queries, list):
            texts = [one.get("placeholders") for one in queries if isinstance(one, dict)]
            if not any(isinstance(text, dict) and text.get(self.placeholder) == name for text in texts):
                self.tally.once("W41", line, "the name of a group with one query", done="ignored", column="name")

    def _group_name(self, value: Mapping[str, Any]) -> str:
        """Return the name of a group of several queries, or a number if it has no usable name."""
        self.groups += 1
        name = value.get("name") or value.get("description")
        return name if isinstance(name, str) and id_fault(name) is None else f"group {self.groups}"

    def _query(self, value: Mapping[str, Any], line: int, where: str, labels: Any, group: str) -> None:
        self.tally.read()
        with self.tally.rejecting(line, column=where):
            refuse_unstorable(value)
            placeholders = value.get("placeholders")
            text = placeholders.get(self.placeholder) if isinstance(placeholders, dict) else value.get("query")
            pairs = self._pairs(labels)
            if not pairs:
                self.labels.without_labels(text, line, "", counted_as="header", column=where)
                return
            with self.tally.rejecting(line, column=where):
                self.labels.keys.query_id(text, line)
                self.tally.put("header")
                for doc_id, gain in pairs:
                    self.tally.read()
                    self.labels.add(text, doc_id, gain, line, f"{where} {doc_id} {gain}", column=where, group=group)

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
            odd = next((one for doc_ids in labels.values() for one in doc_ids if not isinstance(one, str | int)), None)
            if odd is not None or any(isinstance(one, bool) for doc_ids in labels.values() for one in doc_ids):
                raise RowFault("E23", f"{_LABELS} contains {odd!r} instead of the id of a document")
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
    queries_of: dict[str, list[QueryLabels]] = {}
    grouped = labels_by_query(NAME, rows, queries)
    for one in grouped:
        # A query of a group is written with the group of its first label, others on their own.
        group = "" if flat else one.labels[0].group
        queries_of.setdefault(f"group {group}" if group else f"query {one.query_id}", []).append(one)
    if flat:
        body: dict[str, Any] = {"queries": [_flat(one) for one in grouped]}
    else:
        names: set[str] = set()
        groups = [_group(members, template, names) for members in queries_of.values()]
        body = {"topics": [{"description": _TOPIC, "query_groups": groups}]}
    whole = {"id_field": "id", "index": index, **({"template": template} if flat else {}), **body}
    write_text(stream, (json.dumps(whole, ensure_ascii=False, indent=2) + "\n"))
    return Written(sum(len(one.labels) for one in grouped))


def _group(members: list[QueryLabels], template: str, names: set[str]) -> dict[str, Any]:
    """Return a group with its shared labels, or with those of each query if they differ."""
    gains = [{row.doc_id: {"gain": _grade(row)} for row in one.labels} for one in members]
    queries: list[dict[str, Any]] = [
        {"template": template, "placeholders": {_PLACEHOLDER: one.query}} for one in members
    ]
    name = base = members[0].labels[0].group or members[0].query
    number = 1
    while name in names:
        number += 1
        name = f"{base} ({number})"
    names.add(name)
    if all(one == gains[0] for one in gains):
        return {"name": name, "queries": queries, _LABELS: gains[0]}
    return {"name": name, "queries": [{**query, _LABELS: own} for query, own in zip(queries, gains, strict=True)]}


def _grade(row: LabelRow) -> int:
    return int(whole_grade(row.grade, row.query_id, row.doc_id))


def _flat(one: QueryLabels) -> dict[str, Any]:
    by_grade: dict[str, list[str]] = {}
    for row in sorted(one.labels, key=lambda row: (-_grade(row), row.doc_id)):
        by_grade.setdefault(str(_grade(row)), []).append(row.doc_id)
    return {"placeholders": {_PLACEHOLDER: one.query}, _LABELS: by_grade}


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
    description="Topics, query groups and queries with the gains of their documents, in any of RRE's shapes.",
    read=reader(NAME, _EXPECTED, _parse, empty="judgments"),
    write=_write,
    example=_example(False),
    by_text=True,
)
QUEPID_FORMAT = Format(
    name=QUEPID,
    title="RRE ratings for Quepid, JSON",
    tool="Quepid",
    kind="qrels",
    description="Queries with the documents of each grade, the only shape of RRE's that Quepid imports.",
    read=reader(QUEPID, _EXPECTED, _parse, empty="judgments"),
    write=partial(_write, flat=True),
    example=_example(True),
    by_text=True,
)
