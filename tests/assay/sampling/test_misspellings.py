"""Tests of misspellings: detected, and other words are left alone."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.sampling.near_duplicates import (
    CLICKED,
    ENDING,
    MISSPELT,
    _candidates,
    _changed,
    misspellings,
    near_duplicates,
)
from assay.sampling.query_table import LogQuery


def queries(**counts: int) -> list[LogQuery]:
    return [LogQuery(text.replace("_", " "), text, many, None, 1, None) for text, many in counts.items()]


def pairs_of(clicks: dict[str, str] | None = None, **counts: int) -> set[tuple[str, str, str]]:
    """Who is proposed as whose misspelling; clicks are letters, each a document."""
    rows = queries(**counts)
    response = {place: frozenset((clicks or {}).get(row.query, "")) for place, row in enumerate(rows)}
    pairs = misspellings(rows, None if clicks is None else lambda places: {place: response[place] for place in places})
    return {(rows[one].query, rows[other].query, why) for one, other, why in pairs}


@pytest.mark.parametrize(
    ("meant", "typed"),
    [
        ("tent", "tnet"),
        ("jacket", "jakcet"),
        ("sleeping", "sleping"),
        ("jacket", "jaccket"),
        ("compass", "conpass"),
        ("hiking_boots", "hikng_boots"),
        ("zelt", "zlet"),
    ],
)
def test_a_rare_query_one_letter_from_a_frequent_one(meant: str, typed: str) -> None:
    expected = {(meant.replace("_", " "), typed.replace("_", " "), MISSPELT)}
    assert pairs_of(**{meant: 400, typed: 3}) == pairs_of(**{typed: 3, meant: 400}) == expected
    assert pairs_of(**{meant: 40, typed: 30}) == set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cat", "car"),  # too short to say
        ("map", "amp"),
        ("lamp", "lamb"),  # another word, though rare
        ("tent", "rent"),  # another first letter
        ("jacket", "packet"),
        ("boots", "boosts"),
        ("model_20a", "model_21a"),  # another number
        ("phone1234", "phone1243"),
        ("red_tent", "rde_tnet"),  # two words
        ("headlamp", "head_lamp"),
        ("jacket", "jcaekt"),
    ],
)
def test_another_word_is_left_alone(one: str, other: str) -> None:
    assert pairs_of(**{one: 5_000, other: 1}) == set()


def test_a_rare_query_of_usual_words_is_no_misspelling() -> None:
    assert pairs_of(trail_shoes=900, trial_shoes=2) == {("trail shoes", "trial shoes", MISSPELT)}
    assert pairs_of(trail_shoes=900, trial_shoes=2, free_trial=400) == set()


def test_a_misspelling_goes_with_the_most_frequent_query_alone() -> None:
    """Else two needs would be joined by somebody's slip."""
    assert pairs_of(charger=900, charges=700, chargeq=1) == {("charger", "chargeq", MISSPELT)}


def test_clicks_speak_for_and_against() -> None:
    assert pairs_of({"tent": "abcd", "tend": "ab"}, tent=40, tend=30) == {("tent", "tend", CLICKED)}
    assert pairs_of({"tent": "abcd", "tend": "ae"}, tent=40, tend=30) == set()
    assert pairs_of({"cat": "ab", "car": "ab"}, cat=400, car=1) == set()
    # As rare as a misspelling, and nobody clicks on the same.
    assert pairs_of({"angel": "abc", "angle": "xy"}, angel=900, angle=1) == set()
    assert pairs_of({"angel": "abc", "angle": "x"}, angel=900, angle=1) == {("angel", "angle", MISSPELT)}


def test_an_earlier_reason_stays_and_groups_join() -> None:
    (group,) = near_duplicates(queries(tent=400, tents=90, tnet=3))
    assert [query.query for query in group.queries] == ["tent", "tents", "tnet"]
    assert group.reasons == ("", ENDING, MISSPELT)


WORD = st.text("abc", min_size=3, max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(WORD, min_size=1, max_size=2).map(" ".join), unique=True, max_size=14))
def test_no_candidate_is_missed(texts: list[str]) -> None:
    rows = {frozenset(pair) for pair in _candidates(texts, [True] * len(texts))}
    assert rows == {
        frozenset((one, other))
        for one, other in combinations(range(len(texts)), 2)
        if _changed(texts[one], texts[other])
    }
