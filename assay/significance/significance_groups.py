"""Significance groups: runs that share a letter are not significantly different."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from assay.core.errors import NotValid

ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letters(order: Sequence[str], differing: Collection[frozenset[str]]) -> dict[str, str]:
    """Assign letters to runs so that two runs share a letter exactly if they do not differ.

    Parameters
    ----------
    order : sequence of str
        The distinct runs, best first.
    differing : collection of frozenset of str
        The pairs of runs that differ; all other pairs do not.

    Returns
    -------
    dict of str to str
        Run to its letters, in the order given. The best run has ``a``; after ``z`` come capitals, then ``a1``.

    Raises
    ------
    NotValid
        When a run is named twice, or a pair is not a pair of these runs.

    Notes
    -----
    A letter is a maximal set of runs of which no two differ; a set whose pairs all share another letter is left out.
    The sets are built one pair at a time, farthest first, so that there are never more sets than pairs of runs.
    Insert-and-absorb (Piepho 2004) finds the same letters if runs differ when they are far enough apart, but needs 2^m
    sets for m differing pairs without a common run.

    Source: Piepho 2004, "An algorithm for a letter-based representation of all-pairwise comparisons"; Gramm, Guo,
    Hüffner and Niedermeier 2007 for growing the sets.

    Examples
    --------
    >>> letters(["neural", "hybrid", "bm25"], {frozenset({"neural", "bm25"})})
    {'neural': 'a', 'hybrid': 'ab', 'bm25': 'b'}
    """
    place = {run: at for at, run in enumerate(order)}
    alike = _alike(place, order, differing)
    groups = _swept(_grown(alike))
    names = dict(zip(sorted(groups), _names(len(groups)), strict=True))
    return {run: "".join(name for group, name in names.items() if place[run] in group) for run in order}


def _alike(place: dict[str, int], order: Sequence[str], differing: Collection[frozenset[str]]) -> list[set[int]]:
    """Return for each run the runs that it does not differ from, including itself."""
    if len(place) < len(order):
        twice = next(run for run in order if list(order).count(run) > 1)
        raise NotValid(f"the run {twice!r} is named twice; name each run once")
    alike = [set(range(len(order))) for _ in order]
    for pair in differing:
        if len(pair) != 2 or not pair <= place.keys():
            raise NotValid(f"{sorted(pair)} is not a pair of the runs {', '.join(order)}")
        first, second = (place[run] for run in pair)
        alike[first].discard(second)
        alike[second].discard(first)
    return alike


def _grown(alike: Sequence[set[int]]) -> list[tuple[int, ...]]:
    """Return maximal sets of runs that do not differ, until each pair of such runs is in one."""
    covered: set[tuple[int, int]] = set()
    cliques: list[tuple[int, ...]] = []
    for first in range(len(alike)):
        for last in sorted(alike[first], reverse=True):
            # A run is alone, as a pair with itself, only if it differs from all others.
            if last < first or (first, last) in covered or (first == last and len(alike[first]) > 1):
                continue
            group = {first, last}
            for run in _from(first, len(alike)):
                if group <= alike[run]:
                    group.add(run)
            cliques.append(tuple(sorted(group)))
            covered.update(combinations(cliques[-1], 2))
    return cliques


def _from(first: int, runs: int) -> Iterator[int]:
    """Yield all runs, first those below the first run, then those above it."""
    yield from range(first, runs)
    yield from range(first - 1, -1, -1)


def _swept(groups: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Leave out each set whose pairs are all in other sets."""
    times: dict[tuple[int, int], int] = {}
    for group in groups:
        for pair in combinations(group, 2):
            times[pair] = times.get(pair, 0) + 1
    maximal = []
    for group in groups:
        pairs = list(combinations(group, 2))
        if pairs and all(times[pair] > 1 for pair in pairs):
            for pair in pairs:
                times[pair] -= 1
        else:
            maximal.append(group)
    return maximal


def _names(number: int) -> Iterator[str]:
    for at in range(number):
        turn, letter = divmod(at, len(ALPHABET))
        yield ALPHABET[letter] + (str(turn) if turn else "")
