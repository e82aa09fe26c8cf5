"""Quick start without a log or run files: pasted queries and results become queries, documents and a run.

The run contains the results in their order. `evaluation.decisions` starts a round over it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction

from assay.core.content_hash import content_hash
from assay.core.csv_cells import csv_row, escape
from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import MAX_LENGTH
from assay.formats.queries import numbered_ids
from judgments.imports import ingestion
from judgments.models import Collection, Document, Query, User
from pooling.models import Run
from pooling.runs import runs

MOST_QUERIES = 100
MOST_RESULTS = 100
RUN = "current search"
LINK = re.compile(r"https?://\S+")


class Result(NamedTuple):
    """One pasted result: a title, with an optional link and text."""

    title: str
    url: str
    text: str


@dataclass(frozen=True)
class Start:
    """A query with the pasted results."""

    query: str
    results: Sequence[Result]


def read_queries(text: str) -> list[str]:
    """Return one query per line; blank and repeated lines are ignored.

    Examples
    --------
    >>> read_queries("rain jacket\\n\\ntent\\nrain jacket")
    ['rain jacket', 'tent']
    """
    queries = list(dict.fromkeys(line.strip() for line in text.replace("\r", "\n").split("\n") if line.strip()))
    if not queries:
        raise NotValid("There are no queries.", {"queries": "Type one query per line; ten are enough to start."})
    if len(queries) > MOST_QUERIES:
        message = (
            f"This page accepts at most {MOST_QUERIES} queries, but this list has {len(queries):,}. Upload a queries "
            "file for more."
        )
        raise NotValid(message, "queries")
    if any("\0" in query for query in queries):
        raise NotValid("A query contains a NUL character.", {"queries": "Remove the NUL character."})
    too_long = [query for query in queries if len(query) > 2048]
    if too_long:
        raise NotValid(
            "A query is too long.", {"queries": f"Shorten it to at most 2,048 characters: {too_long[0][:60]}…"}
        )
    return queries


def read_results(text: str) -> list[Result]:
    """Return one result per line: ``title``, ``title | link`` or ``title | link | text``, separated by bars or tabs."""
    results = []
    for line in text.replace("\r", "\n").split("\n"):
        parts = [part.strip() for part in re.split(r"\t|\s\|\s", line.strip()) if part.strip()]
        if not parts:
            continue
        links = [part for part in parts if LINK.fullmatch(part)]
        words = [part for part in parts if part not in links]
        title = words[0] if words else links[0]
        results.append(Result(title, links[0] if links else "", " ".join(words[1:])))
    return list(dict.fromkeys(results))


def read_systems(text: str) -> dict[str, list[Start]]:
    """Return the queries with their results by system, from lines with ``system,query,title,url,text``.

    The columns may be separated by tabs, as in text pasted from a spreadsheet.

    Examples
    --------
    >>> list(read_systems("system,query,title\\nold,tent,Fell 2\\nnew,tent,Fell 3"))
    ['old', 'new']
    """
    reader = _reader(text, ("system", "query"))
    systems: dict[str, dict[str, list[Result]]] = {}
    for record in _records(reader):
        system = " ".join((record.get("system") or "").split())
        if not system:
            raise _odd(f"Line {reader.line_num} has no system. Add its name in the column system.")
        query, result = _record(record, reader.line_num)
        systems.setdefault(system, {}).setdefault(query, []).append(result)
    if not systems:
        raise _odd("The table has a header but no results. Add one result per line.")
    read_queries("\n".join(query for by_query in systems.values() for query in by_query))
    return {
        system: [Start(query, tuple(dict.fromkeys(results))) for query, results in by_query.items()]
        for system, by_query in systems.items()
    }


def read_csv(text: str) -> list[Start]:
    """Return queries with their results from a file with the columns ``query,title,url,text``, one result per record.

    Examples
    --------
    >>> read_csv("query,title,url,text\\ntent,Fell 2,https://shop.example/1,For two.")[0].results
    (Result(title='Fell 2', url='https://shop.example/1', text='For two.'),)
    """
    reader = _reader(text, ("query",))
    by_query: dict[str, list[Result]] = {}
    for record in _records(reader):
        query, result = _record(record, reader.line_num)
        by_query.setdefault(query, []).append(result)
    if not by_query:
        raise _odd("The file has a header but no results. Add one result per line.")
    read_queries("\n".join(by_query))
    return [Start(query, tuple(dict.fromkeys(results))) for query, results in by_query.items()]


def _reader(text: str, needed: Sequence[str]) -> csv.DictReader[str]:
    """Return a reader of a table with commas or tabs; its first line is the header."""
    delimiter = "\t" if "\t" in text.lstrip().split("\n", 1)[0] else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="more", strict=True, delimiter=delimiter)
    try:
        names = [name.strip().lower() for name in reader.fieldnames or ()]
    except csv.Error as error:
        raise _odd(f"Line 1 is not valid CSV ({error}).") from error
    if not set(needed) <= set(names) or not {"title", "url"} & set(names):
        header = ",".join((*needed, "title", "url", "text"))
        raise _odd(f"Line 1: the header must be {header}. The last two columns are optional.")
    reader.fieldnames = names
    return reader


def _records(reader: csv.DictReader[str]) -> Iterator[dict[str, Any]]:
    try:
        yield from reader
    except csv.Error as error:
        raise _odd(f"Line {reader.line_num} is not valid CSV ({error}).") from error


def _record(record: dict[str, Any], line: int) -> tuple[str, Result]:
    if "more" in record:
        raise _odd(f"Line {line} has more fields than the header. Put quotes around text that contains commas.")
    query, title, url = (" ".join((record.get(name) or "").split()) for name in ("query", "title", "url"))
    text = (record.get("text") or "").strip()
    if any("\0" in part for part in (query, title, url, text)):
        raise _odd(f"Line {line} contains a NUL character. Save the file as UTF-8 CSV.")
    if not query:
        raise _odd(f"Line {line} has no query. Add one in the first column.")
    if not title and not url:
        raise _odd(f"Line {line} has neither a title nor a URL. Add one of them.")
    return query, Result(title or url, url, text)


def _odd(message: str) -> NotValid:
    return NotValid(message, "file")


def store_lists(
    collection: Collection, starts: Sequence[Start], *, actor: User, name: str = RUN
) -> list[tuple[str, str]]:
    """Store pasted results as queries, documents and a run, and return the pairs in their order."""
    starts = [start for start in starts if start.results]
    if not starts:
        raise NotValid(
            "There is nothing to rate yet. Paste at least one result.", {"results": "Paste at least one result."}
        )
    for start in starts:
        if len(start.results) > MOST_RESULTS:
            message = f"“{start.query}” has {len(start.results)} results; the limit per query is {MOST_RESULTS}."
            raise NotValid(message, "results")
    try:
        with transaction.atomic():
            return _store_lists(collection, starts, actor, name)
    except IntegrityError as error:
        raise Conflict("Another user submitted at the same time. Nothing was stored; submit again.") from error


def _store_lists(collection: Collection, starts: Sequence[Start], actor: User, name: str) -> list[tuple[str, str]]:
    queries = add_queries(collection, [start.query for start in starts])
    pairs = [
        (queries[start.query].query_id, _document(collection, result).doc_id)
        for start in starts
        for result in start.results
    ]
    pairs = list(dict.fromkeys(pairs))
    _store_run(collection, pairs, actor, name)
    return pairs


def run_of(collection: Collection, pairs: Sequence[tuple[str, str]]) -> Run:
    """Return the run that holds these pairs."""
    return collection.runs.get(sha256=hashlib.sha256(_run_file(pairs)).hexdigest())


def _run_file(pairs: Sequence[tuple[str, str]]) -> bytes:
    places: Counter[str] = Counter()
    lines = [csv_row(["query_id", "doc_id", "score", "rank"])]
    for query_id, doc_id in pairs:
        places[query_id] += 1
        cells = [query_id, doc_id, str(MOST_RESULTS + 1 - places[query_id]), str(places[query_id])]
        lines.append(csv_row([escape(cell) for cell in cells]))
    return "".join(lines).encode()


def _store_run(collection: Collection, pairs: Sequence[tuple[str, str]], actor: User, name: str) -> None:
    """Store the pasted results as a run, or reuse an equal run; make it the baseline if there is none."""
    content = _run_file(pairs)
    if collection.runs.filter(sha256=hashlib.sha256(content).hexdigest()).exists():
        return
    upload = ingestion.receive(
        collection, kind="runs", format="run-csv", file=io.BytesIO(content), filename="pasted.csv", actor=actor
    )
    options = {"name": free_name(collection.runs, name), "description": "Pasted search results"}
    made = ingestion.store(upload, actor=actor, options=options)
    if not collection.runs.filter(baseline=True).exists():
        runs.set_baseline(collection, collection.runs.get(uuid=made["id"]), actor=actor)


def add_queries(collection: Collection, texts: Sequence[str]) -> dict[str, Query]:
    """Return the queries by text, creating missing ones."""
    queries = {query.text: query for query in collection.queries.filter(text__in=texts)}
    taken = set(collection.queries.values_list("query_id", flat=True))
    new = [text for text in dict.fromkeys(texts) if text not in queries]
    ids = numbered_ids(new, taken)
    made = [Query(collection=collection, query_id=ids[text], text=text) for text in new]
    Query.objects.bulk_create(made)
    return {**queries, **{query.text: query for query in made}}


def _document(collection: Collection, result: Result) -> Document:
    """Return the document by its link or its content, so that a repeated line is one document."""
    digest = content_hash(result.title, result.text, result.url, "", {})
    usable = LINK.fullmatch(result.url) and len(result.url) <= MAX_LENGTH
    doc_id = result.url if usable else f"d-{digest[:12]}"
    document, _ = Document.objects.get_or_create(
        collection=collection,
        doc_id=doc_id,
        defaults={"title": result.title, "text": result.text, "url": result.url, "content_sha256": digest},
    )
    return document


def free_name(rows: Any, wanted: str) -> str:
    """Return the name, with a number if another of these rows has it."""
    names = set(rows.values_list("name", flat=True))
    return next(name for name in (wanted, *(f"{wanted} {number}" for number in range(2, 999))) if name not in names)
