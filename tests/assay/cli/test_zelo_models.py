"""Tests of ``assay zelo judge`` with models, and of zbench's files and metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from assay.core.errors import NotValid
from assay.llm.pairwise.benchmark_scores import accuracy, ndcg, recall
from tests.assay.conftest import Call
from tests.model_server import Answer, ModelServer, serving

WORTH = {"d0": 0, "d1": 1, "d2": 2, "d3": 3, "d4": 4}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model that prefers the document with the higher number, and likes the first place a little."""

    def answer(prompt: str, number: int) -> Answer:
        first, second = (int(part.split("worth ", 1)[1][0]) for part in prompt.split("The second document:"))
        score = max(-1.0, min(1.0, (second - first) / 4 - 0.1))
        return Answer(json.dumps({"reason": f"{first} or {second}", "score": score}))

    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with serving(answer) as model_server:
        yield model_server


def dataset(**more: Any) -> str:
    rows = [
        {
            "query": {"id": query, "query": "tents"},
            "documents": [
                {"id": doc, "content": f"A tent worth {worth}, {query}.", "metadata": {"page": 3}, **more}
                for doc, worth in WORTH.items()
            ],
        }
        for query in ("q1", "q2")
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_from_a_data_set_to_scores_grades_and_the_next_battles(assay: Call, server: ModelServer) -> None:
    Path("set.jsonl").write_text(dataset())
    ask = ("zelo", "judge", "set.jsonl", "--cycles", "2", "--both", "0.5", "--seed", "3", "--base-url", server.url)
    ask = (*ask, "--model", "one", "--model", "two", "--out", "fought.jsonl", "--price-in", "1", "--price-out", "1")
    dry = assay(*ask, "--dry-run")[1]
    assert (dry.splitlines()[0], server.requests) == ("models: 2", [])
    status, _, err = assay(*ask)
    assert status == 0, err
    rows = lines("fought.jsonl")
    assert len(rows) == len(server.requests) == len(lines("fought.ledger.jsonl"))
    assert {row["model"] for row in rows} == {"one", "two"}
    assert f"{len(rows)} answers from 2 models: {len(rows)} graded" in err
    # Whatever the order shown was, the better one has the score; in the file the score is as if a had been first.
    for row in rows:
        better = WORTH[row["b"]] > WORTH[row["a"]]
        assert (row["score"] > 0) == better
    assert any(row["swapped"] for row in rows)
    assert "the position alone decided 0 of " in err
    # The same command again asks nothing, and writes the same.
    before = len(server.requests)
    assert assay(*ask)[0] == 0
    assert len(server.requests) == before
    assert sorted(map(str, lines("fought.jsonl"))) == sorted(map(str, rows))

    status, _, err = assay("zelo", "fit", "fought.jsonl", "--annotate", "set.jsonl", "--out", "annotated.jsonl")
    assert status == 0, err
    first = lines("annotated.jsonl")[0]["documents"]
    assert [one["score"] for one in first] == sorted(one["score"] for one in first)
    assert first[0]["metadata"] == {"page": 3}
    Path("people.txt").write_text("".join(f"q1 0 {doc} {worth // 2}\n" for doc, worth in WORTH.items()))
    status, out, err = assay("zelo", "grades", "annotated.jsonl", "people.txt")
    assert (status, out.splitlines()[0], out.count("\n")) == (0, "q1 1 d0 0", 10), err
    assert [line.split()[3] for line in out.splitlines()[5:]] == sorted(
        line.split()[3] for line in out.splitlines()[5:]
    )
    status, out, _ = assay("zelo", "next", "fought.jsonl", "--most", "1")
    met = {(row["query_id"], *sorted((row["a"], row["b"]))) for row in rows}
    assert status == 0
    assert not met & {
        (row["query_id"], *sorted((row["a"], row["b"]))) for row in map(json.loads, out.splitlines())
    }  # fmt: skip


def test_failed_calls_have_no_score_and_are_reported(assay: Call, server: ModelServer) -> None:
    Path("set.jsonl").write_text(dataset())
    server.answer = lambda prompt, number: (
        Answer("I prefer A") if "worth 0, q1" in prompt else Answer('{"reason": "x", "score": 3.5}')
    )
    ask = ("zelo", "judge", "set.jsonl", "--model", "one", "--base-url", server.url, "--out", "fought.jsonl")
    status, _, err = assay(*ask, "--cycles", "1")
    rows = lines("fought.jsonl")
    failed = [row for row in rows if row["score"] is None]
    assert (status, len(rows), len(failed)) == (0, 10, 2)
    assert {row["reason"] for row in failed} == {"unparseable"}
    assert "2 answers without a score" in err
    # Numbers beyond the ends are cut to them, whichever was shown first.
    assert {abs(row["score"]) for row in rows if row["score"] is not None} == {1.0}
    server.answer = lambda prompt, number: Answer("no key", status=401)
    status, _, err = assay(*ask, "--cycles", "4")
    assert (status, err.count("\n")) == (2, 1)
    assert "status 401" in err


def test_battles_that_were_drawn_before_need_their_texts(assay: Call, server: ModelServer) -> None:
    Path("set.jsonl").write_text(dataset())
    assay("zelo", "pairs", "set.jsonl", "--cycles", "1", "--out", "drawn.jsonl")
    ask = ("zelo", "judge", "drawn.jsonl", "--model", "one", "--base-url", server.url, "--out", "fought.jsonl")
    assert "--texts FILE" in assay(*ask)[2]
    assert assay(*ask, "--texts", "set.jsonl")[0] == 0
    assert len(lines("fought.jsonl")) == len(lines("drawn.jsonl")) == 10


def test_scores_of_zbenchs_own_models_are_battles(assay: Call) -> None:
    def answer(score: float, thought: str) -> dict[str, Any]:
        return {"score": score, "thought": thought}

    pair = {"pair_id": "p", "query_id": "q1", "query": "tents"}
    pair |= {
        f"document_{side}": {"document_id": doc, "metadata": {}, "content": ""}
        for side, doc in (("a", "x"), ("b", "y"))
    }
    scores = {
        "pair": pair,
        "openai_score": answer(0.5, "y is larger"),
        "gemini_score": answer(-1.5, "(SWAPPED)\nx is drier"),
        "anthropic_score": answer(0.0, ""),
    }
    Path("ai_scores.json").write_text(json.dumps({"scored_pairs": [scores]}, indent=4))
    status, out, err = assay("zelo", "fit", "ai_scores.json", "--method", "zbench")
    assert (status, len(out.splitlines())) == (0, 2)
    assert "1 failed call counts as a vote for the first document" in err
    assert "1 row without a score" in assay("zelo", "fit", "ai_scores.json")[2]
    Path("set.jsonl").write_text(dataset().replace('"d0"', '"x"').replace('"d1"', '"y"'))
    for method, queries in (("zbench", ["q1", "q2"]), ("map", ["q1"])):
        fit = (
            "zelo",
            "fit",
            "ai_scores.json",
            "--method",
            method,
            "--annotate",
            "set.jsonl",
            "--out",
            "annotated.jsonl",
        )
        assert "no score for 1 query of set.jsonl" in assay(*fit)[2]
        assert [row["query"]["id"] for row in lines("annotated.jsonl")] == queries
        assert sum(one["score"] for one in lines("annotated.jsonl")[0]["documents"]) == pytest.approx(0, abs=1e-9)
    assert assay("convert", "ai_scores.json", "--to", "battles-jsonl", "--out", "battles.jsonl")[0] == 0
    assert [row["score"] for row in lines("battles.jsonl")] == [0.5, -1.0, None]
    Path("odd.json").write_text('{"scored_pairs": [{"pair": {}}]}')
    assert assay("zelo", "fit", "odd.json")[0] == 2


def test_zbenchs_files_are_known_by_their_content(assay: Call) -> None:
    Path("set.jsonl").write_text(dataset())
    Path("annotated.jsonl").write_text(dataset(score=1.5))
    for name in ("set.jsonl", "annotated.jsonl"):
        status, out, _ = assay("validate", name)
        assert (status, "zbench-" in out) == (0, True)
        assert assay("convert", name, "--to", "pairs-jsonl", "--out", "pairs.jsonl")[0] == 0
        assert lines("pairs.jsonl")[4]["text"] == "A tent worth 4, q1."
        assert assay("convert", "pairs.jsonl", "--to", "zbench-dataset", "--out", "again.jsonl")[0] == 0
        assert lines("again.jsonl")[1]["documents"][4] == {"id": "d4", "content": "A tent worth 4, q2.", "metadata": {}}
    assert assay("convert", "annotated.jsonl", "--to", "scores-jsonl", "--out", "scores.jsonl")[0] == 0
    assert lines("scores.jsonl")[9] == {"query_id": "q2", "doc_id": "d4", "score": 1.5, "se": None}
    status, _, err = assay("convert", "scores.jsonl", "--to", "zbench-annotated")
    assert (status, "assay zelo fit --annotate" in err) == (2, True)
    Path("odd.jsonl").write_text(dataset() + '{"query": {"id": "q3"}, "documents": []}\n')
    status, out, _ = assay("validate", "odd.jsonl")
    assert (status, "query.query is not text" in out) == (1, True)


def test_figures_are_those_of_others() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        truth, mine = rng.normal(size=12), rng.normal(size=12)
        assert ndcg(truth, mine) == pytest.approx(ndcg_score([np.exp(truth)], [mine]))
        right = [
            (truth[a] - truth[b]) * (mine[a] - mine[b]) > 0 for a in range(12) for b in range(a)
        ]  # fmt: skip
        assert accuracy(truth, mine) == pytest.approx(np.mean(right))
        best = set(np.argsort(truth)[-3:]) & set(np.argsort(mine)[-5:])
        assert recall(truth, mine, 5, 3) == pytest.approx(len(best) / 3)
    with pytest.raises(NotValid):
        ndcg([1.0], [1.0, 2.0])


def test_a_reranker_becomes_a_run_and_is_compared_with_scores(assay: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [json.loads(line) for line in dataset().splitlines()]
    for row in rows:
        for at, one in enumerate(row["documents"]):
            one["score"] = float(at)
    Path("truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("own_scorers.py").write_text(
        "def by_worth(query, documents):\n    return [float(text.split('worth ')[1][0]) for text in documents]\n"
        "def worst(query, documents):\n    return [-score for score in by_worth(query, documents)]\n"
        "def short(query, documents):\n    return [1.0]\n"
    )
    assert assay("zelo", "rerank", "truth.jsonl", "--scorer", "own_scorers:by_worth", "--out", "best.run")[0] == 0
    assert assay("zelo", "rerank", "truth.jsonl", "--scorer", "own_scorers:worst", "--out", "worst.run")[0] == 0
    assert assay("validate", "best.run", "--format", "trec-run")[0] == 0
    results = {}
    for name in ("best", "worst"):
        status, out, _ = assay("zelo", "benchmark", "truth.jsonl", f"{name}.run", "-k", "2", "--format", "json")
        results[name] = json.loads(out)["means"]
        assert status == 0
    assert results["best"] == {"ndcg": 1.0, "accuracy": 1.0, "recall@2": 1.0}
    assert (results["worst"]["accuracy"], results["worst"]["recall@2"]) == (0.0, 0.0)
    out = assay("zelo", "benchmark", "truth.jsonl", "worst.run")[1]
    assert "nDCG by query" in out
    for scorer, message in (
        ("own_scorers:short", "finite score for each of the 5 documents of q1"),
        ("own_scorers:none", "none"),
        ("other", "unknown reranker"),
    ):
        status, _, err = assay("zelo", "rerank", "truth.jsonl", "--scorer", scorer)
        assert (status, err.count("\n")) == (2, 1)
        assert message in err
