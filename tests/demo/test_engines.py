from __future__ import annotations

import pytest

from demo.catalogue import documents
from demo.engines import DEPTH, runs
from judgments.core.run import Run

QUERIES = {"q1": "tent", "q2": "rain jaket", "q3": "insulated flask", "q4": "!!!", "q5": "tents", "q6": "socks merino"}


@pytest.fixture(scope="module")
def found() -> dict[str, Run]:
    return {run.name: run for run in runs(QUERIES, documents())}


def titles(run: Run, query_id: str, k: int = 5) -> list[str]:
    names = {document["doc_id"]: document["title"] for document in documents()}
    return [names[doc_id] for doc_id in run.ranking(query_id)[:k]]


def test_three_systems_return_fifty_documents_at_most(found: dict[str, Run]) -> None:
    assert list(found) == ["bm25", "tfidf", "chargram"]
    for run in found.values():
        assert all(1 <= len(run.ranking(query_id)) <= DEPTH for query_id in run.query_ids)
        assert run.scores.min() > 0


def test_the_systems_differ(found: dict[str, Run]) -> None:
    assert len({tuple(titles(run, "q1", 10)) for run in found.values()}) == 3


def test_only_letter_runs_survive_a_misspelling(found: dict[str, Run]) -> None:
    assert all("Rain Jacket" in title for title in titles(found["chargram"], "q2"))
    assert "Rain Pants" in " ".join(titles(found["tfidf"], "q2", 10))


def test_stems_find_the_singular(found: dict[str, Run]) -> None:
    assert all("Tent" in title for title in titles(found["bm25"], "q5"))
    assert titles(found["tfidf"], "q5") == []


def test_a_query_without_words_finds_nothing(found: dict[str, Run]) -> None:
    assert all(run.ranking("q4") == [] for run in found.values())


def test_the_runs_are_the_same_again(found: dict[str, Run]) -> None:
    assert runs(QUERIES, documents()) == list(found.values())
