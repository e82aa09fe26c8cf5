"""zbench's data sets: queries with their documents, one query per line, with or without scores.

The scores of an annotated data set are natural logarithms with mean 0 in each query: they rank its documents and are
not grades.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed
from assay.formats.json_lines import Element, note_unknown, number, objects, read_id, write_objects
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import PairRow
from assay.formats.text_lines import Content
from assay.formats.writer import Written

NAME, ANNOTATED = "zbench-dataset", "zbench-annotated"
EXAMPLE = (
    '{"query": {"id": "query_001", "query": "What are the benefits of renewable energy?"}, "documents": '
    '[{"id": "doc_001", "content": "Solar power is a clean, renewable energy source.", '
    '"metadata": {"source": "energy_report.pdf", "page": 15}}, '
    '{"id": "doc_002", "content": "Wind energy has become cost-effective.", "metadata": {}}]}\n'
)
_LINE = '{"query": {"id": "q001", "query": "..."}, "documents": [{"id": "doc-abc", "content": "..."}]}'


@dataclass(frozen=True, slots=True)
class ZbenchRow(PairRow):
    """A document of a query; `score` is None without annotation."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    score: float | None = None

    @property
    def se(self) -> None:
        """Return None: zbench has no standard errors."""
        return


def parse(content: Content, tally: Tally, scored: bool = False) -> Iterator[ZbenchRow]:
    """Yield the documents; if `scored`, each needs a score."""
    by_key: Keyed[ZbenchRow] = Keyed(tally, twice_is_conflict=True)
    lines: dict[str, int] = {}
    for element in objects(content, tally):
        with tally.rejecting(element.line, raw=element.raw):
            query, documents, numbered = _query(element, tally)
            if query.query_id in lines:
                what = f"the query {query.query_id!r} is already on line {lines[query.query_id]}"
                raise RowFault("E23", what, "write all documents of a query on one line")
            lines[query.query_id] = element.line
            tally.put("header")
            wants = scored or any(map(_is_scored, documents))
            for place, document in enumerate(documents):
                tally.read()
                where = f"documents[{place}]"
                with tally.rejecting(element.line, column=where):
                    row, mended = _document(query, document, tally, wants)
                    by_key.add(
                        (row.query_id, row.doc_id), row, row, row.line, f"{where} {row.doc_id}", mended or numbered
                    )
    yield from by_key.rows()


def write(
    rows: Iterable[PairRow], stream: BinaryIO, *, queries: Mapping[str, str] | None = None, scored: bool = False
) -> Written:
    """Write a data set, with scores if `scored`: queries and their documents in the order given."""
    by_query: dict[str, list[PairRow]] = {}
    for row in rows:
        if not isinstance(row, PairRow) or (scored and getattr(row, "score", None) is None):
            what = "an annotated data set needs texts and scores, but these rows lack one or both"
            raise NotValid(f"{what}; assay zelo fit --annotate DATASET writes scores into a data set")
        by_query.setdefault(row.query_id, []).append(row)
    listed = [row for one in by_query.values() for row in one]
    write_objects((_line(query_id, one, queries or {}) for query_id, one in by_query.items()), stream)
    return Written(len(listed), tuple(_left_out(listed)))


def _left_out(rows: list[PairRow]) -> Iterator[str]:
    lost = "cannot be stored in a zbench data set and were left out"
    for what, times in (
        ("documents have no text", sum(not row.text for row in rows)),
        (f"narratives {lost}", sum(bool(row.narrative) for row in rows)),
        (f"expected answers {lost}", sum(bool(row.expected) for row in rows)),
        (f"ranks {lost}", sum(row.rank is not None for row in rows)),
    ):
        if times:
            yield f"{times:,} {what}"


def _line(query_id: str, rows: list[PairRow], queries: Mapping[str, str]) -> dict[str, Any]:
    text = queries.get(query_id) or next((row.query for row in rows if row.query), "")
    if not text:
        raise NotValid(f"query {query_id!r} has no text, which {NAME} needs; add the texts (--queries queries.csv)")
    documents = []
    for row in rows:
        score = getattr(row, "score", None)
        document = {"id": row.doc_id, "content": row.text, "metadata": dict(getattr(row, "metadata", {}))}
        documents.append(document if score is None else {**document, "score": score})
    return {"query": {"id": query_id, "query": text}, "documents": documents}


def _query(element: Element, tally: Tally) -> tuple[ZbenchRow, list[Any], bool]:
    query, documents = element.of.get("query"), element.of.get("documents")
    if not isinstance(query, dict) or not isinstance(documents, list):
        raise RowFault("E23", "query is not an object with id and query, or documents is not an array")
    query_id, numbered = read_id(query.get("id"), element.line, tally, "query id")
    text = query.get("query")
    if not isinstance(text, str):
        raise RowFault("E23", "query.query is not text")
    note_unknown(element.of, ("query", "documents"), element.line, tally)
    note_unknown(query, ("id", "query"), element.line, tally)
    return ZbenchRow(query_id, "", query=text, line=element.line), documents, numbered


def _document(query: ZbenchRow, element: Any, tally: Tally, wants: bool) -> tuple[ZbenchRow, bool]:
    if not isinstance(element, dict):
        raise RowFault("E23", "a document is not an object with id and content")
    doc_id, numbered = read_id(element.get("id"), query.line, tally)
    text, metadata = element.get("content"), element.get("metadata")
    if not isinstance(text, str):
        raise RowFault("E23", f"the content of {doc_id!r} is not text")
    if metadata is not None and not isinstance(metadata, dict):
        raise RowFault("E23", f"the metadata of {doc_id!r} is not an object")
    if wants and not _is_scored(element):
        raise RowFault("E23", f"{doc_id!r} has no score", "score all documents of a query, or none")
    score = number(element, "score", "write a number such as 1.25") if wants else None
    note_unknown(element, ("id", "content", "metadata", "score"), query.line, tally)
    note_unusual(tally, query.line, query.query_id, doc_id)
    row = replace(query, doc_id=doc_id, text=text, metadata=metadata or {}, score=score)
    return row, numbered


def _is_scored(element: Any) -> bool:
    return isinstance(element, dict) and element.get("score") is not None


FORMAT = Format(
    name=NAME,
    title="zbench data set, JSONL",
    tool="zbench",
    kind="pairs",
    extensions=(".jsonl", ".ndjson"),
    description="One query per line with its documents, as zbench reads them.",
    read=reader(NAME, _LINE, parse),
    write=write,
    example=EXAMPLE,
)
ANNOTATED_FORMAT = Format(
    name=ANNOTATED,
    title="zbench annotated data set, JSONL",
    tool="zbench",
    kind="document-scores",
    extensions=(".jsonl", ".ndjson"),
    description="One query per line with its documents, each with a score.",
    read=reader(
        ANNOTATED,
        '{"query": {"id": "q001", "query": "..."}, "documents": [{"id": "doc-abc", "content": "...", "score": 1.25}]}',
        lambda content, tally: parse(content, tally, True),
    ),
    write=partial(write, scored=True),
    example=(
        '{"query": {"id": "query_001", "query": "What are the benefits of renewable energy?"}, "documents": '
        '[{"id": "doc_001", "content": "Solar power is a clean, renewable energy source.", '
        '"metadata": {"source": "energy_report.pdf", "page": 15}, "score": 2.45}, '
        '{"id": "doc_002", "content": "Wind energy has become cost-effective.", "metadata": {}, "score": 1.87}]}\n'
    ),
)
