"""Tests of the demo's search engines."""

from __future__ import annotations

import pytest

from assay.core.run import Run
from demo.catalogue import documents
from demo.engines import DEPTH
from demo.engines import runs as build_runs

QUERIES = {"q1": "tent", "q2": "rain jaket", "q3": "insulated flask", "q4": "!!!", "q5": "tents", "q6": "socks merino"}


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return {run.name: run for run in build_runs(QUERIES, documents())}


def titles(run: Run, query_id: str, k: int = 5) -> list[str]:
    names = {document["doc_id"]: document["title"] for document in documents()}
    return [names[doc_id] for doc_id in run.ranking(query_id)[:k]]


def test_three_systems_return_fifty_documents_at_most(runs: dict[str, Run]) -> None:
    assert list(runs) == ["bm25", "tfidf", "chargram"]
    for run in runs.values():
        assert all(1 <= len(run.ranking(query_id)) <= DEPTH for query_id in run.query_ids)
        assert run.scores.min() > 0


def test_the_systems_differ(runs: dict[str, Run]) -> None:
    assert len({tuple(titles(run, "q1", 10)) for run in runs.values()}) == 3


def test_only_letter_runs_survive_a_misspelling(runs: dict[str, Run]) -> None:
    assert all("Rain Jacket" in title for title in titles(runs["chargram"], "q2"))
    assert "Rain Pants" in " ".join(titles(runs["tfidf"], "q2", 10))


def test_stems_find_the_singular(runs: dict[str, Run]) -> None:
    assert all("Tent" in title for title in titles(runs["bm25"], "q5"))
    assert titles(runs["tfidf"], "q5") == []


def test_a_query_without_words_finds_nothing(runs: dict[str, Run]) -> None:
    assert all(run.ranking("q4") == [] for run in runs.values())


def test_the_runs_are_the_same_again(runs: dict[str, Run]) -> None:
    assert build_runs(QUERIES, documents()) == list(runs.values())
