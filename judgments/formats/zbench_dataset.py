"""zbench's data sets: queries with their documents, and scores where present.

Each line is one query with its documents. An annotated data set (`zbench_annotated`) is the same with a score for
each document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from judgments.core.errors import NotValid
from judgments.core.ids import id_fault
from judgments.core.report import Tally
from judgments.formats.declaration import Format
from judgments.formats.decoding import Content
from judgments.formats.grades import Keyed, RowFault
from judgments.formats.json_lines import Element, id_text, objects
from judgments.formats.json_rows import number, reader, write_objects
from judgments.formats.reading import note_unusual
from judgments.formats.rows import PairRow
from judgments.formats.writing import Written

NAME = "zbench-dataset"
EXAMPLE = (
    '{"query": {"id": "query_001", "query": "What are the benefits of renewable energy?"}, "documents": '
    '[{"id": "doc_001", "content": "Solar power is a clean, renewable energy source.", '
    '"metadata": {"source": "energy_report.pdf", "page": 15}}, '
    '{"id": "doc_002", "content": "Wind energy has become cost-effective.", "metadata": {}}]}\n'
)
_LINE = '{"query": {"id": "q001", "query": "..."}, "documents": [{"id": "doc-abc", "content": "..."}]}'


@dataclass(frozen=True, slots=True)
class ZbenchRow(PairRow):
    """A document of a query; `score` is None in a data set that nobody annotated."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    score: float | None = None

    @property
    def se(self) -> None:
        """No standard error: zbench tells none."""
        return


def parse(content: Content, tally: Tally, *, scored: bool = False) -> Iterator[ZbenchRow]:
    """Yield the documents; where `scored`, one without a score is an error.

    A line is a header, and each of its documents a row of the books.
    """
    kept: Keyed[ZbenchRow] = Keyed(tally, twice_is_conflict=True)
    lines: dict[str, int] = {}
    for element in objects(content, tally):
        try:
            query, documents, numbered = _query(element, tally)
            if query.query_id in lines:
                what = f"the query {query.query_id!r} stands on line {lines[query.query_id]} already"
                raise RowFault("E23", what, "write all documents of a query on one line")
        except RowFault as fault:
            tally.reject(fault.code, element.line, str(fault), fix=fault.fix or tally.expected, raw=element.raw)
            continue
        lines[query.query_id] = element.line
        tally.put("header")
        wants = scored or any(map(_is_scored, documents))
        for place, told in enumerate(documents):
            tally.read()
            where = f"documents[{place}]"
            try:
                row, mended = _document(query, told, tally, wants)
            except RowFault as fault:
                tally.reject(fault.code, element.line, str(fault), fix=fault.fix or tally.expected, column=where)
                continue
            bin = "repaired" if mended or numbered else "accepted"
            kept.add((row.query_id, row.doc_id), row, row, row.line, f"{where} {row.doc_id}", bin)
    yield from kept.rows()


def write(
    rows: Iterable[PairRow], stream: BinaryIO, *, queries: Mapping[str, str] | None = None, scored: bool = False
) -> Written:
    """Write a data set: queries and their documents in the order given.

    Parameters
    ----------
    rows : iterable of PairRow
        With texts; metadata and scores are written where a row has them.
    stream : binary stream
        Where to.
    queries : dict of str to str, optional
        The text of each query; by default its rows' own.
    scored : bool
        Whether each document must have a score.

    Raises
    ------
    NotValid
        A query without text, or rows without texts or scores where these are needed.
    """
    found: dict[str, list[PairRow]] = {}
    for row in rows:
        if not isinstance(row, PairRow) or (scored and getattr(row, "score", None) is None):
            what = "an annotated data set holds texts and scores, and these rows have not both"
            raise NotValid(f"{what}; assay zelo fit --annotate DATASET writes scores into a data set")
        found.setdefault(row.query_id, []).append(row)
    listed = [row for one in found.values() for row in one]
    write_objects((_line(query_id, one, queries or {}) for query_id, one in found.items()), stream)
    return Written(len(listed), tuple(_left_out(listed)))


def _left_out(rows: list[PairRow]) -> Iterator[str]:
    lost = "have no place in a data set of zbench and were left out"
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
        raise NotValid(f"query {query_id!r} has no text, which {NAME} needs; give the texts (--queries queries.csv)")
    documents = []
    for row in rows:
        score = getattr(row, "score", None)
        told = {"id": row.doc_id, "content": row.text, "metadata": dict(getattr(row, "metadata", {}))}
        documents.append(told if score is None else {**told, "score": score})
    return {"query": {"id": query_id, "query": text}, "documents": documents}


def _query(element: Element, tally: Tally) -> tuple[ZbenchRow, list[Any], bool]:
    query, documents = element.of.get("query"), element.of.get("documents")
    if not isinstance(query, dict) or not isinstance(documents, list):
        raise RowFault("E23", "query is no object with id and query, or documents is no array")
    query_id, numbered = _id(query, "query", element.line, tally)
    text = query.get("query")
    if not isinstance(text, str):
        raise RowFault("E23", "query.query is no text")
    _note_unknown(element.of, ("query", "documents"), element.line, tally)
    _note_unknown(query, ("id", "query"), element.line, tally)
    return ZbenchRow(query_id, "", query=text, line=element.line), documents, numbered


def _document(query: ZbenchRow, told: Any, tally: Tally, wants: bool) -> tuple[ZbenchRow, bool]:
    if not isinstance(told, dict):
        raise RowFault("E23", "a document is no object with id and content")
    doc_id, numbered = _id(told, "document", query.line, tally)
    text, metadata = told.get("content"), told.get("metadata")
    if not isinstance(text, str):
        raise RowFault("E23", f"the content of {doc_id!r} is no text")
    if metadata is not None and not isinstance(metadata, dict):
        raise RowFault("E23", f"the metadata of {doc_id!r} is no object")
    if wants and not _is_scored(told):
        raise RowFault("E23", f"{doc_id!r} has no score", "score all documents of a query, or none")
    score = number(told, "score", "write a number such as 1.25") if wants else None
    _note_unknown(told, ("id", "content", "metadata", "score"), query.line, tally)
    note_unusual(tally, query.line, query.query_id, doc_id)
    row = replace(query, doc_id=doc_id, text=text, metadata=metadata or {}, score=score)
    return row, numbered


def _is_scored(told: Any) -> bool:
    return isinstance(told, dict) and told.get("score") is not None


def _id(of: Mapping[str, Any], what: str, line: int, tally: Tally) -> tuple[str, bool]:
    text, numbered = id_text(of.get("id"))
    if fault := id_fault(text):
        raise RowFault(fault[0], f"the {what} id {fault[1]}", "mend the id")
    if numbered:
        tally.once("W42", line, f"a {what} id is a number", done="read as text")
    return text, numbered


def _note_unknown(of: Mapping[str, Any], known: tuple[str, ...], line: int, tally: Tally) -> None:
    for key in of.keys() - set(known):
        tally.once("W41", line, f"the key {key!r} is not known", done="ignored", column=key)


read = reader(NAME, _LINE, parse)

FORMAT = Format(
    name=NAME,
    title="Data set of zbench, JSONL",
    kind="pairs",
    extensions=(".jsonl", ".ndjson"),
    description="A query with its documents a line, as zbench takes them.",
    read=read,
    write=write,
    example=EXAMPLE,
    options={"encoding": "latin-1 for old files"},
)
