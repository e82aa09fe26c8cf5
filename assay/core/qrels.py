"""Qrels: the grade of each judged document of each query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.text_column import Keys, Places, Texts, grouped, pair_keys, repeated

if TYPE_CHECKING:
    pass


Judged = dict[str, dict[str, dict[str, float]]]


@dataclass(frozen=True, eq=False, slots=True)
class Subtopics:
    """One grade for each judged document and each subtopic of its query."""

    names: tuple[str, ...]
    rows: Places
    codes: Places
    grades: npt.NDArray[np.float64]


def collected(rows: Iterable[tuple[str, str, str, float]]) -> tuple[Judged, int]:
    """Group rows of (query_id, subtopic, doc_id, grade), and count them."""
    judged: Judged = {}
    total = 0
    for query_id, subtopic, doc_id, grade in rows:
        total += 1
        known = judged.setdefault(query_id, {}).setdefault(doc_id, {}).setdefault(subtopic, grade)
        if known != grade:
            where = f"query {query_id!r}, subtopic {subtopic!r}, document {doc_id!r}"
            raise NotValid(f"{where} has two grades, {known} and {grade}; keep one")
    return {query_id: dict(sorted(documents.items(), reverse=True)) for query_id, documents in judged.items()}, total


def table(judged: Judged, pairs: Iterable[tuple[str, str]]) -> Subtopics:
    """Build the table of grades by subtopic; `pairs` contains the query and document of each qrels row."""
    names = tuple(sorted({name for documents in judged.values() for graded in documents.values() for name in graded}))
    code = {name: at for at, name in enumerate(names)}
    graded = [
        (row, code[name], grade)
        for row, (query_id, doc_id) in enumerate(pairs)
        for name, grade in sorted(judged[query_id][doc_id].items())
    ]
    return Subtopics(
        names,
        np.array([row for row, _, _ in graded], dtype=np.int64),
        np.array([at for _, at, _ in graded], dtype=np.int64),
        np.array([grade for _, _, grade in graded], dtype=np.float64),
    )


# A wider table rejects more unknown keys immediately, but needs more memory and time to build.
SMALL, MOST = 17, 22


@dataclass(frozen=True, eq=False, slots=True)
class PairIndex:
    """Keys in ascending order, with the start of each group that shares its first bits.

    Examples
    --------
    >>> index = PairIndex.of(np.array([5 << 60, 2 << 60], dtype=np.uint64))
    >>> rows, places = index.find(np.array([1 << 60, 2 << 60, 5 << 60], dtype=np.uint64))
    >>> rows.tolist(), places.tolist()
    ([1, 2], [1, 0])
    """

    keys: Keys
    rows: Places
    begins: npt.NDArray[np.int32]

    @classmethod
    def of(cls, keys: Keys) -> PairIndex:
        """Build the index of a table's keys."""
        rows = np.argsort(keys)
        ascending = keys[rows]
        needed = len(keys).bit_length()
        bits = min(MOST, max(min(SMALL, needed + 4), needed + 2))
        counts = np.bincount((ascending >> np.uint64(64 - bits)).astype(np.int64), minlength=1 << bits)
        begins = np.zeros((1 << bits) + 1, dtype=np.int32)
        np.cumsum(counts, out=begins[1:])
        return cls(ascending, rows, begins)

    def find(self, keys: Keys) -> tuple[Places, Places]:
        """Return which of the keys are in the index, ascending, and the table row of each. If the table has a key
        several times, one of its rows is returned.
        """
        bits = (len(self.begins) - 1).bit_length() - 1
        head = (keys >> np.uint64(64 - bits)).astype(np.int64)
        place, end = self.begins[head], self.begins[1:][head]
        matches, where = [], []
        candidates = np.flatnonzero(place < end)
        at, end = place[candidates], end[candidates]
        # Few keys share their first bits, so this ends after two or three rounds.
        while len(candidates):
            same = self.keys[at] == keys[candidates]
            matches.append(candidates[same])
            where.append(at[same])
            at += 1
            more = ~same & (at < end)
            candidates, at, end = candidates[more], at[more], end[more]
        rows = np.concatenate([*matches, np.zeros(0, dtype=np.int64)])
        places = np.concatenate([*where, np.zeros(0, dtype=np.int64)]).astype(np.int64)
        order = np.argsort(rows)
        return rows[order], self.rows[places[order]]


