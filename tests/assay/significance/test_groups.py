"""Tests of significance groups: runs share a letter exactly when they do not differ."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.significance.results import letters

NAMES = [f"run{at}" for at in range(9)]


def shared(one: str, other: str) -> bool:
    return bool(set(one) & set(other))


@given(st.integers(1, 9), st.sets(st.sampled_from(list(combinations(range(9), 2)))))
@settings(deadline=None, max_examples=50)
def test_a_letter_is_shared_exactly_where_runs_do_not_differ(runs: int, pairs: set[tuple[int, int]]) -> None:
    order = NAMES[:runs]
    differing = {frozenset((NAMES[a], NAMES[b])) for a, b in pairs if b < runs}
    result = letters(order, differing)
    assert list(result) == order
    assert all(result.values())
    for one, other in combinations(order, 2):
        assert shared(result[one], result[other]) == (frozenset((one, other)) not in differing)


def test_eight_runs_by_hand() -> None:
    pairs = ["17", "18", "24", "25", "26", "27", "28", "37", "38", "47", "48"]
    result = letters("12345678", {frozenset(pair) for pair in pairs})
    # The largest sets of runs of which no two differ: 123, 13456, 5678.
    assert list(result.values()) == ["ab", "a", "ab", "b", "bc", "bc", "c", "c"]


@pytest.mark.parametrize(
    ("differing", "expected"),
    [
        ([], ["a", "a", "a", "a"]),
        (["xw"], ["a", "ab", "ab", "b"]),
        (["xy", "xz", "xw", "yz", "yw", "zw"], ["a", "b", "c", "d"]),
        (["xz", "xw", "yw"], ["a", "ab", "bc", "c"]),
        (["yz"], ["ab", "a", "b", "ab"]),
    ],
)
def test_by_hand(differing: list[str], expected: list[str]) -> None:
    assert list(letters("xyzw", {frozenset(pair) for pair in differing}).values()) == expected


def test_pairs_without_a_common_run_do_not_explode() -> None:
    # Insert-and-absorb would hold 2^30 sets here.
    order = [f"r{at:02}" for at in range(60)]
    differing = {frozenset(order[at : at + 2]) for at in range(0, 60, 2)}
    result = letters(order, differing)
    tokens = {run: _tokens(result[run]) for run in order}
    for one, other in combinations(order, 2):
        assert bool(tokens[one] & tokens[other]) == (frozenset((one, other)) not in differing)


def test_after_the_alphabet_letters_carry_numbers() -> None:
    order = [f"r{at:02}" for at in range(60)]
    result = letters(order, {frozenset(pair) for pair in combinations(order, 2)})
    assert [result[order[at]] for at in (0, 25, 26, 51, 52, 59)] == ["a", "z", "A", "Z", "a1", "h1"]


def test_wrong_runs_are_refused() -> None:
    with pytest.raises(NotValid, match="'x' is listed twice"):
        letters(["x", "y", "x"], set())
    with pytest.raises(NotValid, match="not a pair of the runs x, y"):
        letters(["x", "y"], {frozenset({"x", "z"})})


def _tokens(text: str) -> set[str]:
    rows: list[str] = []
    for character in text:
        if character.isdigit():
            rows[-1] += character
        else:
            rows.append(character)
    return set(rows)
