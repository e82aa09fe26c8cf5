"""Tests of ``assay decide``: output, trace and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.assay.conftest import Call

QUERIES = [f"q{(n * 37) % 80:02}" for n in range(80)]


@pytest.fixture(autouse=True)
def _files(assay: Call) -> None:
    Path("qrels.txt").write_text("".join(f"{query} 0 good 1\n" for query in QUERIES))
    for name, ranks in (("old", (2, 3)), ("new", (1, 1, 4))):
        lines = []
        for n, query in enumerate(QUERIES):
            documents = ["a", "b", "c", "d"]
            documents.insert(ranks[n % len(ranks)] - 1, "good")
            lines += [f"{query} Q0 {doc_id} {at} {9 - at} x\n" for at, doc_id in enumerate(documents)]
        Path(f"{name}.run").write_text("".join(lines))


def as_json(assay: Call, *words: str) -> dict[str, Any]:
    status, out, _ = assay("decide", "qrels.txt", "old.run", "new.run", "--format", "json", *words)
    assert status == 0
    result: dict[str, Any] = json.loads(out)
    return result


def test_the_json_of_a_verdict(assay: Call) -> None:
    result = as_json(assay, "-m", "RR@5")
    assert result["verdict"] == "better"
    assert {"difference", "low", "high", "queries", "judgments", "expected_more", "method", "alpha", "delta"} <= set(
        result
    )
    assert (result["method"], result["alpha"], result["delta"]) == ("asymptotic", 0.05, 0.02)
    assert (result["baseline"], result["candidate"], result["metric"]) == ("old", "new", "RR@5")
    assert len(result["files"]["candidate"]["sha256"]) == 64


@pytest.mark.parametrize("words", [(), ("--method", "betting"), ("--method", "group", "--planned", "80")])
def test_the_trace_has_a_line_for_each_query_in_the_order_of_the_qrels(assay: Call, words: tuple[str, ...]) -> None:
    result = as_json(assay, "--trace", "trace.jsonl", *words)
    lines = [json.loads(line) for line in Path("trace.jsonl").read_text().splitlines()]
    assert [line["query_id"] for line in lines] == QUERIES
    assert [line["n"] for line in lines] == list(range(1, 81))
    if result["verdict"] != "undecided":
        (first, *_) = [line for line in lines if line["verdict"] != "undecided"]
        assert (first["n"], first["mean"], first["low"]) == (result["queries"], result["difference"], result["low"])


def test_an_order_file(assay: Call) -> None:
    Path("order.txt").write_text("\n".join([*sorted(QUERIES), "later", ""]))
    as_json(assay, "--order", "order.txt", "--trace", "trace.jsonl")
    lines = [json.loads(line) for line in Path("trace.jsonl").read_text().splitlines()]
    assert [line["query_id"] for line in lines] == sorted(QUERIES)


def test_a_weights_file(assay: Call) -> None:
    rows = [f"{query},{query},{2 if n % 2 else 1},1\n" for n, query in enumerate(QUERIES)]
    Path("queries.csv").write_text("query_id,query,weight,probability\n" + "".join(rows))
    assert as_json(assay, "--weights", "queries.csv")["difference"] != as_json(assay)["difference"]


def test_the_text_states_the_verdict_first(assay: Call) -> None:
    status, out, _ = assay("decide", "qrels.txt", "old.run", "new.run", "-m", "RR")
    assert (status, out.partition(":")[0]) == (0, "better")
    status, out, _ = assay("decide", "qrels.txt", "old.run", "old.run")
    assert (status, out.partition(":")[0]) == (0, "equivalent")


@pytest.mark.parametrize(
    "words",
    [
        ("--alpha", "2"),
        ("--delta", "0"),
        ("--method", "group"),
        ("--method", "group", "--planned", "5"),
        ("-m", "DCG", "--method", "betting"),
        ("-m", "nDCG@10 RR"),
        ("--order", "absent.txt"),
        ("--order", "twice.txt"),
        ("--order", "short.txt"),
        ("--order", "empty.txt"),
    ],
)
def test_bad_input_is_refused_in_one_line(assay: Call, words: tuple[str, ...]) -> None:
    Path("twice.txt").write_text("q01\nq02\nq01\n")
    Path("short.txt").write_text("q01\n")
    Path("empty.txt").write_text("\n\n")
    status, out, err = assay("decide", "qrels.txt", "old.run", "new.run", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_an_option_without_effect_is_named(assay: Call) -> None:
    _, _, err = assay("decide", "qrels.txt", "old.run", "new.run", "--planned", "90")
    assert "--planned 90" in err
