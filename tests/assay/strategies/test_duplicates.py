"""Tests of duplicates in pools: detected, judged once, at no cost to the pool."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from assay.core.errors import NotValid
from assay.core.run import Run
from assay.strategies.candidates import Candidates
from assay.strategies.chosen_pairs import Pool
from assay.strategies.duplicates import BLOCK, Content, Duplicates, find_copies
from assay.strategies.pool import build_pool
from assay.strategies.pool_preview import preview

FOX = "the quick brown fox jumps over the lazy dog and runs into the deep dark wood where nobody saw it again that year"


def ranked(name: str, **documents: Sequence[str]) -> Run:
    return Run.from_dict({q: {d: 100.0 - n for n, d in enumerate(docs)} for q, docs in documents.items()}, name)


def compared(contents: dict[str, Content | None], similarity: float | None = None, **options: Any) -> Duplicates:
    return Duplicates(lambda doc_ids: [contents[doc_id] for doc_id in doc_ids], similarity, **options)


def copies(run: Run, how: Duplicates) -> dict[tuple[str, str], tuple[str, bool, float]]:
    """Query and copy, with the document that is judged instead, whether it is equal, and the share."""
    table = Candidates.of([run])
    copies = find_copies(table, np.arange(len(table)), how)
    rows = zip(copies.rows.tolist(), copies.of.tolist(), copies.exact.tolist(), copies.similarity.tolist(), strict=True)
    return {
        (table.query_ids[table.query_of[row]], table.doc_ids[row]): (table.doc_ids[of], exact, share)
        for row, of, exact, share in rows
    }


def test_equal_after_normalisation_is_a_copy_of_the_better_ranked() -> None:
    contents: dict[str, Content | None] = {
        "b": Content("Rain  JACKET", "warm\nand dry"),
        "a": Content("rain jacket", "Warm and dry"),
        "c": Content("ｒａｉｎ jacket", "warm and dry"),
        "price": Content("rain jacket", "warm and dry", "price: 20"),
        "image": Content("rain jacket", "warm and dry", "", "red.png"),
        "stub": None,
        "stub2": None,
        "empty": Content("", ""),
        "empty2": Content("", ""),
    }
    result = copies(ranked("r", q1=list(contents), q2=["c", "stub"]), compared(contents))
    assert result == {("q1", "a"): ("b", True, 1.0), ("q1", "c"): ("b", True, 1.0)}


def test_near_is_the_share_of_common_parts_and_the_same_numbers_and_image() -> None:
    contents: dict[str, Content | None] = {
        "one": Content("Fox 20", FOX),
        "more": Content("Fox 20", FOX + " indeed"),
        "upper": Content("FOX 20", FOX.upper() + " INDEED"),
        "model": Content("Fox 21", FOX),
        "image": Content("Fox 20", FOX, "", "fox.png"),
        "half": Content("Fox 20", FOX[: len(FOX) // 2]),
        "short": Content("fox", ""),
        "brief": Content("fox", "x"),
    }
    run = ranked("r", q=list(contents))
    # 25 words have 23 parts; one word more has one part more.
    words = len(f"Fox 20 {FOX}".split())
    share = pytest.approx((words - 2) / (words - 1))
    result = copies(run, compared(contents, 0.9))
    assert result == {("q", "more"): ("one", False, share), ("q", "upper"): ("one", False, share)}
    assert copies(run, compared(contents, 1.0)) == {("q", "upper"): ("more", True, 1.0)}
    assert copies(run, compared(contents, 0.9, apart=frozenset({("q", "more")}))) == {
        ("q", "upper"): ("one", False, share)
    }


def test_the_counts_are_those_of_plain_sets_over_many_queries() -> None:
    rng = random.Random(3)
    words = [f"w{n}" for n in range(12)]
    contents: dict[str, Content | None] = {}
    for n in range(60):
        text = " ".join(rng.choices(words, k=30))
        for variant in range(rng.randint(1, 4)):
            parts = text.split()
            for _ in range(variant):
                parts[rng.randrange(30)] = rng.choice(words)
            contents[f"d{n}-{variant}"] = Content("", " ".join(parts))
    queries = {f"q{n}": rng.sample(sorted(contents), 40) for n in range(BLOCK // 40 + 5)}

    def parts_of(doc_id: str) -> set[tuple[str, ...]]:
        content = contents[doc_id]
        assert content is not None
        words = content.text.split()
        return {tuple(words[at : at + 3]) for at in range(len(words) - 2)}

    sets = {doc_id: parts_of(doc_id) for doc_id in contents}
    expected = {}
    for query_id, documents in queries.items():
        judged: list[str] = []
        for doc_id in documents:
            likes = [(one, len(sets[one] & sets[doc_id]) / len(sets[one] | sets[doc_id])) for one in judged]
            like = next(((one, share) for one, share in likes if share >= 0.7), None)
            if like is None:
                judged.append(doc_id)
            else:
                expected[query_id, doc_id] = like
    detected = copies(ranked("r", **queries), compared(contents, 0.7))
    assert {key: of for key, (of, _, _) in detected.items()} == {key: of for key, (of, _) in expected.items()}
    assert all(abs(detected[key][2] - share) < 1e-12 for key, (_, share) in expected.items())


@pytest.mark.parametrize("similarity", [0.5, 1.1, 0.0])
def test_a_similarity_out_of_range_is_refused(similarity: float) -> None:
    with pytest.raises(NotValid, match=r"a number above 0\.5"):
        Duplicates(lambda doc_ids: [None for _ in doc_ids], similarity)


TWINS: dict[str, Content | None] = {f"d{n}": Content("", f"text number {n // 2}") for n in range(20)}
A = ranked("a", q=[f"d{n}" for n in range(20)])
B = ranked("b", q=["d1", "d5"], r=["d0", "d1", "d2"])


def as_sets(pool: Pool) -> dict[tuple[str, str], list[str]]:
    return {(pair.query_id, pair.doc_id): [copy.doc_id for copy in pair.copies] for pair in pool.pairs}


@pytest.mark.parametrize("strategy", ["depth", "rrf", "move-to-front", "hedge"])
def test_copies_spend_no_budget(strategy: str) -> None:
    pool = build_pool([A], strategy, {"depth": 20}, budget=4, duplicates=compared(TWINS))
    # d7 is beyond the budget: nobody asks whether it says what d6 says.
    assert as_sets(pool) == {("q", "d0"): ["d1"], ("q", "d2"): ["d3"], ("q", "d4"): ["d5"], ("q", "d6"): []}
    assert [pair.step for pair in pool.pairs] == [1, 2, 3, 4]
    assert (pool.judged, len(preview(pool).by_best_rank)) == (0, 4)


def test_a_pool_without_a_budget_loses_its_copies_and_names_them() -> None:
    pool = build_pool([A, B], "depth", {"depth": 5}, duplicates=compared(TWINS))
    # d0 and d1 are both first in a run: the id decides. d5 is better in one run than d4 is in the other.
    assert as_sets(pool) == {
        ("q", "d0"): ["d1"],
        ("q", "d2"): ["d3"],
        ("q", "d5"): ["d4"],
        ("r", "d0"): ["d1"],
        ("r", "d2"): [],
    }
    d0 = next(pair for pair in pool.pairs if pair.query_id == "q" and pair.doc_id == "d0")
    assert d0.as_json()["copies"] == [
        {"doc_id": "d1", "best_rank": 1, "runs": {"a": 2, "b": 1}, "why": "exact", "similarity": 1.0}
    ]
    summary = preview(pool)
    assert (summary.pairs, summary.groups, summary.copies) == (5, 4, 4)
    # What says the same counts as found by both.
    assert [(one.name, one.pairs, one.unique) for one in summary.systems] == [("a", 3, 1), ("b", 4, 2)]
    assert summary.shared == ((3, 2), (2, 4))


def test_the_residual_stratum_holds_no_copy_of_a_chosen_document() -> None:
    pool = build_pool([A], "depth", {"depth": 4}, residual=20, duplicates=compared(TWINS))
    drawn = {pair.doc_id for pair in pool.pairs if pair.why == "residual"}
    assert drawn == {f"d{n}" for n in range(4, 20)}
    assert {pair.doc_id for pair in pool.pairs} - drawn == {"d0", "d2"}


def test_the_same_runs_in_another_order_have_the_same_copies() -> None:
    assert build_pool([A, B], duplicates=compared(TWINS)) == build_pool([B, A], duplicates=compared(TWINS))


def test_a_total_gives_every_query_the_same_and_keeps_within_it() -> None:
    runs = [ranked("a", q=[f"d{n}" for n in range(10)], r=["d0", "d1"], s=[f"d{n}" for n in range(6)])]
    sizes = {}
    for total in (3, 8, 13, 14, 18, 99):
        pool = build_pool(runs, "depth", {"depth": 10}, total=total)
        assert len(pool) <= total
        sizes[total] = np.bincount(pool.candidates.query_of[pool.rows]).tolist()
        assert len(pool) + pool.over_budget == 18
    assert sizes == {3: [1, 1, 1], 8: [3, 2, 3], 13: [5, 2, 5], 14: [6, 2, 6], 18: [10, 2, 6], 99: [10, 2, 6]}
    with_residual = build_pool(runs, "depth", {"depth": 10}, total=14, residual=2)
    assert len(with_residual) <= 14
    assert preview(with_residual).residual == 4


@pytest.mark.parametrize(
    ("options", "message"), [({"total": 0}, "at least 1"), ({"total": 1}, "one pair for each of 2 queries")]
)
def test_a_total_that_is_too_small_says_what_is_enough(options: dict[str, int], message: str) -> None:
    with pytest.raises(NotValid, match=message):
        build_pool([B], **options)


def test_the_preview_tells_tiers_and_how_many_systems_differ() -> None:
    others = [ranked(name, q=[f"{name}{n}" for n in range(5)]) for name in "wxyz"]
    twin = ranked("twin", q=["w0", "w1", "w2", "w3", "other"])
    summary = preview(build_pool([*others, twin, B]), {"r": "head", "q": "tail", "none": "tail"})
    assert summary.by_tier == (("head", 1, 3), ("tail", 1, 23))
    assert summary.differing == 5
    assert summary.shared[summary.systems.index(next(one for one in summary.systems if one.name == "twin"))] == (
        0,
        5,
        4,
        0,
        0,
        0,
    )