@dataclass(frozen=True)
class MachineSource:
    """The judge that gave the labels."""

    judge: str
    outcomes: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict."""
        return {"judge": self.judge, "outcomes": dict(self.outcomes)}


class Qrels:
    """The labels of a collection's queries, as columns grouped by query. Queries are sorted by the UTF-8 bytes of their
    ids; the documents of a query keep their original order. The judgments of query ``i`` are in
    ``doc_ids[offsets[i]:offsets[i + 1]]`` and ``grades[offsets[i]:offsets[i + 1]]``.

    Parameters
    ----------
    query_ids : tuple of str
        The judged queries.
    offsets : int64 array, shape (queries + 1,)
        The start of each query.
    doc_ids : Texts
        All judged documents, flat.
    grades : float64 array
        One grade for each entry of ``doc_ids``; fractions and negative numbers are kept.
    duplicates : int
        Number of identical rows that were removed.
    subtopics : Subtopics, optional
        The grades by subtopic, if the labels distinguish the aspects of a query. A document still appears once in a
        query; ``grades`` then contains the largest of its grades.
    machine : MachineSource, optional
        The judge, if the labels are machine labels.
    first_rows : int64 array, shape (queries,), optional
        The position of each query's first row in the source; by default the queries were sorted there.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d2": 1, "d1": 3}})
    >>> list(qrels.rows()), len(qrels), qrels.queries
    ([('q1', 'd2', 1.0), ('q1', 'd1', 3.0)], 2, 1)
    """

    def __init__(
        self,
        query_ids: tuple[str, ...],
        offsets: Places,
        doc_ids: Texts,
        grades: npt.NDArray[np.float64],
        duplicates: int = 0,
        subtopics: Subtopics | None = None,
        machine: MachineSource | None = None,
        first_rows: Places | None = None,
    ) -> None:
        self.query_ids, self.offsets, self.doc_ids, self.grades = query_ids, offsets, doc_ids, grades
        self.duplicates, self.subtopics, self.machine = duplicates, subtopics, machine
        self.first_rows = first_rows

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, float]]) -> Qrels:
        """Build the table from rows of (query_id, doc_id, grade) in any order.

        Raises
        ------
        NotValid
            When a pair has two different grades, or a grade is not a finite number.
        """
        judged: dict[str, dict[str, float]] = {}
        total = 0
        for query_id, doc_id, grade in rows:
            total += 1
            known = judged.setdefault(query_id, {}).setdefault(doc_id, grade)
            if known != grade:
                raise NotValid(f"query {query_id!r}, document {doc_id!r} has two grades, {known} and {grade}; keep one")
        table = cls.from_dict(judged)
        table.duplicates = total - len(table)
        return table

    @classmethod
    def from_dict(cls, judged: Mapping[str, Mapping[str, float]]) -> Qrels:
        """Build the table from ``{query_id: {doc_id: grade}}``; a query without documents is left out.

        Raises
        ------
        NotValid
            When a grade is not a finite number, or an id is not a string.
        """
        # Python orders strings by code point, which is the order of their UTF-8 bytes.
        place = {query_id: at for at, (query_id, grades) in enumerate(judged.items()) if grades}
        query_ids = tuple(sorted(place))
        doc_ids = [doc_id for query_id in query_ids for doc_id in judged[query_id]]
        given = [grade for query_id in query_ids for grade in judged[query_id].values()]
        offsets = np.cumsum([0, *(len(judged[query_id]) for query_id in query_ids)], dtype=np.int64)
        try:
            "".join(query_ids)
            documents, grades = Texts.of(doc_ids), np.fromiter(given, np.float64, len(given))
        except (TypeError, ValueError) as error:
            raise NotValid(f"qrels: ids must be strings and grades must be numbers ({error})") from error
        first_rows = np.array([place[query_id] for query_id in query_ids], dtype=np.int64)
        return cls(query_ids, offsets, documents, _finite(grades, doc_ids), first_rows=first_rows)

    @classmethod
    def from_subtopics(cls, rows: Iterable[tuple[str, str, str, float]]) -> Qrels:
        """Build the table from rows of (query_id, subtopic, doc_id, grade) in any order.

        A document's own grade is the largest of its subtopics'. The documents of a query are sorted by id descending.

        Raises
        ------
        NotValid
            When a document has two grades for a subtopic, or a grade is not a finite number.

        Examples
        --------
        >>> qrels = Qrels.from_subtopics([("q1", "1", "d1", 0), ("q1", "2", "d1", 2), ("q1", "1", "d2", 1)])
        >>> qrels.to_dict(), list(qrels.rows_by_subtopic())[1:]
        ({'q1': {'d2': 1.0, 'd1': 2.0}}, [('q1', '1', 'd1', 0.0), ('q1', '2', 'd1', 2.0)])
        """

        judged, total = collected(rows)
        qrels = cls.from_dict(
            {
                query_id: {doc_id: max(grades.values()) for doc_id, grades in documents.items()}
                for query_id, documents in judged.items()
            }
        )
        qrels.subtopics = table(judged, ((query_id, doc_id) for query_id, doc_id, _ in qrels.rows()))
        qrels.duplicates = total - len(qrels.subtopics.rows)
        return qrels

    @classmethod
    def from_columns(cls, query_ids: Texts, doc_ids: Texts, grades: npt.NDArray[np.float64]) -> Qrels:
        """Build the table from columns of equal length, with rows in any order and distinct pairs.

        Raises
        ------
        NotValid
            When a pair appears twice, or a grade is not a finite number.
        """
        groups = grouped(query_ids)
        first_rows = None
        if groups.order is not None:
            doc_ids, grades = doc_ids.take(groups.order), grades[groups.order]
            first_rows = groups.order[groups.offsets[:-1]]
        table = cls(groups.names, groups.offsets, doc_ids, _finite(grades, doc_ids), first_rows=first_rows)
        if table.has_duplicates():
            raise NotValid("a query has two grades for a document; keep one row")
        return table

    def prepare(self) -> None:
        """Build the index for lookups of runs; otherwise the first lookup builds it."""
        _ = self.codes, self.query_of, self.index, self.descending

    @property
    def in_source_order(self) -> tuple[str, ...]:
        """Return the queries in the order in which the source first lists them."""
        if self.first_rows is None:
            return self.query_ids
        return tuple(self.query_ids[at] for at in np.argsort(self.first_rows).tolist())

    def has_duplicates(self) -> bool:
        """Return whether a query lists a document twice."""
        keys = self.index.keys
        alike = bool((keys[1:] == keys[:-1]).any())
        return alike and repeated(self.query_of, self.doc_ids) is not None

    @cached_property
    def codes(self) -> dict[str, int]:
        """Map each query id to its position."""
        return {query_id: at for at, query_id in enumerate(self.query_ids)}

    @cached_property
    def query_of(self) -> Places:
        """Return the position of each row's query."""
        return np.repeat(np.arange(self.queries), np.diff(self.offsets))

    @cached_property
    def index(self) -> PairIndex:
        """Return the index of all pairs by key."""
        return PairIndex.of(pair_keys(self.query_of, self.doc_ids))

    @cached_property
    def highest(self) -> npt.NDArray[np.float64]:
        """Return the highest grade of each query."""
        highest: npt.NDArray[np.float64] = np.maximum.reduceat(self.grades, self.offsets[:-1])
        return highest

    @cached_property
    def summable(self) -> bool:
        """Return whether the grades can be added up in float64."""
        with np.errstate(over="ignore"):
            return bool(np.isfinite(np.abs(self.grades).sum()))

    @cached_property
    def descending(self) -> npt.NDArray[np.float64]:
        """Return the grades of each query in descending order, flat, bounded by ``offsets``."""
        ordered: npt.NDArray[np.float64] = self.grades[np.lexsort((-self.grades, self.query_of))]
        return ordered

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query_id: {doc_id: grade}}``, in the order of the table."""
        grades, doc_ids = self.grades.tolist(), self.doc_ids.tolist()
        return {
            query_id: dict(zip(doc_ids[start:stop], grades[start:stop], strict=True))
            for query_id, start, stop in self._spans()
        }

    def rows(self) -> Iterator[tuple[str, str, float]]:
        """Yield (query_id, doc_id, grade) in the order of the table."""
        grades, doc_ids = self.grades.tolist(), self.doc_ids.tolist()
        for query_id, start, stop in self._spans():
            for place in range(start, stop):
                yield query_id, doc_ids[place], grades[place]

    def rows_by_subtopic(self) -> Iterator[tuple[str, str, str, float]]:
        """Yield (query_id, subtopic, doc_id, grade) in the order of the table; nothing without subtopics."""
        if self.subtopics is None:
            return
        names, pairs = self.subtopics.names, [(query_id, doc_id) for query_id, doc_id, _ in self.rows()]
        for row, code, grade in zip(self.subtopics.rows, self.subtopics.codes, self.subtopics.grades, strict=True):
            query_id, doc_id = pairs[row]
            yield query_id, names[code], doc_id, float(grade)

    @property
    def queries(self) -> int:
        """Return the number of queries with at least one judgment."""
        return len(self.query_ids)

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Qrels):
            return NotImplemented
        same = self.to_dict() == other.to_dict()
        return same and sorted(self.rows_by_subtopic()) == sorted(other.rows_by_subtopic())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Qrels({self.queries} queries, {len(self)} judgments)"

    def _spans(self) -> Iterator[tuple[str, int, int]]:
        bounds = self.offsets.tolist()
        return zip(self.query_ids, bounds[:-1], bounds[1:], strict=True)


def _finite(grades: npt.NDArray[np.float64], doc_ids: Texts | list[str]) -> npt.NDArray[np.float64]:
    finite = np.isfinite(grades)
    if not finite.all():
        where = doc_ids[int(np.flatnonzero(~finite)[0])]
        raise NotValid(f"document {where!r}: the grade is not a finite number; leave out rows without a grade")
    return grades
