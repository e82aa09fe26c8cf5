"""Do two runs share a letter exactly when they do not differ?"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.significance.groups import letters
from judgments.core.errors import NotValid

NAMES = [f"run{at}" for at in range(9)]


def shared(one: str, other: str) -> bool:
    return bool(set(one) & set(other))


@given(st.integers(1, 9), st.sets(st.sampled_from(list(combinations(range(9), 2)))))
@settings(deadline=None, max_examples=50)
def test_a_letter_is_shared_exactly_where_runs_do_not_differ(runs: int, pairs: set[tuple[int, int]]) -> None:
    order = NAMES[:runs]
    differing = {frozenset((NAMES[a], NAMES[b])) for a, b in pairs if b < runs}
    found = letters(order, differing)
    assert list(found) == order
    assert all(found.values())
    for one, other in combinations(order, 2):
        assert shared(found[one], found[other]) == (frozenset((one, other)) not in differing)


def test_eight_runs_by_hand() -> None:
    pairs = ["17", "18", "24", "25", "26", "27", "28", "37", "38", "47", "48"]
    found = letters("12345678", {frozenset(pair) for pair in pairs})
    # The largest sets of runs of which no two differ: 123, 13456, 5678.
    assert list(found.values()) == ["ab", "a", "ab", "b", "bc", "bc", "c", "c"]


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
    found = letters(order, differing)
    tokens = {run: _tokens(found[run]) for run in order}
    for one, other in combinations(order, 2):
        assert bool(tokens[one] & tokens[other]) == (frozenset((one, other)) not in differing)


def test_after_the_alphabet_letters_carry_numbers() -> None:
    order = [f"r{at:02}" for at in range(60)]
    found = letters(order, {frozenset(pair) for pair in combinations(order, 2)})
    assert [found[order[at]] for at in (0, 25, 26, 51, 52, 59)] == ["a", "z", "A", "Z", "a1", "h1"]


def test_wrong_runs_are_refused() -> None:
    with pytest.raises(NotValid, match="'x' is named twice"):
        letters(["x", "y", "x"], set())
    with pytest.raises(NotValid, match="no pair of two of the runs x, y"):
        letters(["x", "y"], {frozenset({"x", "z"})})


def _tokens(text: str) -> set[str]:
    found: list[str] = []
    for character in text:
        if character.isdigit():
            found[-1] += character
        else:
            found.append(character)
    return set(found)
