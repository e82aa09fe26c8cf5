"""umbrela's files: requests with the texts of a query's candidates, and the judgments of its model.

The shapes are those of its repository (`src/umbrela/cli/normalize.py` and the examples of its quickstart). Judgments
have no ids, only texts. The request file gives them their ids, by their positions and texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.core.text_rules import amount, text_id
from assay.formats.annotation_tools.writing import Losses, PairTexts, count_details, json_text, version_of
from assay.formats.format import Format
from assay.formats.grade_cells import Grades, Keyed, Pick, checked_id, scale_grade
from assay.formats.json_lines import Element, id_text, note_unknown, objects, read_id, rows, text
from assay.formats.labels_jsonl import MachineLabel, TextLabel
from assay.formats.queries import checked_query
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import PairRow
from assay.formats.text_lines import Content
from assay.formats.value_kinds import value_kind
from assay.formats.writer import Written

REQUESTS, JUDGMENTS = "umbrela-requests-jsonl", "umbrela-judgments-jsonl"
JUDGE = "umbrela"
_SCALE = range(4)
# What a judgment contains of the details of an answer.
_STORED = ("prompt_sha256", "rationale", "raw")
_REQUEST = (
    '{"query": {"qid": "q001", "text": "running shoes"}, "candidates": [{"docid": "doc-abc", "doc": {"segment": '
    '"A light shoe for dry paths."}}, {"docid": "doc-xyz", "doc": {"segment": "A bag for shoes."}}]}\n'
)
_JUDGMENT = (
    '{"model": "a-model", "query": "running shoes", "passage": "A light shoe for dry paths.", "prompt": "...", '
    '"prediction": "##final score: 3", "judgment": 3, "result_status": 1}\n'
    '{"model": "a-model", "query": "running shoes", "passage": "A bag for shoes.", "prompt": "...", '
    '"prediction": "I cannot say.", "judgment": 0, "result_status": 0}\n'
)
_KNOWN = {"model", "query", "passage", "prompt", "prediction", "judgment", "result_status", "reasoning"}


def _read_requests(content: Content, tally: Tally) -> Iterator[PairRow]:
    by_key = Keyed[PairRow](tally)
    for element in objects(content, tally):
        with tally.rejecting(element.line, raw=element.raw):
            query_id, query, candidates = _request(element, tally)
            tally.put("header")
            for number, candidate in enumerate(candidates):
                tally.read()
                place = f"[{number}]"
                try:
                    doc_id, segment, numbered = _candidate(candidate)
                except RowFault as fault:
                    what = f"candidates{place}: {fault}"
                    tally.reject(fault.code, element.line, what, fix=fault.fix or tally.expected, column=place)
                    continue
                if numbered:
                    tally.once("W42", element.line, "an id is a number", done="read as text")
                note_unusual(tally, element.line, doc_id)
                row = PairRow(query_id, doc_id, query, text=segment, line=element.line)
                by_key.add((query_id, doc_id), (query, segment), row, element.line, f"{place} {doc_id}", numbered)
    yield from by_key.rows()


def _request(element: Element, tally: Tally) -> tuple[str, str, list[Any]]:
    query, candidates = element.of.get("query"), element.of.get("candidates")
    if not isinstance(query, dict) or not isinstance(candidates, list):
        raise RowFault("E23", "not an object with query and candidates, which have ids")
    query_id, _ = read_id(query.get("qid"), element.line, tally, "qid")
    note_unusual(tally, element.line, query_id)
    words = text(query, "text")
    checked_query(words)
    note_unknown(element.of, {"query", "candidates"}, element.line, tally)
    return query_id, words, candidates


def _candidate(value: Any) -> tuple[str, str, bool]:
    if not isinstance(value, dict):
        raise RowFault("E23", f"a candidate is {value_kind(value)}, not an object with docid and doc")
    doc_id, numbered = id_text(value.get("docid"))
    checked_id(doc_id, "docid")
    doc = value.get("doc")
    segment = doc.get("segment") if isinstance(doc, dict) else value.get("text")
    if not isinstance(segment, str):
        raise RowFault("E23", f"the text of {doc_id!r} is {value_kind(segment)}", "write it as doc.segment")
    return doc_id, segment, numbered


def _write_requests(rows: Iterable[PairRow], stream: BinaryIO) -> Written:
    """Write pairs in the given order, adjacent ones of a query on one line; needs and expected answers are left out."""
    listed = list(rows)
    lines = (
        {
            "query": {"qid": query_id, "text": query},
            "candidates": [{"docid": row.doc_id, "doc": {"segment": row.text}} for row in group],
        }
        for (query_id, query), group in groupby(listed, key=lambda row: (row.query_id, row.query))
    )
    # umbrela splits a file at every line end of Unicode, so these must be escaped.
    stream.writelines(f"{json_text(line, ascii=True)}\n".encode() for line in lines)
    empty = sum(not row.text for row in listed)
    more = sum(bool(row.narrative or row.expected) for row in listed)
    notes = [f"{amount(empty, 'pair')} without a text"] if empty else []
    notes += [f"the needs or expected answers of {amount(more, 'pair')} left out"] if more else []
    return Written(len(listed), tuple(notes))


@dataclass
class _Requests:
    """Ids of judgments by their position, or by their texts."""

    in_order: list[PairRow]

    def __post_init__(self) -> None:
        self.by_text: dict[tuple[str, str], list[PairRow]] = {}
        for row in self.in_order:
            self.by_text.setdefault((row.query, row.text), []).append(row)

    def ids(self, place: int, query: str, passage: str) -> tuple[str, str]:
        """Return the ids of a judgment, or raise `RowFault`."""
        if place < len(self.in_order):
            row = self.in_order[place]
            if (row.query, row.text) == (query, passage):
                return row.query_id, row.doc_id
        matches = self.by_text.get((query, passage), [])
        if len(matches) != 1:
            what = (
                f"{len(matches)} requests have this query and passage"
                if matches
                else "no request has this query and passage"
            )
            raise RowFault("E17", what, "name the request file of these judgments, unchanged (--requests FILE)")
        return matches[0].query_id, matches[0].doc_id


def _read_judgments(
    content: Content, tally: Tally, *, grades: Grades = None, requests: str | None = None, conflicts: Pick | None = None
) -> Iterator[MachineLabel]:
    known = None
    if requests is not None:
        known = _Requests(list(REQUESTS_FORMAT.read(requests, path=requests).strict().rows))
    numbers: dict[str, str] = {}
    place = -1

    def judgment(element: Element, tally: Tally) -> tuple[MachineLabel, bool]:
        nonlocal place
        place += 1
        return _judgment(element, tally, known, place, numbers, grades)

    for row in rows(content, tally, judgment, _key, conflicts):
        if row.grade is not None:
            tally.grade(row.grade)
        yield row


def _judgment(
    element: Element, tally: Tally, known: _Requests | None, place: int, numbers: dict[str, str], grades: Grades
) -> tuple[MachineLabel, bool]:
    of = element.of
    query, passage = of.get("query"), of.get("passage")
    if not isinstance(query, str) or not isinstance(passage, str):
        raise RowFault("E23", "not an object with the texts query and passage")
    checked_query(query)
    note_unknown(of, _KNOWN, element.line, tally)
    if known is not None:
        query_id, doc_id = known.ids(place, query, passage)
    else:
        done = "queries are numbered, and documents have ids made from their texts; --requests FILE gives the ids"
        tally.once("W71", element.line, "judgments have no ids", done=done)
        query_id, doc_id = numbers.setdefault(query, f"q{len(numbers) + 1:03d}"), text_id(passage)
    outcome, grade, repaired = _grade(of, grades)
    prompt, reason = text(of, "prompt"), text(of, "reasoning")
    row = TextLabel(
        *(query_id, doc_id, outcome, grade),
        judge=JUDGE,
        model=text(of, "model"),
        prompt_sha256=hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest() if prompt else "",
        rationale=reason,
        raw=text(of, "prediction"),
        line=element.line,
        query=query,
        text=passage,
        prompt=prompt,
    )
    return row, repaired


def _write_judgments(
    rows: Iterable[MachineLabel],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    documents: Mapping[str, str] | None = None,
) -> Written:
    """Write judgments in the given order, with the texts of the rows or of files, but without ids."""
    losses, texts = Losses("umbrela", "labels-jsonl"), PairTexts(queries, documents)
    written = 0
    for row in rows:
        count_details(row, losses, stored=_STORED)
        stream.write(f"{json_text(_judgment_object(row, texts.of(row), losses), ascii=True)}\n".encode())
        losses.add("ids of queries and documents", "written without, in the order of the rows,")
        written += 1
    return Written(written, losses.notes("judgment"))


def _judgment_object(row: MachineLabel, texts: Mapping[str, str], losses: Losses) -> dict[str, Any]:
    """Return the judgment of a pair; a failure has the status 0 and the judgment 0."""
    where = f"query {row.query_id!r}, document {row.doc_id!r}"
    for name, what, option in (("query", "query", "queries"), ("text", "document", "documents")):
        if not texts.get(name, "").strip():
            raise NotValid(f"{where}: the {what} has no text, which {JUDGMENTS} needs; add the texts (--{option} FILE)")
    if row.grade is not None and row.grade not in _SCALE:
        raise NotValid(f"{where}: the grade {row.grade} is not on umbrela's scale from 0 to 3; map the grades first")
    if row.outcome not in ("graded", "unparseable"):
        losses.add("types of failure", "written with result_status 0")
    prompt = getattr(row, "prompt", "")
    if row.prompt_sha256 and not prompt:
        losses.add("hashes of prompts")
    return {
        "model": version_of(row, JUDGE),
        "query": texts["query"],
        "passage": texts["text"],
        "prompt": prompt,
        "prediction": row.raw,
        **({"reasoning": row.rationale} if row.rationale else {}),
        "judgment": row.grade or 0,
        "result_status": 0 if row.grade is None else 1,
    }


def _grade(of: Mapping[str, Any], grades: Grades) -> tuple[str, int | None, bool]:
    """Return outcome, grade, and whether the grade was repaired; a judgment that fell back to 0 is a failure."""
    status = of.get("result_status", 1)
    if isinstance(status, bool) or status not in (0, 1):
        raise RowFault("E23", f"result_status is {status!r}, not 0 or 1")
    if status == 0:
        return "unparseable", None, False
    value = of.get("judgment")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RowFault("E12", f"the judgment {value!r} is not a number", "expected a whole number")
    return "graded", *scale_grade(repr(value), grades)


def _key(row: MachineLabel) -> tuple[tuple[str, ...], object]:
    # The prompt contains both texts, so the prompt of one pair is the same in each run.
    return (row.query_id, row.doc_id, row.model), row.outcome if row.grade is None else row.grade


REQUESTS_FORMAT = Format(
    name=REQUESTS,
    title="umbrela requests, JSONL",
    tool="umbrela",
    kind="pairs",
    description="One query per line with the texts of its candidates, as umbrela judges them; ids are required.",
    read=reader(REQUESTS, _REQUEST.rstrip("\n"), _read_requests),
    write=_write_requests,
    example=_REQUEST,
)
JUDGMENTS_FORMAT = Format(
    name=JUDGMENTS,
    title="umbrela judgments, JSONL",
    tool="umbrela",
    kind="labels",
    description=(
        "The judgments of umbrela's model as machine labels. A judgment with result_status 0 is a failure, not a grade "
        "of 0. Writing other labels needs --queries FILE and --documents FILE."
    ),
    read=reader(JUDGMENTS, _JUDGMENT.partition("\n")[0], _read_judgments),
    write=_write_judgments,
    example=_JUDGMENT,
    options={
        "grades": "grade scale; by default any whole number is accepted",
        "requests": "the request file of these judgments, which contains the ids",
    },
)
