"""Tests of the snapshot hash: it covers queries, round, guidelines, scale and rule; scales must match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import NotValid
from judgments.guidelines import guidelines
from judgments.models import GuidelinesVersion, Query, QuerySample, Round
from judgments.snapshots import snapshots
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
@cached_fixture
def rated(make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any) -> Any:
    round_ = make_round(queries=2, documents=2, raters=[rater], ratings_per_pair=1)
    rate_all(round_, rater, 1)
    return round_


@pytest.fixture
def hashed(rated: Any, lead: Any) -> Callable[..., str]:
    names = iter("abc")

    def freeze(**options: Any) -> str:
        options.setdefault("rounds", [rated])
        return snapshots.freeze(rated.collection, name=next(names), actor=lead, **options).content_sha256

    return freeze


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("text", "another text"),
        ("narrative", "another need"),
        ("group", "another-group"),
        ("tier", "tail"),
        ("frequency", 77),
        ("probability", 0.25),
        ("weight", 0.125),
    ],
)
def test_the_hash_covers_each_query(hashed: Callable[..., str], column: str, value: Any) -> None:
    before = hashed()
    Query.objects.filter(query_id="q1").update(**{column: value})
    assert hashed() != before


def test_the_hash_covers_the_draw_of_the_queries(hashed: Callable[..., str], collection: Any) -> None:
    before = hashed()
    sample = QuerySample.objects.create(
        collection=collection, log_name="log.csv", log_sha256="0" * 64, method="stratified", seed=1
    )
    collection.queries.update(sample=sample)
    drawn = hashed()
    QuerySample.objects.update(seed=2)
    assert len({before, drawn, hashed()}) == 3


@pytest.mark.parametrize(
    ("column", "value"),
    [("provenance", {"strategy": "depth", "seed": 9}), ("ratings_per_pair", 3), ("overlap", 0.5), ("seed", 9)],
)
def test_the_hash_covers_how_the_round_was_made(
    hashed: Callable[..., str], rated: Any, column: str, value: Any
) -> None:
    before = hashed()
    Round.objects.filter(pk=rated.pk).update(**{column: value})
    assert hashed() != before


def test_the_hash_covers_guidelines_and_scale(hashed: Callable[..., str], rated: Any, lead: Any) -> None:
    before = hashed()
    rated.scale.grades.filter(value=0).update(cue="Another cue.")
    scaled = hashed()
    version = guidelines.add_version(rated.collection, actor=lead, markdown="Grade otherwise.")
    Round.objects.filter(pk=rated.pk).update(guidelines=version)
    assert len({before, scaled, hashed()}) == 3
    assert GuidelinesVersion.objects.count() == 2


def test_the_hash_covers_rule_and_merge(hashed: Callable[..., str]) -> None:
    assert len({hashed(), hashed(rule="max"), hashed(merge="same-guidelines")}) == 3


def test_rounds_of_two_scales_have_no_common_labels(
    hashed: Callable[..., str], rated: Any, make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any
) -> None:
    grades = [(0, "No", ""), (1, "Yes", "")]
    other = make_round(name="Yes or no", queries=1, documents=1, raters=[rater], ratings_per_pair=1, grades=grades)
    rate_all(other, rater, 1)
    with pytest.raises(NotValid, match="different scales"):
        hashed(rounds=[rated, other])
