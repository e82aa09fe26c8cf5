"""Ranks and grades of the judged documents of each query in one run.

Every ranking metric needs only these: the ranks of the judged documents that were returned, their grades, the number of
returned documents, and all grades of the query. Unjudged documents only occupy ranks. The queries are concatenated in
flat arrays, so that a metric is computed for all queries at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_column import pair_keys, spans
from assay.metrics.judged_subtopics import JudgedSubtopics

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Columns with this many cells fit in the processor cache.
CELLS = 1 << 17


def alike(depths: Integers) -> Iterator[Integers]:
    """Yield the positions of queries of similar depth in parts of limited size, ascending within each part, so that a
    long list does not pad all others with empty ranks.

    Examples
    --------
    >>> [places.tolist() for places in alike(np.array([3, 1 << 20, 2]))]
    [[0, 2], [1]]
    """
    if len(depths) * int(depths.max(initial=0)) <= CELLS:
        if len(depths):
            yield np.arange(len(depths))
        return
    order = np.argsort(depths, kind="stable")
    begin = 0
    while begin < len(order):
        room = np.searchsorted(depths[order[begin:]] * np.arange(1, len(order) - begin + 1), CELLS, side="right")
        end = begin + max(1, int(room))
        yield np.sort(order[begin:end])
        begin = end


def combined_above(combine: np.ufunc, values: Floats, offsets: Integers) -> Floats:
    """Combine, for each value, all values above it in its query, from the top.

    Parameters
    ----------
    combine : numpy.ufunc
        ``np.add`` for a sum, ``np.multiply`` for a product; its identity represents nothing above.
    values : float64 array
        The values of all queries, concatenated.
    offsets : int64 array, shape (queries + 1,)
        The start of each query.

    Returns
    -------
    float64 array
        In the order of ``values``. The results of a query do not depend on other queries.

    Examples
    --------
    >>> combined_above(np.add, np.array([1.0, 2.0, 4.0, 8.0]), np.array([0, 3, 3, 4])).tolist()
    [0.0, 1.0, 3.0, 0.0]
    """
    counts = np.diff(offsets)
    combined = np.empty(len(values))
    for places in alike(counts):
        sizes = counts[places]
        rows = slice(None) if len(places) == len(counts) else spans(offsets[places], sizes)
        cells = spans(np.arange(len(places)) * (int(sizes.max()) + 1), sizes)
        columns = np.full((len(places), int(sizes.max()) + 1), combine.identity, dtype=np.float64)
        flat = columns.reshape(-1)
        flat[cells + 1] = values[rows]
        combine.accumulate(columns, axis=1, out=columns)
        combined[rows] = flat[cells]
    return combined


@dataclass(frozen=True, eq=False)
class Match:
    """A run matched with the labels."""

    codes: Integers
    starts: Integers
    rows: Integers
    rankings: JudgedRankings


def match(qrels: Qrels, run: Run) -> Match:
    """Find the judged documents of a run."""
    codes = np.array([qrels.codes.get(query_id, -1) for query_id in run.query_ids], dtype=np.int64)
    judged = codes >= 0
    sizes = run.offsets[1:] - run.offsets[:-1]
    rows, places = _judged_rows(qrels, run, np.repeat(codes, sizes))
    codes, starts, sizes = codes[judged], run.offsets[:-1][judged], sizes[judged]
    offsets = np.concatenate((np.searchsorted(rows, starts), [len(rows)]))
    counts = offsets[1:] - offsets[:-1]
    begins, judgments = qrels.offsets[codes], qrels.offsets[codes + 1] - qrels.offsets[codes]
    return Match(
        codes,
        starts,
        rows,
        JudgedRankings(
            returned=sizes,
            offsets=offsets,
            ranks=rows - np.repeat(starts, counts) + 1,
            grades=qrels.grades[places],
            judged=_of_queries(qrels.descending, begins, judgments),
            judged_offsets=np.concatenate(([0], np.cumsum(judgments))),
            subtopics=JudgedSubtopics.of(qrels, qrels.subtopics, codes, places) if qrels.subtopics else None,
        ),
    )


def shares_documents(qrels: Qrels, run: Run) -> bool:
    """Return whether any document of a run is judged for any query; if not, the ids may not correspond."""
    return bool(np.isin(run.doc_ids.keys(), qrels.doc_ids.keys()).any())


def _judged_rows(qrels: Qrels, run: Run, code: Integers) -> tuple[Integers, Integers]:
    """Return the rows of the run that are judged, and the row of the qrels for each."""
    rows, places = qrels.index.find(pair_keys(code, run.doc_ids))
    same = run.doc_ids.same(rows, qrels.doc_ids, places) & (qrels.query_of[places] == code[rows])
    if same.all():
        return rows, places
    foreign = code[rows] < 0
    if (same | foreign).all():
        return rows[~foreign], places[~foreign]
    return _by_text(qrels, run, code)


def _by_text(qrels: Qrels, run: Run, code: Integers) -> tuple[Integers, Integers]:
    """Return the same from the texts alone, in case two different ids have the same key."""
    place = {pair: at for at, pair in enumerate(zip(qrels.query_of.tolist(), qrels.doc_ids, strict=True))}
    pairs = [
        (row, place[pair]) for row, pair in enumerate(zip(code.tolist(), run.doc_ids, strict=True)) if pair in place
    ]
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def _of_queries(grades: Floats, begins: Integers, counts: Integers) -> Floats:
    if len(begins) and int(counts.sum()) == len(grades) and (begins[1:] > begins[:-1]).all():
        return grades
    chosen: Floats = grades[spans(begins, counts)]
    return chosen


Mask = npt.NDArray[np.bool_]

# 2 to this power can still be summed millions of times in float64.
MOST_EXPONENT = 1_000


@dataclass(frozen=True, eq=False)
class JudgedRankings:
    """The judged documents of some queries, as ranked by a run.

    Examples
    --------
    >>> rankings = JudgedRankings.of((3, {1: 2.0, 3: -1.0}, [2.0, 1.0, -1.0]), (10, {7: 1.0}, [1.0]))
    >>> rankings.relevant(), rankings.relevant(rel=2), rankings.relevant_within(5)
    (array([2, 1]), array([1, 0]), array([1, 0]))
    >>> rankings.condensed().returned, rankings.condensed().ranks
    (array([1, 1]), array([1, 1]))
    """

    returned: Integers
    offsets: Integers
    ranks: Integers
    grades: Floats
    judged: Floats
    judged_offsets: Integers
    subtopics: JudgedSubtopics | None = None

    @classmethod
    def of(cls, *queries: tuple[int, dict[int, float], Sequence[float]]) -> JudgedRankings:
        """Build the arrays from a few queries: documents returned, rank to grade, all grades of the query."""
        sizes = [len(by_rank) for _, by_rank, _ in queries]
        judged = [sorted(grades, reverse=True) for _, _, grades in queries]
        rows = [row for _, by_rank, _ in queries for row in sorted(by_rank.items())]
        return cls(
            returned=np.array([returned for returned, _, _ in queries], dtype=np.int64),
            offsets=np.cumsum([0, *sizes], dtype=np.int64),
            ranks=np.array([rank for rank, _ in rows], dtype=np.int64),
            grades=np.array([grade for _, grade in rows], dtype=np.float64),
            judged=np.array([grade for grades in judged for grade in grades], dtype=np.float64),
            judged_offsets=np.cumsum([0, *map(len, judged)], dtype=np.int64),
        )

    @property
    def queries(self) -> int:
        """Return the number of queries."""
        return len(self.returned)

    @cached_property
    def query(self) -> Integers:
        """Return the query of each returned judged document."""
        return np.repeat(np.arange(self.queries), self.offsets[1:] - self.offsets[:-1])

    @cached_property
    def judged_query(self) -> Integers:
        """Return the query of each judged document."""
        return np.repeat(np.arange(self.queries), self.judged_offsets[1:] - self.judged_offsets[:-1])

    @cached_property
    def judged_place(self) -> Integers:
        """Return the one-based position of each judged document in the ideal order, sorted by grade descending."""
        return np.arange(1, len(self.judged) + 1) - self.judged_offsets[self.judged_query]

    @cached_property
    def judged_kinds(self) -> tuple[Floats, Integers]:
        """Return the distinct grades in ascending order, and the index of each judged document's grade."""
        ascending = np.sort(self.judged)
        kinds = ascending[np.diff(ascending, prepend=-np.inf) > 0]
        return kinds, np.searchsorted(kinds, self.judged)

    @property
    def by_subtopic(self) -> JudgedSubtopics:
        """Return the grades by subtopic."""
        if self.subtopics is None:
            raise NotValid("the qrels have no subtopics; use labels by subtopic")
        return self.subtopics

    def within(self, cutoff: int | None) -> Mask:
        """Return for each returned judged document whether its rank is at most `cutoff`; None for no limit."""
        return np.ones(len(self.ranks), dtype=np.bool_) if cutoff is None else self.ranks <= cutoff

    def total(self, values: Floats | Integers, where: Mask | None = None) -> Floats:
        """Sum values of returned judged documents by query, in the order of the ranks."""
        return _added_up(self.query, values, where, self.queries)

    def largest(self, values: Floats, where: Mask) -> Floats:
        """Return the largest value of the returned judged documents by query, at least 0."""
        maxima = np.zeros(self.queries, dtype=np.float64)
        np.maximum.at(maxima, self.query[where], values[where])
        return maxima

    def count(self, where: Mask) -> Integers:
        """Count the returned judged documents that satisfy a condition, by query."""
        return np.bincount(self.query[where], minlength=self.queries)

    def running(self, where: Mask) -> Integers:
        """Count for each returned judged document how many documents down to its rank satisfy a condition, including
        itself."""
        counts = np.concatenate(([0], np.cumsum(where)))
        return counts[1:] - counts[self.offsets[self.query]]

    def above(self, combine: np.ufunc, values: Floats) -> Floats:
        """Combine, for each returned judged document, the values of all documents above it in its query."""
        return combined_above(combine, values, self.offsets)

    @cached_property
    def judged_higher(self) -> Integers:
        """Count, for each returned judged document, the judged documents of its query with a higher grade, returned or
        not.
        """
        return np.searchsorted(*self._grade_keys, side="left") - self.judged_offsets[self.query]

    @cached_property
    def judged_lower(self) -> Integers:
        """Count, for each returned judged document, the judged documents of its query with a lower grade, returned or
        not.
        """
        return self.judged_offsets[self.query + 1] - np.searchsorted(*self._grade_keys, side="right")

    @cached_property
    def lower_than_judged(self) -> Integers:
        """Count, for each judged document, returned or not, the judged documents of its query with a lower grade."""
        keys, _ = self._grade_keys
        return self.judged_offsets[self.judged_query + 1] - np.searchsorted(keys, keys, side="right")

    @cached_property
    def _grade_keys(self) -> tuple[Integers, Integers]:
        """Return a number for query and grade, of all judged documents (in ascending order) and of the returned
        documents."""
        kinds, judged = np.unique(-self.judged, return_inverse=True)
        returned = np.searchsorted(kinds, -self.grades)
        return self.judged_query * len(kinds) + judged, self.query * len(kinds) + returned

    def refuse_above(self, max_rel: float) -> None:
        """Reject grades above the top of the scale that is set for a metric."""
        top = float(self.judged.max(initial=max_rel))
        if top > max_rel:
            raise NotValid(
                f"the qrels contain the grade {top:g}, above max_rel={max_rel:g}; set max_rel to the top of the scale"
            )

    def judged_total(self, values: Floats | Integers, where: Mask | None = None) -> Floats:
        """Sum values of all judged documents by query, in the ideal order."""
        return _added_up(self.judged_query, values, where, self.queries)

    def relevant(self, rel: float = 1) -> Integers:
        """Count the relevant documents of each query, returned or not: those with a grade of at least `rel`."""
        return np.bincount(self.judged_query[self.judged >= rel], minlength=self.queries)

    def judged_not_relevant(self, rel: float = 1) -> Integers:
        """Count the documents of each query that are judged not relevant; negative grades do not count."""
        return np.bincount(self.judged_query[(self.judged >= 0) & (self.judged < rel)], minlength=self.queries)

    def relevant_within(self, cutoff: int | Integers | None, rel: float = 1) -> Integers:
        """Count the relevant documents at ranks 1 to `cutoff`, which may differ between queries."""
        limit = cutoff[self.query] if isinstance(cutoff, np.ndarray) else cutoff
        relevant = self.grades >= rel
        return self.count(relevant if limit is None else relevant & (self.ranks <= limit))

    def cut(self, depth: int) -> JudgedRankings:
        """Return the rankings as if the run had returned at most `depth` documents."""
        inside = self.within(depth)
        offsets = np.concatenate(([0], np.cumsum(self.count(inside))))
        returned = np.minimum(self.returned, depth)
        subtopics = self.subtopics and self.subtopics.select(inside)
        return JudgedRankings(
            returned, offsets, self.ranks[inside], self.grades[inside], self.judged, self.judged_offsets, subtopics
        )

    def condensed(self) -> JudgedRankings:
        """Drop unjudged documents and negative grades from the rankings and close the ranks."""
        labeled = self.grades >= 0
        sizes = self.count(labeled)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        ranks = np.arange(1, int(offsets[-1]) + 1) - np.repeat(offsets[:-1], sizes)
        subtopics = self.subtopics and self.subtopics.select(labeled)
        return JudgedRankings(sizes, offsets, ranks, self.grades[labeled], self.judged, self.judged_offsets, subtopics)


def _added_up(query: Integers, values: Floats | Integers, where: Mask | None, queries: int) -> Floats:
    if where is not None:
        query, values = query[where], values[where]
    sums: Floats = np.bincount(query, values, queries).astype(np.float64)
    return sums


def power_of_two(grades: Floats) -> Floats:
    """Compute 2^g.

    Raises
    ------
    NotValid
        When a grade is so high that float64 could not sum its powers.

    Examples
    --------
    >>> power_of_two(np.array([0.0, 3.0]))
    array([1., 8.])
    """
    top = float(grades.max(initial=0.0))
    if top > MOST_EXPONENT:
        raise NotValid(
            f"the qrels contain grades up to {top:g}, and 2^{top:g} is too large to compute; use grades on a "
            "scale, or a metric with a linear gain"
        )
    powers: Floats = np.exp2(grades)
    return powers


def share(part: Floats | Integers, whole: Floats | Integers) -> Floats:
    """Divide by query; 0 if the divisor is 0.

    Examples
    --------
    >>> share(np.array([1, 0]), np.array([4, 0]))
    array([0.25, 0.  ])
    """
    shares = np.zeros(len(part), dtype=np.float64)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares
