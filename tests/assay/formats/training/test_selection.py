"""Tests of the selection of training data: judged negatives first, unjudged ones only on request, no leaks."""

from __future__ import annotations

from typing import Any

import pytest

from assay.core.errors import NotValid
from assay.formats.row_types import DocumentRow, LabelRow, RunRow
from assay.formats.training.selection import select_graded_pairs, select_triplets

QUERIES = {"q1": "shoes", "q2": "tent", "q3": "bag"}
LABELS = [
    *(LabelRow("q1", doc_id, grade) for doc_id, grade in (("d1", 3), ("d2", 0), ("d3", 0), ("d4", 1), ("d9", None))),
    LabelRow("q2", "d5", 2),
    LabelRow("q3", "d2", 0),
]
DOCUMENTS = [DocumentRow(f"d{n}", f"Title {n}", f"text {n}") for n in range(1, 8)]
COPY = DocumentRow("d8", "Title 1", "text 1")


def run(query_id: str, *doc_ids: str, tag: str = "a") -> list[RunRow]:
    return [RunRow(query_id, doc_id, -rank, tag=tag) for rank, doc_id in enumerate(doc_ids)]


def chosen(**options: Any) -> tuple[dict[str, tuple[list[str], list[str]]], int]:
    """The ids of the positives and negatives of each query, and the number of notes."""
    runs = options.pop("runs", ())
    selected = select_triplets(LABELS, QUERIES, [*DOCUMENTS, COPY], runs, **options)
    ids = {
        row.query_id: ([p.doc_id for p in row.positives], [n.doc_id for n in row.negatives]) for row in selected.rows
    }
    return ids, len(selected.notes)


def test_only_judged_documents_are_negatives_by_default():
    ids, notes = chosen(runs=run("q1", "d6", "d3", "d2") + run("q2", "d7"))
    assert ids == {"q1": (["d1", "d4"], ["d3", "d2"])}
    assert notes == 1


def test_best_rank_in_any_run_comes_first():
    assert chosen(runs=run("q1", "d3", "d6", "d2"))[0]["q1"][1] == ["d3", "d2"]
    both = run("q1", "d6", "d3", "d2") + run("q1", "d2", "d6", "d3", tag="b")
    assert chosen(runs=both)[0]["q1"][1] == ["d2", "d3"]


def test_unjudged_negatives_follow_on_request_and_are_marked():
    runs = run("q1", "d8", "d6", "d3", "d4", "d7") + run("q2", "d7")
    ids, notes = chosen(runs=runs, unjudged=True, negatives=3)
    assert ids == {"q1": (["d1", "d4"], ["d3", "d2", "d6"]), "q2": (["d5"], ["d7"])}
    assert notes == 3
    rows = select_triplets(LABELS, QUERIES, DOCUMENTS, runs, unjudged=True).rows
    assert [(one.doc_id, one.judged) for one in rows[0].negatives] == [
        ("d3", True),
        ("d2", True),
        ("d6", False),
        ("d7", False),
    ]


def test_documents_of_middling_grades_are_neither():
    assert chosen(relevant=2)[0] == {"q1": (["d1"], chosen()[0]["q1"][1])}


def test_seed_decides_the_order_without_runs():
    labels = [LabelRow("q1", "d0", 1), *(LabelRow("q1", f"d{n}", 0) for n in range(1, 40))]
    documents = [DocumentRow(f"d{n}", text=f"text {n}") for n in range(40)]

    def drawn(seed: int) -> list[str]:
        rows = select_triplets(labels, QUERIES, documents, negatives=5, seed=seed).rows
        return [one.doc_id for one in rows[0].negatives]

    assert drawn(1) == drawn(1) != drawn(2)
    assert len({*drawn(1)}) == 5


def test_judged_negative_with_the_text_of_a_positive_is_refused():
    labels = [LabelRow("q1", "d1", 3), LabelRow("q1", "d8", 0)]
    with pytest.raises(NotValid, match="'d1' and 'd8'"):
        select_triplets(labels, QUERIES, [*DOCUMENTS, COPY])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"queries": {"q1": "shoes"}}, "'q2', 'q3'"),
        ({"documents": DOCUMENTS[:3]}, "'d4', 'd5'"),
        ({"negatives": 0}, "negatives"),
        ({"relevant": 0}, "relevant"),
        ({"unjudged": True}, "--runs"),
    ],
)
def test_missing_texts_and_settings_are_refused(change: dict[str, Any], match: str):
    given = {"queries": QUERIES, "documents": DOCUMENTS} | change
    with pytest.raises(NotValid, match=match):
        select_triplets(LABELS, **given)


def test_graded_pairs_contain_all_judgments():
    pairs = select_graded_pairs(LABELS, QUERIES, DOCUMENTS, highest=3).rows
    assert [(pair.query_id, pair.doc_id, round(pair.score, 2)) for pair in pairs] == [
        ("q1", "d1", 1.0),
        ("q1", "d2", 0.0),
        ("q1", "d3", 0.0),
        ("q1", "d4", 0.33),
        ("q2", "d5", 0.67),
        ("q3", "d2", 0.0),
    ]
    with pytest.raises(NotValid, match="highest"):
        select_graded_pairs(LABELS, QUERIES, DOCUMENTS, highest=2)
