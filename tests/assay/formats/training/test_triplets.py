"""Tests of training files: bytes, both shapes of triplets, and leaks between positives and negatives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.core.errors import NotValid
from assay.formats import FORMATS, sniff
from assay.formats.row_types import Passage, TripletRow
from tests.assay.formats.table_bytes import written

ROW = TripletRow("q1", "shoes", (Passage("d1", "A shoe."),), (Passage("d2", "A bag."), Passage("d3", "A lace.")))
FLAT = (
    b'{"query": "shoes", "positive": "A shoe.", "negative": "A bag.", "query_id": "q1", "positive_id": "d1", '
    b'"negative_id": "d2"}\n'
    b'{"query": "shoes", "positive": "A shoe.", "negative": "A lace.", "query_id": "q1", "positive_id": "d1", '
    b'"negative_id": "d3"}\n'
)
FLAG = (
    b'{"query": "shoes", "pos": ["A shoe."], "neg": ["A bag.", "A lace."], "query_id": "q1", "pos_id": ["d1"], '
    b'"neg_id": ["d2", "d3"]}\n'
)


def read(name: str, *objects: dict[str, Any]) -> Any:
    return FORMATS[name].read("".join(f"{json.dumps(one)}\n" for one in objects).encode(), path="a")


def codes(name: str, **of: Any) -> set[str]:
    return set(
        read(
            name, {"query": "shoes"} | of, {"query": "x", "pos": ["y"], "neg": ["z"], "positive": "y", "negative": "z"}
        ).report.codes
    ) - {"W41"}


def test_both_shapes_have_the_same_content():
    assert (written("triplets-jsonl", [ROW]), written("flagembedding-jsonl", [ROW])) == (FLAT, FLAG)
    assert written("flagembedding-jsonl", FORMATS["triplets-jsonl"].read(FLAT, path="a").rows) == FLAG
    assert written("triplets-jsonl", FORMATS["flagembedding-jsonl"].read(FLAG, path="a").rows) == FLAT


def test_files_of_other_tools_are_detected_and_read():
    anchors = {"anchor": "shoes", "positive": "A shoe.", "negative": "A bag."}
    assert sniff(json.dumps(anchors).encode()) == "triplets-jsonl"
    (row,) = read("triplets-jsonl", anchors).rows
    assert (row.query, row.negatives[0].text) == ("shoes", "A bag.")
    assert row.positives[0].doc_id != row.negatives[0].doc_id
    flag = {
        "query": "shoes",
        "pos": ["a"],
        "neg": ["b"],
        "pos_scores": [3.5],
        "neg_scores": [1],
        "prompt": "p",
        "type": "t",
    }
    assert sniff(json.dumps(flag).encode()) == "flagembedding-jsonl"
    result = read("flagembedding-jsonl", flag)
    assert not result.report.codes
    assert json.loads(written("flagembedding-jsonl", result.rows)).items() >= flag.items()
    pairs = {"sentence1": "shoes", "sentence2": "A shoe.", "score": 0.8}
    assert sniff(json.dumps(pairs).encode()) == "graded-pairs-jsonl"
    assert read("graded-pairs-jsonl", pairs).rows[0].score == 0.8


@pytest.mark.parametrize(
    ("of", "code"),
    [
        ({"pos": ["a"], "neg": ["a"]}, "E29"),
        ({"pos": ["a"], "neg": ["b"], "pos_id": ["d1"], "neg_id": ["d1"]}, "E29"),
        ({"pos": ["a"], "neg": ["b"], "pos_id": ["d1", "d2"]}, "E23"),
        ({"pos": ["a"], "neg": ["b"], "neg_scores": ["1"]}, "E12"),
        ({"pos": ["a"], "neg": ["b"], "neg_judged": [1]}, "E23"),
        ({"pos": [], "neg": ["b"]}, "E11"),
        ({"pos": [" "], "neg": ["b"]}, "E11"),
        ({"pos": "a", "neg": ["b"]}, "E23"),
        ({"pos": ["a"], "neg": ["b"], "query": None}, "E23"),
        ({"pos": ["a"], "neg": ["b"], "query": " "}, "E11"),
        ({"pos": ["a"], "neg": ["b"], "pos_id": [7]}, "W42"),
    ],
)
def test_odd_lines_of_flagembedding(of: dict[str, Any], code: str):
    assert codes("flagembedding-jsonl", **of) == {code}


@pytest.mark.parametrize(
    ("of", "code"),
    [
        ({"positive": "a", "negative": "a"}, "E29"),
        ({"positive": "a", "negative": "b", "positive_id": "d1", "negative_id": "d1"}, "E29"),
        ({"positive": "a"}, "E23"),
        ({"positive": "a", "negative": "b", "negative_judged": "no"}, "E23"),
    ],
)
def test_odd_triplets(of: dict[str, Any], code: str):
    assert codes("triplets-jsonl", **of) == {code}


def test_leak_across_lines_is_not_written():
    other = TripletRow("q1", "shoes", (Passage("d2", "A bag."),), (Passage("d5", "A hat."),))
    with pytest.raises(NotValid, match="'d2'"):
        written("triplets-jsonl", [ROW, other])


def test_texts_without_ids():
    member = FORMATS["triplets-jsonl"]
    import io

    stream = io.BytesIO()
    assert member.write is not None
    member.write([ROW], stream, ids=False)
    assert [list(json.loads(line)) for line in stream.getvalue().splitlines()] == [
        ["query", "positive", "negative"]
    ] * 2
    again = io.BytesIO()
    member.write(member.read(stream.getvalue(), path="a").rows, again, ids=False)
    assert again.getvalue() == stream.getvalue()
