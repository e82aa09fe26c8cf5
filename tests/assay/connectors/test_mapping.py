"""Tests of response mapping: id, score and text by settings, and a hit without an id is refused."""

from __future__ import annotations

from typing import Any

import pytest

from assay.connectors import EngineFault, Hit
from assay.connectors.reply_mapping import MISSING, Paths, at


def test_a_hit_with_everything() -> None:
    paths = Paths(
        "r.h", "_id", "_score", ("s.none", "s.title"), ("s.body", "s.more"), ("s.u",), ("s.i",), ("s", "rank")
    )
    source = {"title": ["Jacket"], "body": ["Dry.", "Warm."], "more": 5, "u": "https://a", "i": None, "price": 7.5}
    hit = {"_id": 17, "_score": 2, "s": source, "rank": 1}
    assert paths.read({"r": {"h": [hit]}}, 10) == [
        Hit("17", 2.0, "Jacket", "Dry.\nWarm.\n\n5", "https://a", "", {"price": 7.5, "rank": 1})
    ]


def test_no_more_than_was_requested() -> None:
    hits = [{"id": str(number)} for number in range(9)]
    assert [hit.doc_id for hit in Paths("", "id").read(hits, 3)] == ["0", "1", "2"]


@pytest.mark.parametrize("value", [None, True, 1.5, [], {}])
def test_an_id_that_is_none(value: Any) -> None:
    with pytest.raises(EngineFault, match="Hit 2 has no usable id at id; it has id, name"):
        Paths("hits", "id").read({"hits": [{"id": "d1"}, {"id": value, "name": "n"}]}, 10)


@pytest.mark.parametrize("value", ["", "x" * 501, "a\nb", "a\0", "\ud800"])
def test_an_id_that_no_file_can_carry(value: str) -> None:
    with pytest.raises(EngineFault, match="The id of hit 1"):
        Paths("", "id").read([{"id": value}], 10)


@pytest.mark.parametrize("reply", [None, 5, "text", {}, {"hits": {}}, {"hits": None}, []])
def test_a_reply_without_hits(reply: Any) -> None:
    with pytest.raises(EngineFault) as caught:
        Paths("hits", "id").read(reply, 10)
    assert caught.value.name == "reply"


@pytest.mark.parametrize("score", [None, "5", True, float("nan"), float("inf"), 10**400])
def test_a_score_that_is_none_is_no_score(score: Any) -> None:
    assert Paths("", "id", "score").read([{"id": "d1", "score": score}], 1)[0].score is None


def test_paths() -> None:
    value = {"a": [{"b.c": 1, "b": {"d": 2}}], "a.b": 3}
    assert at(value, "a.0.b.c") == 1
    assert at(value, "a.0.b.d") == 2
    assert at(value, "a.b") == 3
    assert at(value, "a.1") is MISSING
    assert at(value, "a.x") is MISSING
    assert at(value, "a.0.b.d.e") is MISSING
    assert at(None, "a") is MISSING
