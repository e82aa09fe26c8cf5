"""Requests and replies of ``_rank_eval``, the ranking evaluation API of Elasticsearch and OpenSearch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, Pick, checked_id
from assay.formats.json_lines import id_text, object_parts, parse, refuse_unstorable
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import LabelRow, PairRow, RunRow
from assay.formats.text_keys import whole_rating
from assay.formats.text_lines import MAX_TEXT, Content
from assay.formats.writer import Written, export_order, whole_grade, write_text

REQUEST, REPLY, UNRATED = "rank-eval-request", "rank-eval-reply", "rank-eval-unrated"
# The place of the query's text in a template of a search body.
PLACE = "{{query}}"
TEMPLATE = {"query": {"match": {"text": PLACE}}}
_REQUEST = '{"requests": [{"id": "q001", "request": {}, "ratings": [{"_index": "i", "_id": "doc-abc", "rating": 3}]}]}'
_REPLY = '{"metric_score": 0.4, "details": {"q001": {"unrated_docs": [], "hits": []}}}'


@dataclass(frozen=True, slots=True)
class SearchRow(LabelRow):
    """A label with the search of its query and the index of its document."""

    request: Mapping[str, Any] = field(default_factory=dict, compare=False)
    index: str = ""


def _parse(content: Content, tally: Tally, *, conflicts: Pick | None = None) -> Iterator[LabelRow]:
    if b'"requests"' not in content.head:
        tally.refuse("has no key 'requests', so it is not a request of _rank_eval")
    by_key: Keyed[LabelRow] = Keyed(tally, conflicts)
    indexes: set[str] = set()
    number = 0
    for key, line, value in object_parts(content, tally, MAX_TEXT, frozenset({"requests"})):
        if key != "requests":
            continue
        where, number = f"requests[{number}]", number + 1
        tally.read()
        with tally.rejecting(line, column=where):
            query_id, ratings, request = _request(value)
            tally.put("header")
            note_unusual(tally, line, query_id)
            for at, rating in enumerate(ratings):
                tally.read()
                place = f"{where}.ratings[{at}]"
                with tally.rejecting(line, column=place):
                    row: LabelRow = _label(rating, query_id, line, request)
                    indexes.add(str(rating.get("_index")))
                    by_key.add((query_id, row.doc_id), row.grade, row, line, f"{place} {row.doc_id} {row.grade}")
    if len(indexes) > 1:
        names = ", ".join(sorted(indexes)[:5])
        tally.once("W68", 1, f"documents of several indexes: {names}", done="read by their ids alone", column="_index")
    for row in by_key.rows():
        tally.grade(row.grade or 0)
        yield row


def _request(value: Any) -> tuple[str, list[Any], Mapping[str, Any]]:
    if isinstance(value, RowFault):
        raise value
    if not isinstance(value, dict) or not isinstance(value.get("ratings"), list):
        raise RowFault("E23", "not an object with id and ratings")
    refuse_unstorable(value)
    request = value.get("request")
    query_id = checked_id(id_text(value.get("id"))[0], "query id")
    return query_id, value["ratings"], request if isinstance(request, dict) else {}


def _label(value: Any, query_id: str, line: int, request: Mapping[str, Any]) -> SearchRow:
    if not isinstance(value, dict):
        raise RowFault("E23", "a rating is not an object with _id and rating")
    rating = value.get("rating")
    if isinstance(rating, str):
        raise RowFault("E12", f"the rating {rating!r} is text", "write it as a number")
    doc_id, index = checked_id(id_text(value.get("_id"))[0]), value.get("_index")
    return SearchRow(
        *(query_id, doc_id, whole_rating(rating)),
        line=line,
        request=request,
        index=index if isinstance(index, str) else "",
    )


def _write(
    rows: Iterable[LabelRow],
    stream: BinaryIO,
    *,
    queries: Mapping[str, str] | None = None,
    index: str = "index",
    template: Mapping[str, Any] | None = None,
    metric: Mapping[str, Any] | None = None,
) -> Written:
    """Write a request with one search per query: the template with the query's text in the place of ``{{query}}``."""
    ordered = export_order(row for row in rows if row.grade is not None)
    body = template or TEMPLATE
    if PLACE not in json.dumps(body, ensure_ascii=False):
        raise NotValid(f"the template has no {PLACE}, the place of the query's text; add it")
    requests = []
    for query_id, group in groupby(ordered, key=lambda row: row.query_id):
        labels = list(group)
        text = (queries or {}).get(query_id) or labels[0].query
        own = labels[0].request if isinstance(labels[0], SearchRow) and template is None else {}
        if not text and not own:
            what = f"query {query_id!r} has no text, which {REQUEST} needs; add the texts (--queries queries.csv)"
            raise NotValid(what)
        ratings = []
        for row in labels:
            grade = int(whole_grade(row.grade, query_id, row.doc_id))
            if grade < 0:
                what = (
                    f"query {query_id!r}, document {row.doc_id!r}: _rank_eval takes no negative grade such as {grade}"
                )
                raise NotValid(f"{what}; map the grades first")
            where = (isinstance(row, SearchRow) and row.index) or index
            ratings.append({"_index": where, "_id": row.doc_id, "rating": grade})
        requests.append({"id": query_id, "request": own or _filled(body, text), "ratings": ratings})
    top = max((row.grade for row in ordered if row.grade is not None), default=0)
    chosen = dict(metric or {"dcg": {"k": 10, "normalize": True}})
    if isinstance(err := chosen.get("expected_reciprocal_rank"), dict):
        chosen["expected_reciprocal_rank"] = {"maximum_relevance": int(top), **err}
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in requests)
    write_text(stream, f'{{"requests": [\n{lines}\n],\n"metric": {json.dumps(chosen)}}}\n')
    return Written(len(ordered))


