"""Tests of pools: strategies, budgets and reasons."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from assay.core.errors import NotValid, UnknownName
from assay.core.run import Run
from assay.formats.row_types import RunRow
from assay.formats.trec_run import RunRows
from assay.strategies import STRATEGIES
from assay.strategies.candidates import Candidates
from assay.strategies.chosen_pairs import Pool
from assay.strategies.pool import build_pool
from assay.strategies.pool_preview import preview
from assay.strategies.rbp import weights

ELECTRONICS = Path(__file__).parents[4] / "shared/data/demo-electronics"

BM25 = Run.from_dict({"q1": {"d1": 9.1, "d2": 8.7, "d3": 8.7}}, "bm25")
NEURAL = Run.from_dict({"q1": {"d4": 3, "d1": 2, "d5": 1}}, "neural")
DEEP = [Run.from_dict({q: {f"{q}-{name}{n}": 100 - n for n in range(40)} for q in ("q1", "q2")}, name) for name in "ab"]


def by_rank(rows: list[tuple[str, str, int]], name: str) -> Run:
    values = [RunRow(query_id, doc_id, 0.0, rank, "", None) for query_id, doc_id, rank in rows]
    return RunRows.of(values).by_rank(name)


def docs(pool: Pool) -> list[str]:
    return [pair.doc_id for pair in pool.pairs]


def test_the_worked_example() -> None:
    pool = build_pool([BM25, NEURAL], "depth", {"depth": 3})
    assert sorted(docs(pool)) == ["d1", "d2", "d3", "d4", "d5"]
    (first,) = [pair for pair in pool.pairs if pair.doc_id == "d1"]
    assert (first.best_rank, first.runs, first.why) == (1, (("bm25", 1), ("neural", 2)), "depth")


def test_ties_follow_trec_evals_rule() -> None:
    assert sorted(docs(build_pool([BM25], "depth", {"depth": 2}))) == ["d1", "d3"]


def test_depth_counts_by_rank_when_the_run_is_ordered_by_rank() -> None:
    run = by_rank([("q1", "d1", 1), ("q1", "d2", 2), ("q1", "d3", 3)], "bm25")
    assert docs(build_pool([run], "depth", {"depth": 2})) == ["d1", "d2"]


def test_pairs_go_by_best_rank_and_steps_count() -> None:
    pool = build_pool(DEEP, "depth", {"depth": 5})
    for query_id in ("q1", "q2"):
        pairs = [pair for pair in pool.pairs if pair.query_id == query_id]
        assert [pair.step for pair in pairs] == list(range(1, 11))
        assert [pair.best_rank for pair in pairs] == sorted(pair.best_rank or 0 for pair in pairs)


def test_the_seed_orders_equals_and_nothing_else() -> None:
    pools = [build_pool(DEEP, "depth", {"depth": 10}, seed=seed) for seed in (1, 1, 2)]
    assert pools[0] == pools[1]
    assert docs(pools[0]) != docs(pools[2])
    assert set(docs(pools[0])) == set(docs(pools[2]))


def test_the_order_of_runs_does_not_matter() -> None:
    assert build_pool([BM25, NEURAL]) == build_pool([NEURAL, BM25])


def test_rbp_weight_by_hand() -> None:
    assert weights(0.8, 3) == pytest.approx([0.2, 0.16, 0.128])
    table = Candidates.of([BM25, Run.from_dict({"q1": {"d2": 1}}, "other")])
    mapping = dict(zip(table.doc_ids, table.sums(weights(0.5, 50)), strict=True))
    assert mapping == pytest.approx({"d1": 0.5, "d3": 0.25, "d2": 0.125 + 0.5})


def test_rbp_puts_what_many_runs_return_first() -> None:
    third = Run.from_dict({"q1": {"d9": 2, "d1": 1}}, "third")
    pool = build_pool([BM25, NEURAL, third], "rbp", budget=2)
    assert docs(pool)[0] == "d1"
    assert (len(pool), pool.over_budget) == (2, 4)


def test_rbp_without_budget_is_the_depth_pool_in_another_order() -> None:
    assert set(docs(build_pool(DEEP, "rbp", {"depth": 7}))) == set(docs(build_pool(DEEP, "depth", {"depth": 7})))


def test_a_list_is_taken_as_given_and_once() -> None:
    given = [("q1", "d9"), ("q1", "d1"), ("q1", "d9"), {"query_id": "q0", "doc_id": "d1"}]
    pool = build_pool([BM25], "list", {"pairs": given})
    assert [(p.query_id, p.doc_id, p.best_rank) for p in pool.pairs] == [
        ("q0", "d1", None),
        ("q1", "d9", None),
        ("q1", "d1", 1),
    ]


def test_a_list_needs_no_run() -> None:
    assert len(build_pool([], "list", {"pairs": [("q1", "d1")]})) == 1


def test_the_budget_is_per_query() -> None:
    pool = build_pool(DEEP, "depth", {"depth": 10}, budget=3)
    assert [pair.query_id for pair in pool.pairs] == ["q1"] * 3 + ["q2"] * 3
    assert pool.over_budget == 34


def test_judged_pairs_are_left_out_and_spend_no_budget() -> None:
    pool = build_pool([BM25], "depth", {"depth": 3}, judged=[("q1", "d1")], budget=2)
    assert docs(pool) == ["d3", "d2"]
    assert pool.judged == 1


def test_queries_can_be_chosen() -> None:
    assert {pair.query_id for pair in build_pool(DEEP, queries={"q2"}, residual=2).pairs} == {"q2"}


def test_the_residual_is_drawn_beyond_the_pool_with_its_probability() -> None:
    pool = build_pool(DEEP, "depth", {"depth": 10}, residual=6, seed=4)
    rest = [pair for pair in pool.pairs if pair.why == "residual"]
    assert len(rest) == 12
    assert {pair.probability for pair in rest} == {6 / 60}
    assert all((pair.best_rank or 0) > 10 for pair in rest)
    assert len({(pair.query_id, pair.doc_id) for pair in pool.pairs}) == len(pool)
    assert [pair.step for pair in pool.pairs if pair.query_id == "q1"] == list(range(1, 27))


def test_a_small_rest_is_taken_whole() -> None:
    pool = build_pool([BM25], "depth", {"depth": 2}, residual=10)
    (rest,) = [pair for pair in pool.pairs if pair.why == "residual"]
    assert (rest.doc_id, rest.probability) == ("d2", 1.0)


def test_every_remaining_document_is_equally_likely() -> None:
    seen = dict.fromkeys(DEEP[0].ranking("q1")[10:], 0)
    for seed in range(1000):
        for pair in build_pool(DEEP[:1], residual=6, seed=seed, queries={"q1"}).pairs:
            seen[pair.doc_id] = seen.get(pair.doc_id, 0) + (pair.why == "residual")
    assert all(
        count == pytest.approx(200, abs=55) for doc_id, count in seen.items() if doc_id in DEEP[0].ranking("q1")[10:]
    )


@pytest.mark.parametrize(
    ("strategy", "params", "options", "words"),
    [
        ("depth", {"depth": 0}, {}, "depth is 0"),
        ("depth", {"depth": "ten"}, {}, "whole number"),
        ("depth", {"depth": float("inf")}, {}, "whole number"),
        ("rbp", {"p": float("nan")}, {}, "a number"),
        ("depth", {"deep": 3}, {}, "no parameter 'deep'"),
        ("rbp", {"p": 1.0}, {}, "at most 0.99"),
        ("list", {"pairs": []}, {}, "empty"),
        ("list", {"pairs": [("q1",)]}, {}, "not a pair"),
        ("depth", {}, {"budget": 0}, "budget"),
        ("depth", {}, {"residual": -1}, "residual"),
    ],
)
def test_unusable_input_is_refused(strategy: str, params: dict, options: dict, words: str) -> None:
    with pytest.raises(NotValid, match=words):
        build_pool([BM25], strategy, params, **options)


def test_a_pool_needs_runs_with_names_of_their_own() -> None:
    with pytest.raises(NotValid, match="at least one run"):
        build_pool([], "depth")
    with pytest.raises(NotValid, match="Two runs are named 'bm25'"):
        build_pool([BM25, BM25])
    with pytest.raises(UnknownName, match="did you mean depth"):
        build_pool([BM25], "dept")


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_every_member_declares_itself(name: str) -> None:
    member = STRATEGIES[name]
    assert member.name == name
    assert member.title
    assert member.description.endswith(".")
    assert all(parameter.description.endswith(".") for parameter in member.parameters)


def test_the_preview_counts_shared_and_unique_pairs() -> None:
    summary = preview(build_pool([BM25, NEURAL], "depth", {"depth": 3}))
    assert (summary.pairs, summary.queries, summary.middle, summary.in_all, summary.share_in_all) == (5, 1, 5.0, 1, 0.2)
    assert [(system.name, system.pairs, system.unique) for system in summary.systems] == [
        ("bm25", 3, 2),
        ("neural", 3, 2),
    ]
    assert summary.by_best_rank == ((1, 2), (2, 1), (3, 2))


def test_a_preview_says_why_there_is_no_overlap() -> None:
    assert preview(build_pool([BM25])).reason == "fewer than two runs"
    judged = [("q1", doc_id) for doc_id in ("d1", "d2", "d3", "d4", "d5")]
    empty = preview(build_pool([BM25, NEURAL], judged=judged))
    assert (empty.pairs, empty.share_in_all, empty.reason) == (0, None, "the pool is empty")


@pytest.mark.shared
@pytest.mark.parametrize(("by", "pairs"), [("rank", 1822), ("score", 1831)])
def test_the_depth_10_pool_of_a_real_shop(by: str, pairs: int) -> None:
    if not ELECTRONICS.exists():
        pytest.skip("../shared/data is not here")
    runs = []
    for path in sorted(ELECTRONICS.glob("runs/*.run")):
        rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
        if by == "rank":
            runs.append(by_rank([(row[0], row[2], int(row[3])) for row in rows], path.stem))
        else:
            runs.append(Run.from_rows([(row[0], row[2], float(row[4])) for row in rows], path.stem))
    with (ELECTRONICS / "queries.csv").open(encoding="utf-8", newline="") as stream:
        queries = {row["query_id"] for row in csv.DictReader(stream)}
    pool = build_pool(runs, "depth", {"depth": 10}, queries=queries)
    assert len(pool) == pairs
    assert preview(pool).queries == 135


def test_the_residual_of_a_list_stays_with_its_queries() -> None:
    pool = build_pool(DEEP, "list", {"pairs": [("q1", "q1-a3"), ("q1", "other")]}, residual=4)
    assert {pair.query_id for pair in pool.pairs} == {"q1"}
    assert [pair.probability for pair in pool.pairs] == [1.0, 1.0, *[4 / 79] * 4]


@pytest.mark.parametrize("name", [name for name in STRATEGIES if not STRATEGIES[name].reads])
def test_queries_that_no_run_answers_make_an_empty_pool(name: str) -> None:
    params = {"pairs": [("q1", "d1")]} if name == "list" else {}
    pool = build_pool(DEEP, name, params, budget=3, residual=2, queries={"q9"})
    assert (len(pool), pool.judged, pool.over_budget, preview(pool).pairs) == (0, 0, 0, 0)
