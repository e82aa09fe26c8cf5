"""Tests of seeds: the same seed gives the same overlap, pseudonyms and order of pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments.rating import assignment

pytestmark = pytest.mark.django_db


@pytest.fixture
def drawn(make_round: Callable[..., Any], rater: Any, rater2: Any, rater3: Any) -> Callable[..., Any]:
    numbers = iter(range(1, 99))

    def make(seed: int, **options: Any) -> Any:
        people = [rater, rater2, rater3]
        return make_round(name=f"Round {next(numbers)}", raters=people, seed=seed, queries=2, documents=10, **options)

    return make


def overlapping(round_: Any) -> list[int]:
    return list(round_.pairs.filter(ratings_wanted=2).values_list("position", flat=True))


def test_the_same_seed_draws_the_same_overlap(drawn: Callable[..., Any]) -> None:
    first, again, other = (overlapping(drawn(seed, overlap=0.5)) for seed in (1, 1, 2))
    assert len(first) == 10
    assert first == again != other


def test_the_same_seed_draws_the_same_pseudonyms(drawn: Callable[..., Any]) -> None:
    def names(seed: int) -> tuple[tuple[int, str], ...]:
        return tuple(drawn(seed).raters.order_by("pk").values_list("user_id", "pseudonym"))

    assert names(1) == names(1)
    assert len({names(seed) for seed in range(8)}) > 1


def test_the_same_seed_hands_out_a_query_in_the_same_order(drawn: Callable[..., Any], rater: Any) -> None:
    def order(seed: int) -> list[int]:
        return [pair.position for pair in assignment.claim_batch(drawn(seed), rater=rater, size=10)]

    first, again, other = order(1), order(1), order(2)
    assert sorted(first) == list(range(10))
    assert first == again != other
