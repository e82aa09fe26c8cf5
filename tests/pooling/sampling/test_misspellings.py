"""Is a misspelling found, and is another word left alone?"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooling.sampling.misspellings import CLICKED, MISSPELT, _candidates, _changed, misspellings
from pooling.sampling.near_duplicates import ENDING, near_duplicates
from pooling.sampling.queries import LogQuery


def queries(**counts: int) -> list[LogQuery]:
    return [LogQuery(text.replace("_", " "), text, many, None, 1, None) for text, many in counts.items()]


def found(clicks: dict[str, str] | None = None, **counts: int) -> set[tuple[str, str, str]]:
    """Who is proposed as whose misspelling; clicks are letters, each a document."""
    rows = queries(**counts)
    told = {place: frozenset((clicks or {}).get(row.query, "")) for place, row in enumerate(rows)}
    pairs = misspellings(rows, None if clicks is None else lambda places: {place: told[place] for place in places})
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
    assert found(**{meant: 400, typed: 3}) == found(**{typed: 3, meant: 400}) == expected
    assert found(**{meant: 40, typed: 30}) == set()


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
    assert found(**{one: 5_000, other: 1}) == set()


def test_a_rare_query_of_usual_words_is_no_misspelling() -> None:
    assert found(trail_shoes=900, trial_shoes=2) == {("trail shoes", "trial shoes", MISSPELT)}
    assert found(trail_shoes=900, trial_shoes=2, free_trial=400) == set()


def test_a_misspelling_goes_with_the_most_frequent_query_alone() -> None:
    """Else two needs would be joined by somebody's slip."""
    assert found(charger=900, charges=700, chargeq=1) == {("charger", "chargeq", MISSPELT)}


def test_clicks_speak_for_and_against() -> None:
    assert found({"tent": "abcd", "tend": "ab"}, tent=40, tend=30) == {("tent", "tend", CLICKED)}
    assert found({"tent": "abcd", "tend": "ae"}, tent=40, tend=30) == set()
    assert found({"cat": "ab", "car": "ab"}, cat=400, car=1) == set()
    # As rare as a misspelling, and nobody clicks on the same.
    assert found({"angel": "abc", "angle": "xy"}, angel=900, angle=1) == set()
    assert found({"angel": "abc", "angle": "x"}, angel=900, angle=1) == {("angel", "angle", MISSPELT)}


def test_an_earlier_reason_stays_and_groups_join() -> None:
    (group,) = near_duplicates(queries(tent=400, tents=90, tnet=3))
    assert [query.query for query in group.queries] == ["tent", "tents", "tnet"]
    assert group.reasons == ("", ENDING, MISSPELT)


WORD = st.text("abc", min_size=3, max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(WORD, min_size=1, max_size=2).map(" ".join), unique=True, max_size=14))
def test_no_candidate_is_missed(texts: list[str]) -> None:
    told = {frozenset(pair) for pair in _candidates(texts, [True] * len(texts))}
    assert told == {
        frozenset((one, other))
        for one, other in combinations(range(len(texts)), 2)
        if _changed(texts[one], texts[other])
    }
