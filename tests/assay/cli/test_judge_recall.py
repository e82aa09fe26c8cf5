"""Tests of recall of expected answers in ``assay judge``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.assay.conftest import Call
from tests.assay.llm.judges.test_token_overlap import EXPECTED, QUERY, RETRIEVED
from tests.model_server import Answer, serving

JUDGE = ("judge", "pairs.jsonl", "--judge", "token_overlap", "--min-tokens", "1", "--threshold", "0.6")


def write(rows: list[dict[str, Any]]) -> None:
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def rows(**more: Any) -> list[dict[str, Any]]:
    documents = [("doc_456", RETRIEVED[1], 2), ("doc_123", RETRIEVED[0], 1)]
    of = {"query_id": "q1", "query": QUERY, "expected": list(EXPECTED)}
    return [{**of, "doc_id": doc_id, "text": text, "rank": rank, **more} for doc_id, text, rank in documents]


def means(out: str) -> dict[str, tuple[str, str]]:
    """Mean and queries by ranking."""
    lines = [line.split() for line in out.splitlines()[1:] if not line.startswith("-")]
    return {line[0]: (line[-2], line[-1]) for line in lines}


def test_the_worked_example(assay: Call) -> None:
    write(rows())
    status, out, err = assay(*JUDGE, "--out", "labels.jsonl", "-k", "2")
    assert (status, err) == (0, "2 pairs judged: 2 graded\n")
    assert out.splitlines()[0].split() == ["run", "metric", "match", "mean", "queries"]
    assert "recall@2" in out
    assert means(out) == {"pairs.jsonl": ("0.5000", "1")}
    # The labels are what they are without it, and stand where they stood; the recall is then told beside them.
    Path("good.run").write_text("q1 Q0 doc_123 1 0.95 x\nq1 Q0 doc_456 2 0.87 x\n")
    Path("bad.run").write_text("q1 Q0 doc_456 1 0.95 x\nq1 Q0 doc_123 2 0.87 x\n")
    _, out, err = assay(*JUDGE, "--run", "good.run", "--run", "late=bad.run", "-k", "1")
    assert out == Path("labels.jsonl").read_text()
    assert means(err.split("graded\n")[1]) == {"good": ("0.5000", "1"), "late": ("0.0000", "1")}


def test_a_text_counts_for_the_first_answer_or_for_all(assay: Call) -> None:
    write(rows(expected=["a tent", "tent", "stove"], text="A tent for two")[:1])
    results = {}
    for match in ("first", "all"):
        _, out, _ = assay(*JUDGE, "--out", "labels.jsonl", "--match", match)
        results[match] = means(out)["pairs.jsonl"][0]
    assert results == {"first": "0.3333", "all": "0.6667"}


def test_unknown_documents_are_reported_and_missing_ones_do_not_match(assay: Call) -> None:
    write([*rows(), *rows(query_id="q2"), *rows(query_id="q3"), *rows(query_id="q4", expected="")])
    ranked = [("q1", "doc_123"), ("q2", "elsewhere"), ("q2", "doc_123"), ("q4", "doc_123"), ("q9", "doc_123")]
    Path("x.run").write_text("".join(f"{q} Q0 {d} {n} {9 - n} x\n" for n, (q, d) in enumerate(ranked, 1)))
    _, out, err = assay(*JUDGE, "--out", "labels.jsonl", "--run", "x.run")
    # q1 has the half, q3 returned nothing, q2 a document of which nothing is known, and q4 expects nothing.
    assert means(out) == {"x": ("0.2500", "2")}
    assert "note: x: no recall for 1 query, because a document in the top 10 is not among the pairs\n" in err


def test_recall_makes_no_further_calls(assay: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    write(rows())
    judge = ("judge", "pairs.jsonl", "--judge", "expected_answer", "--model", "m", "--out", "labels.jsonl")

    def answer(prompt: str, number: int) -> Answer:
        return Answer("YES, it does." if RETRIEVED[0] in prompt and "accuracy" in prompt else "NO.")

    with serving(answer) as server:
        _, out, err = assay(*judge, "--base-url", server.url, "-k", "2")
        assert means(out) == {"pairs.jsonl": ("0.5000", "1")}, err
        assert len(server.requests) == 4
        assert means(assay(*judge, "--base-url", server.url, "-k", "2", "--resume")[1]) == means(out)
        assert len(server.requests) == 4
        server.answer = lambda prompt, number: Answer("Perhaps.")
        _, out, err = assay(*judge[:-1], "other.jsonl", "--base-url", server.url, "-k", "2")
    assert means(out) == {"pairs.jsonl": ("0.0000", "1")}
    assert "note: 4 unreadable or missing answers from the model, counted as no match\n" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*JUDGE, "-k", "0"), "-k is 0"),
        ((*JUDGE, "--match", "all"), "no pair has a rank"),
        ((*JUDGE, "--match", "some"), "--match"),
        ((*JUDGE, "--run", "nothing.run"), "nothing.run"),
        (
            ("judge", "pairs.jsonl", "--judge", "graded", "--model", "m", "--base-url", "http://x", "-k", "2"),
            "-k applies to",
        ),
        (("judge", "pairs.jsonl", "--judge", "ensemble", "--of", "a", "--match", "all"), "--match applies to judges"),
    ],
)
def test_mistakes_end_with_2_and_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    status, out, err = assay(*words)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
