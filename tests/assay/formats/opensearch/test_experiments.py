"""Tests of experiments of the Search Relevance Workbench: every published shape becomes a run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.core.errors import UnreadableInput
from assay.formats import FORMATS, sniff

SNAPSHOTS = [{"searchConfigurationId": "c1", "docIds": ["d1", "d2"]}, {"searchConfigurationId": "c2", "docIds": ["d3"]}]
PAIRWISE = {
    "id": "e1",
    "type": "PAIRWISE_COMPARISON",
    "searchConfigurationList": ["c1", "c2"],
    "results": [{"snapshots": SNAPSHOTS, "metrics": [{"metric": "jaccard", "value": 0.3}], "query_text": "tv"}],
}
OLDER = PAIRWISE | {"results": {"tv": {"c1": ["d1", "d2"], "pairwiseComparison": {"jaccard": 0.1}, "c2": ["d3"]}}}
EVALUATION = {"id": "v1", "searchConfigurationId": "c1", "searchText": "tv", "documentIds": ["d1", "d2"], "metrics": []}


def hits(*sources: dict[str, Any]) -> dict[str, Any]:
    return {"took": 1, "hits": {"total": {"value": 1}, "hits": [{"_id": "x", "_source": one} for one in sources]}}


def read(content: Any, **options: Any) -> Any:
    return FORMATS["srw-experiment"].read(json.dumps(content).encode() + b"\n", path="a", **options)


@pytest.mark.parametrize(
    "content",
    [
        PAIRWISE,
        OLDER,
        hits(PAIRWISE),
        hits(OLDER),
        EVALUATION,
        hits(EVALUATION),
        [EVALUATION],
        [{"_source": EVALUATION}],
    ],
)
def test_every_shape_is_detected_and_read(content: Any):
    assert sniff(json.dumps(content).encode()) == "srw-experiment"
    rows = read(content, snapshot="c1").rows
    assert [(row.query, row.doc_id, row.rank, row.score, row.tag) for row in rows] == [
        ("tv", "d1", 1, -1.0, "c1"),
        ("tv", "d2", 2, -2.0, "c1"),
    ]


def test_search_configuration_is_chosen():
    result = read(PAIRWISE, snapshot="c2")
    assert ([row.doc_id for row in result.rows], result.report.bins["comment"]) == (["d3"], 3)
    for options in ({}, {"snapshot": "c3"}):
        with pytest.raises(UnreadableInput) as caught:
            read(PAIRWISE, **options)
        assert "'c1', 'c2'" in str(caught.value)


def test_lines_of_results_are_reported():
    text = '{"searchConfigurationList": ["c1"], "results": [\n' + ",\n".join(
        json.dumps({"query_text": text, "snapshots": [{"searchConfigurationId": "c1", "docIds": documents}]})
        for text, documents in (("a", ["d1"]), ("b", ["d1", ""]), ("c", "d1"), ("d", ["d1", "d1"]))
    )
    report = FORMATS["srw-experiment"].read(f"{text}]}}\n".encode(), path="a").report
    assert [(one.line, one.code) for one in report.errors] == [(3, "E11"), (4, "E23"), (5, "E16"), (5, "E16")]


def test_pointwise_experiment_without_documents_names_the_index():
    ids = [{"evaluationId": "v1", "searchConfigurationId": "c1", "queryText": "tv"}]
    report = read(PAIRWISE | {"results": ids}).report
    assert [one.code for one in report.errors] == ["E23"]
    assert "search-relevance-evaluation-result" in report.errors[0].fix


def test_unfinished_experiment_has_no_rows():
    with pytest.raises(UnreadableInput) as caught:
        read(PAIRWISE | {"results": {}})
    assert caught.value.code == "F07"
