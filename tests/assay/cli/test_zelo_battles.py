"""Tests of ``assay zelo matrix`` and ``assay zelo battles``."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from tests.assay.conftest import Call


def battle(a: str, b: str, score: float | None, model: str = "m", query: str = "q1", **more: object) -> str:
    return json.dumps({"query_id": query, "a": a, "b": b, "score": score, "model": model, **more}) + "\n"


THREE = (
    battle("x", "y", 1.0, reason="y names the size")
    + battle("x", "y", 0.5, "n", swapped=True, reason="y\n\x1b[31mis dry")
    + battle("z", "x", 1.0, reason="only x is a tent")
    + battle("y", "x", None, "n", reason="unparseable")
    + battle("z", "y", 0.0)
)


def test_the_battles_of_a_document_from_its_own_side(assay: Call) -> None:
    Path("fought.jsonl").write_text(THREE)
    status, out, err = assay("zelo", "battles", "fought.jsonl", "--document", "x")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("q1  x: score ")
    assert lines[0].endswith("rank 2 of 3; 1 won, 2 lost, 1 unanswered")
    # The best opponent first; x was shown first where the file has it as a and not swapped.
    assert lines[1].startswith("  against y (score ")
    assert lines[2:5] == [
        "    -1.00  m, shown first: y names the size",
        "    -0.50  n, shown second: y [31mis dry",
        "     none  n, shown second: unparseable",
    ]
    assert lines[6] == "    +1.00  m, shown second: only x is a tent"
    record = json.loads(assay("zelo", "battles", "fought.jsonl", "--document", "x", "--format", "json")[1])
    assert (record[0]["won"], record[0]["battles"][0]["score"], record[0]["battles"][0]["shown"]) == (1, -1.0, "first")


def test_a_document_is_listed_in_each_of_its_queries(assay: Call) -> None:
    Path("fought.jsonl").write_text(THREE + battle("x", "w", 1.0, query="q2") + battle("v", "w", 1.0, query="q3"))
    out = assay("zelo", "battles", "fought.jsonl", "--document", "x")[1]
    assert [line[:2] for line in out.splitlines() if line.startswith("q")] == ["q1", "q2"]
    out = assay("zelo", "battles", "fought.jsonl", "--document", "x", "--query", "q2")[1]
    assert [line[:2] for line in out.splitlines() if line.startswith("q")] == ["q2"]
    for words, message in (
        (("--document", "nobody"), "in no battle"),
        (("--document", "w", "--query", "q1"), "in no battle of q1"),
        ((), "--document ID"),
    ):
        status, _, err = assay("zelo", "battles", "fought.jsonl", *words)
        assert (status, message in err, err.count("\n")) == (2, True, 1)


def test_the_matrix_is_a_picture_of_one_query(assay: Call) -> None:
    Path("fought.jsonl").write_text(THREE)
    status, _, err = assay("zelo", "matrix", "fought.jsonl", "--out", "x.svg")
    assert (status, err) == (0, "3 documents of q1, 4 answers, best document at the top\n")
    texts = [text.text or "" for text in ElementTree.parse("x.svg").getroot().iter("{http://www.w3.org/2000/svg}text")]
    assert len(texts) == 5
    svg = Path("x.svg").read_text()
    assert svg.index(">y <") < svg.index(">x <") < svg.index(">z <")
    Path("two.jsonl").write_text(THREE + battle("x", "w", 1.0, query="q2"))
    assert "name one with --query" in assay("zelo", "matrix", "two.jsonl")[2]
    assert assay("zelo", "matrix", "two.jsonl", "--query", "q2", "--out", "y.svg")[0] == 0
    Path("none.jsonl").write_text(battle("x", "y", None))
    assert assay("zelo", "matrix", "none.jsonl")[0] == 2
