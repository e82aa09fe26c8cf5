"""Tests of candidates: pairs of runs from which pools are chosen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.core.run import Run
from assay.core.text_column import Texts
from assay.strategies import candidates
from assay.strategies.candidates import Candidates

IDS = st.text("abé𝄞1", min_size=1, max_size=12)
RUNS = st.lists(
    st.dictionaries(IDS, st.lists(IDS, min_size=1, max_size=8, unique=True), max_size=5), min_size=1, max_size=4
)


def run_of(rankings: dict[str, list[str]], name: str) -> Run:
    return Run.from_dict({q: {d: -float(at) for at, d in enumerate(docs)} for q, docs in rankings.items()}, name)


def naive(rankings: list[dict[str, list[str]]], depth: int | None) -> dict[tuple[str, str], dict[str, int]]:
    by_key: dict[tuple[str, str], dict[str, int]] = {}
    for at, run in enumerate(rankings):
        for query_id, docs in run.items():
            for rank, doc_id in enumerate(docs[:depth], 1):
                by_key.setdefault((query_id, doc_id), {})[f"r{at}"] = rank
    return by_key


def table_of(table: Candidates) -> dict[tuple[str, str], dict[str, int]]:
    pairs = [(table.query_ids[q], d) for q, d in zip(table.query_of.tolist(), table.doc_ids, strict=True)]
    return {pair: dict(table.where(at)) for at, pair in enumerate(pairs)}


@settings(max_examples=50, deadline=None)
@given(RUNS, st.sampled_from([None, 1, 3]), st.sampled_from([1, 4, 500]))
def test_the_union_is_that_of_plain_dictionaries(
    rankings: list[dict[str, list[str]]], depth: int | None, block: int
) -> None:
    runs = [run_of(run, f"r{at}") for at, run in enumerate(rankings)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "BLOCK", block)
        table = Candidates.of(reversed(runs), depth)
    expected = naive(rankings, depth)
    assert table_of(table) == expected
    assert list(table.query_ids) == sorted({query_id for query_id, _ in expected}, key=str.encode)
    known = list(expected)
    assert table.find(known).tolist() == [list(table_of(table)).index(pair) for pair in known]
    near, rows = Candidates.of(runs).within(depth or 9)
    assert table_of(near) == expected
    assert [Candidates.of(runs).doc_ids[row] for row in rows.tolist()] == list(near.doc_ids)


def test_missing_documents_are_not_detected() -> None:
    table = Candidates.of([run_of({"q1": ["d1"]}, "a")])
    assert table.find([("q1", "d1"), ("q1", "d2"), ("q2", "d1")]).tolist() == [0, -1, -1]
    assert Candidates.of([]).find([("q1", "d1")]).tolist() == [-1]


def test_given_pairs_have_no_rank_unless_a_run_returns_them() -> None:
    table = Candidates.of([run_of({"q1": ["d1"]}, "a")], also=[("q2", "d9"), ("q1", "d1"), ("q1", "d0")])
    assert table_of(table) == {("q1", "d1"): {"a": 1}, ("q1", "d0"): {}, ("q2", "d9"): {}}
    assert dict(zip(table.doc_ids, table.best_rank.tolist(), strict=True)) == {"d1": 1, "d0": 0, "d9": 0}


def test_documents_with_one_key_are_distinguished_by_another_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Texts, "keys", lambda self: np.array([5 + (d == "b") for d in self], dtype=np.uint64))
    table = Candidates.of([run_of({"q1": ["a", "b"]}, "x"), run_of({"q1": ["b"]}, "y")])
    assert table.keyed.salt > 0
    assert table_of(table) == {("q1", "a"): {"x": 1}, ("q1", "b"): {"x": 2, "y": 1}}


def test_a_pair_keeps_its_lot_when_others_come() -> None:
    few = Candidates.of([run_of({"q1": ["d1", "d2"]}, "a")])
    more = Candidates.of([run_of({"q0": ["d1"], "q1": ["d3", "d2", "d1"]}, "a")])
    lots = dict(zip(table_of(more), more.lots(3, "x").tolist(), strict=True))
    assert {pair: lots[pair] for pair in table_of(few)} == dict(
        zip(table_of(few), few.lots(3, "x").tolist(), strict=True)
    )
    assert len(set(lots.values())) == 4
    assert set(few.lots(4, "x").tolist()).isdisjoint(few.lots(3, "x").tolist())


def test_only_the_queries_that_are_wanted_are_held() -> None:
    runs = [run_of({"q1": ["d1"], "q2": ["d1"]}, "a")]
    assert list(table_of(Candidates.of(runs, queries=frozenset({"q2", "q7"})))) == [("q2", "d1")]


def test_two_runs_of_one_name_are_refused() -> None:
    with pytest.raises(NotValid, match="Two runs are named 'a'"):
        Candidates.of([run_of({"q1": ["d1"]}, "a"), run_of({}, "a")])
