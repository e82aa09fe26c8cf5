"""Results of experiments in OpenSearch's Search Relevance Workbench, as runs.

Pairwise experiments contain the lists of two search configurations for each query, in older versions as an object by
query. The lists of pointwise and hybrid experiments are evaluation results in another index. Both are read as the API
returns them, alone or as search hits; the shapes are those of the OpenSearch documentation and of the plugin's
`EvaluationResult`. Metrics are not read, because Assay computes its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, checked_id
from assay.formats.json_lines import id_text, list_elements, object_parts, read_id, refuse_unstorable
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import RunRow
from assay.formats.text_keys import TextKeys
from assay.formats.text_lines import MAX_TEXT, Content
from assay.formats.value_kinds import value_kind

NAME = "srw-experiment"
EXAMPLE = """{
  "id": "47cc3861", "type": "PAIRWISE_COMPARISON", "status": "COMPLETED", "searchConfigurationList": ["85f31a87"],
  "results": [
    {"query_text": "tv", "snapshots": [{"searchConfigurationId": "85f31a87", "docIds": ["doc-abc", "doc-xyz"]}]},
    {"query_text": "tent", "snapshots": [{"searchConfigurationId": "85f31a87", "docIds": ["doc-mno"]}]}
  ]
}
"""
_EXPECTED = '{"results": [{"query_text": "tv", "snapshots": [{"searchConfigurationId": "...", "docIds": [...]}]}]}'
_METRICS = "pairwiseComparison"
# Keys of one result in a list; other objects are the results by query.
_RESULT = {"snapshots", "query_text", "queryText", "evaluationId"}


class _List(NamedTuple):
    """The documents of one search configuration for one query, with their place in the file."""

    where: str
    line: int
    query: Any
    configuration: Any
    documents: Any


def _read(content: Content, tally: Tally, *, snapshot: str | None = None) -> Iterator[RunRow]:
    keys, by_key = TextKeys(tally), Keyed[RunRow](tally, twice_is_conflict=True)
    names: dict[str, None] = {}
    for one in _lists(content, tally):
        tally.read()
        with tally.rejecting(one.line, column=one.where):
            name, documents = _checked(one)
            names[name] = None
            tally.read(len(documents))
            if snapshot not in (None, name):
                tally.put("comment", 1 + len(documents))
                tally.once(
                    "W51", one.line, f"results of the search configuration {name!r}", done="skipped", column=name
                )
                continue
            try:
                query_id = keys.query_id(one.query, one.line)
            except RowFault as fault:
                tally.put("header", len(documents))
                tally.reject(fault.code, one.line, str(fault), fix=fault.fix or tally.expected, column=one.where)
                continue
            tally.put("header")
            for rank, document in enumerate(documents, 1):
                place = f"{one.where}[{rank - 1}]"
                with tally.rejecting(one.line, column=place):
                    doc_id, numbered = read_id(document, one.line, tally)
                    note_unusual(tally, one.line, doc_id)
                    row = RunRow(query_id, doc_id, float(-rank), rank, name, one.line, one.query, True)
                    by_key.add((one.query, doc_id), row.score, row, one.line, f"{place} {doc_id}", numbered)
    _check_names(list(names), snapshot, tally)
    yield from keys.padded(by_key.rows())


def _check_names(names: list[str], snapshot: str | None, tally: Tally) -> None:
    shown = ", ".join(map(repr, names[:20]))
    if len(names) > 1 and snapshot is None:
        what = f"contains the results of {len(names)} search configurations: {shown}"
        tally.refuse(what, expected="name one of them (--snapshot ID)", code="E23")
    if names and snapshot is not None and snapshot not in names:
        what = f"contains no results of the search configuration {snapshot!r}"
        tally.refuse(what, expected=f"name one of {shown}", code="E23")


def _checked(one: _List) -> tuple[str, list[Any]]:
    if isinstance(one.configuration, RowFault):
        raise one.configuration
    name, _ = id_text(one.configuration)
    checked_id(name, "id of the search configuration")
    if not isinstance(one.documents, list):
        raise RowFault("E23", f"the documents are {value_kind(one.documents)}, not a list")
    refuse_unstorable(one.documents)
    return name, one.documents


def _lists(content: Content, tally: Tally) -> Iterator[_List]:
    """Yield the lists of one experiment or evaluation result, of several, or of search hits."""
    if not any(mark in content.head for mark in (b'"results"', b'"documentIds"', b'"searchConfiguration')):
        tally.refuse("has no results of an experiment")
    first = content.head.lstrip()[:1]
    if first == b"[":
        for number, (line, value, _) in enumerate(list_elements(content, tally, MAX_TEXT)):
            yield from _of_source(value, f"[{number}]", line)
    elif first == b"{":
        yield from _of_object(content, tally)
    else:
        tally.refuse("is not a JSON object or list")


def _of_object(content: Content, tally: Tally) -> Iterator[_List]:
    whole: dict[str, Any] = {}
    start, number = 1, 0
    for key, line, value in object_parts(content, tally, MAX_TEXT, frozenset({"results"})):
        if key == "hits":
            inner = value.get("hits") if isinstance(value, dict) else value
            for at, hit in enumerate(inner if isinstance(inner, list) else [inner]):
                yield from _of_source(hit, f"hits.hits[{at}]", line)
        elif key == "results" and not (isinstance(value, dict) and _RESULT.isdisjoint(value)):
            yield from _of_result(value, f"results[{number}]", line)
            number += 1
        else:
            whole[key] = value
    if "results" in whole or "documentIds" in whole:
        yield from _of_source(whole, "results" if "results" in whole else "documentIds", start)


def _of_source(value: Any, where: str, line: int) -> Iterator[_List]:
    if isinstance(value, dict) and isinstance(source := value.get("_source"), dict):
        value = source
    if not isinstance(value, dict):
        fault = (
            value if isinstance(value, RowFault) else RowFault("E23", f"{where} is {value_kind(value)}, not an object")
        )
        yield _List(where, line, None, fault, None)
        return
    results = value.get("results")
    if "documentIds" in value:
        yield _List(where, line, value.get("searchText"), value.get("searchConfigurationId"), value["documentIds"])
    elif isinstance(results, dict):
        for query, lists in results.items():
            for name, documents in lists.items() if isinstance(lists, dict) else ():
                if name != _METRICS:
                    yield _List(f"{where}.{query[:40]}", line, query, name, documents)
    elif isinstance(results, list):
        for number, result in enumerate(results):
            yield from _of_result(result, f"{where}.results[{number}]", line)
    else:
        fault = RowFault("E23", f"{where} has no results", "run the experiment, and export it with its results")
        yield _List(where, line, None, fault, None)


def _of_result(value: Any, where: str, line: int) -> Iterator[_List]:
    if isinstance(value, RowFault):
        yield _List(where, line, None, value, None)
        return
    snapshots = value.get("snapshots") if isinstance(value, dict) else None
    if not isinstance(snapshots, list):
        fix = "export the evaluation results with these ids (index search-relevance-evaluation-result)"
        yield _List(where, line, None, RowFault("E23", f"{where} has no snapshots with documents", fix), None)
        return
    query = value.get("query_text", value.get("queryText"))
    for number, one in enumerate(snapshots):
        place = f"{where}.snapshots[{number}]"
        if isinstance(one, dict):
            yield _List(place, line, query, one.get("searchConfigurationId"), one.get("docIds"))
        else:
            yield _List(place, line, query, RowFault("E23", f"{place} is {value_kind(one)}, not an object"), None)


FORMAT = Format(
    name=NAME,
    title="Search Relevance Workbench experiment",
    tool="OpenSearch",
    kind="run",
    description=(
        "The documents that a search configuration returned in an experiment of the workbench, from pairwise results "
        "or evaluation results; the score is minus the rank."
    ),
    read=reader(NAME, _EXPECTED, _read, empty="results"),
    write=None,
    example=EXAMPLE,
    options={"snapshot": "id of the search configuration, if the file has several"},
    by_text=True,
)