def _filled(body: Any, text: str) -> Any:
    """Return a search body with the query's text as a value, never as a part of the JSON."""
    if isinstance(body, str):
        return body.replace(PLACE, text)
    if isinstance(body, Mapping):
        return {key: _filled(value, text) for key, value in body.items()}
    return [_filled(value, text) for value in body] if isinstance(body, list) else body


def _details(content: Content, tally: Tally) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the id and details of each query; replies of version 6 have everything inside of ``rank_eval``."""
    if b'"details"' not in content.head:
        tally.refuse("has no key 'details', so it is not a reply of _rank_eval")
    try:
        whole = parse(content.text(MAX_TEXT))
    except RowFault as fault:
        tally.refuse(str(fault), code="F05")
    whole = whole.get("rank_eval", whole) if isinstance(whole, dict) else {}
    details, failures = whole.get("details"), whole.get("failures") or {}
    if not isinstance(details, dict):
        tally.refuse("details is not an object", code="F05")
    for query_id in failures if isinstance(failures, dict) else ():
        tally.read()
        what = f"the engine failed to run the query {query_id!r}"
        tally.reject(
            "E27", None, what, fix="correct the search, and send the request again", column=f"failures.{query_id}"
        )
    for query_id, value in details.items():
        if isinstance(value, dict) and isinstance(value.get("hits"), list):
            yield query_id, value
        else:
            tally.read()
            tally.reject("E23", None, "not an object with hits", fix=tally.expected, column=f"details.{query_id}")


def _parse_reply(content: Content, tally: Tally) -> Iterator[RunRow]:
    by_key: Keyed[RunRow] = Keyed(tally, twice_is_conflict=True)
    for query_id, value in _details(content, tally):
        for at, one in enumerate(value["hits"]):
            tally.read()
            where = f"details.{query_id}.hits[{at}]"
            with tally.rejecting(1, column=where):
                hit = one.get("hit") if isinstance(one, dict) else None
                if not isinstance(hit, dict):
                    raise RowFault("E23", "not an object with hit")
                score = hit.get("_score")
                if isinstance(score, bool) or not isinstance(score, int | float):
                    raise RowFault("E12", f"the score {score!r} is not a number")
                row = RunRow(
                    checked_id(query_id, "query id"),
                    checked_id(id_text(hit.get("_id"))[0]),
                    float(score),
                    at + 1,
                    line=1,
                )
                by_key.add((query_id, row.doc_id), row, row, 1, where)
    yield from by_key.rows()


def _write_reply(rows: Iterable[RunRow], stream: BinaryIO) -> Written:
    """Write a run in the shape of a reply without scores of a metric."""
    details: dict[str, Any] = {}
    number = 0
    for row in rows:
        hits = details.setdefault(row.query_id, {"metric_score": None, "unrated_docs": [], "hits": []})
        hits["hits"].append({"hit": {"_index": "index", "_id": row.doc_id, "_score": row.score}, "rating": None})
        number += 1
    try:
        text = json.dumps(
            {"metric_score": None, "details": details, "failures": {}}, ensure_ascii=False, allow_nan=False
        )
    except ValueError as error:
        raise NotValid(f"cannot be written as JSON: {error}") from error
    stream.write((text + "\n").encode())
    return Written(number)


def _parse_unrated(content: Content, tally: Tally) -> Iterator[PairRow]:
    by_key: Keyed[PairRow] = Keyed(tally)
    for query_id, value in _details(content, tally):
        hits = [one.get("hit") for one in value["hits"] if isinstance(one, dict)]
        ids = [hit.get("_id") if isinstance(hit, dict) else None for hit in hits]
        ranks = {str(doc_id): rank for rank, doc_id in enumerate(ids, 1) if isinstance(doc_id, str | int)}
        unrated = value.get("unrated_docs", value.get("unknown_docs")) or []
        if not isinstance(unrated, list):
            tally.read()
            tally.reject("E23", None, "unrated_docs is not a list", fix=tally.expected, column=f"details.{query_id}")
            continue
        for at, one in enumerate(unrated):
            tally.read()
            where = f"details.{query_id}.unrated_docs[{at}]"
            with tally.rejecting(1, column=where):
                if not isinstance(one, dict):
                    raise RowFault("E23", "not an object with _id")
                doc_id = checked_id(id_text(one.get("_id"))[0])
                row = PairRow(checked_id(query_id, "query id"), doc_id, rank=ranks.get(doc_id), line=1)
                by_key.add((query_id, doc_id), row, row, 1, where)
    yield from by_key.rows()


def _write_unrated(rows: Iterable[PairRow], stream: BinaryIO) -> Written:
    """Write pairs as the unrated documents of a reply, in the order of their ranks."""
    details: dict[str, Any] = {}
    number = 0
    for row in rows:
        one = details.setdefault(row.query_id, {"metric_score": None, "unrated_docs": [], "hits": []})
        one["unrated_docs"].append({"_index": "index", "_id": row.doc_id})
        number += 1
    stream.write(
        (json.dumps({"metric_score": None, "details": details, "failures": {}}, ensure_ascii=False) + "\n").encode()
    )
    return Written(number)


REQUEST_FORMAT = Format(
    name=REQUEST,
    title="_rank_eval request, JSON",
    tool="Elasticsearch and OpenSearch",
    kind="qrels",
    description="Searches with rated documents, for the ranking evaluation API of Elasticsearch and OpenSearch.",
    read=reader(REQUEST, _REQUEST, _parse, empty="judgments"),
    write=_write,
    example=(
        '{"requests": [\n{"id": "q001", "request": {"query": {"match": {"text": "running shoes"}}}, "ratings": '
        '[{"_index": "index", "_id": "doc-abc", "rating": 3}, {"_index": "index", "_id": "doc-mno", "rating": 0}]}'
        '\n],\n"metric": {"dcg": {"k": 10, "normalize": true}}}\n'
    ),
)
REPLY_FORMAT = Format(
    name=REPLY,
    title="_rank_eval reply, JSON",
    tool="Elasticsearch and OpenSearch",
    kind="run",
    description="The documents that the engine returned for each query, from a reply of the ranking evaluation API.",
    read=reader(REPLY, _REPLY, _parse_reply, empty="results"),
    write=_write_reply,
    example=(
        '{"metric_score": null, "details": {"q001": {"metric_score": null, "unrated_docs": [], "hits": [{"hit": '
        '{"_index": "index", "_id": "doc-abc", "_score": 4.4}, "rating": null}]}}, "failures": {}}\n'
    ),
)
UNRATED_FORMAT = Format(
    name=UNRATED,
    title="Unrated documents of a _rank_eval reply, JSON",
    tool="Elasticsearch and OpenSearch",
    kind="pairs",
    description="The returned documents without a rating, from a reply of the ranking evaluation API: pairs to judge.",
    read=reader(UNRATED, _REPLY, _parse_unrated),
    write=_write_unrated,
    example=(
        '{"metric_score": null, "details": {"q001": {"metric_score": null, "unrated_docs": [{"_index": "index", '
        '"_id": "doc-new"}], "hits": []}}, "failures": {}}\n'
    ),
)
