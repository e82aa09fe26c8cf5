"""Run: the documents a system returned for each query, ranked by trec_eval's rule."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from pathlib import PurePath

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.text_column import Groups, Places, Texts, grouped, repeated, spans

# Parts of a file name that describe the format; they name a run only if nothing else differs.
ENDINGS = frozenset(
    {"bz2", "csv", "gz", "json", "jsonl", "lz4", "parquet", "res", "run", "trec", "tsv", "txt", "xz", "zip", "zst"}
)
Tag = Callable[[int], str | None]


def stem(filename: str) -> str:
    """Return a file name up to its first dot; a leading dot does not count.

    Examples
    --------
    >>> stem("runs/bm25.v2.run.gz"), stem(".hidden.run")
    ('bm25', '.hidden')
    """
    name = PurePath(filename.replace("\\", "/")).name
    return name[:1] + name[1:].partition(".")[0]


def run_names(filenames: Sequence[str], taken: Sequence[str] = (), tag: Tag | None = None) -> list[str]:
    """Return a name for each file: up to the first dot, or the shortest distinct part if files share that name.

    Examples
    --------
    >>> run_names(["bm25.run", "neural.run"]), run_names(["input.A.gz", "input.B.gz"])
    (['bm25', 'neural'], ['A', 'B'])
    >>> run_names(["input.A.1.gz", "input.A.2.gz", "input.B.1.gz"])
    ['A.1', 'A.2', 'B.1']
    """
    names = [stem(one) for one in filenames]
    for shared in sorted({name for name in names if names.count(name) > 1}):
        places = [place for place, name in enumerate(names) if name == shared]
        others = {*taken, *(name for place, name in enumerate(names) if place not in places)}
        distinct = _parts([PurePath(filenames[place].replace("\\", "/")).name for place in places], others)
        if distinct is None and tag is not None:
            tags = [tag(place) or "" for place in places]
            distinct = tags if _apart(tags, others) else None
        for place, name in zip(places, distinct or [shared] * len(places), strict=True):
            names[place] = name
    return names


def _parts(files: Sequence[str], others: set[str]) -> list[str] | None:
    """Return the shortest series of dotted parts that is distinct for each file and unused; None if there is none."""
    parts = [file.split(".") for file in files]
    return _shortest([_without_endings(one) for one in parts], others) or _shortest(parts, others)


def _without_endings(parts: list[str]) -> list[str]:
    while len(parts) > 1 and parts[-1].lower() in ENDINGS:
        parts = parts[:-1]
    return parts


def _shortest(parts: Sequence[list[str]], others: set[str]) -> list[str] | None:
    fewest = min(len(one) for one in parts)
    candidates = [
        [".".join(one[begin : begin + size]) for one in parts]
        for size in range(1, fewest + 1)
        for begin in range(fewest - size + 1)
    ]
    fit = [names for names in candidates if _apart(names, others)]
    # Prefer fewer parts, then shorter parts, then parts further left.
    return min(fit, key=lambda names: (names[0].count("."), sum(map(len, names))), default=None)


def _apart(names: Sequence[str], others: set[str]) -> bool:
    return all(names) and len(set(names)) == len(names) and others.isdisjoint(names)


Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class Run:
    """The ranked documents of one system, as columns grouped by query.

    Queries are sorted by the UTF-8 bytes of their ids. Documents of a query are sorted as in trec_eval: by score
    descending as float64, then by document id descending by UTF-8 bytes. Ranks and the order of rows in a file are
    ignored.

    Parameters
    ----------
    name : str
        Name of the system.
    query_ids : tuple of str
        The answered queries.
    offsets : int64 array, shape (queries + 1,)
        The start of each query.
    doc_ids : Texts
        All returned documents, flat.
    scores : float64 array
        One score for each entry of ``doc_ids``; infinite scores are kept.

    Examples
    --------
    >>> run = Run.from_dict({"q1": {"d1": 9.1, "d2": 8.7, "d3": 8.7}}, name="bm25")
    >>> run.ranking("q1"), len(run), run.ties
    (['d1', 'd3', 'd2'], 3, 0.6666666666666666)
    """

    __slots__ = ("doc_ids", "name", "offsets", "query_ids", "scores")
    HOLDS = __slots__

    def __init__(self, name: str, query_ids: tuple[str, ...], offsets: Places, doc_ids: Texts, scores: Floats) -> None:
        self.name, self.query_ids, self.offsets, self.doc_ids, self.scores = name, query_ids, offsets, doc_ids, scores

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, float]], name: str = "run") -> Run:
        """Build the table from rows of (query_id, doc_id, score) in any order.

        Raises
        ------
        NotValid
            When a document appears twice in a query, or a score is not a number.
        """
        ranked: dict[str, dict[str, float]] = {}
        for query_id, doc_id, score in rows:
            scores = ranked.setdefault(query_id, {})
            if doc_id in scores:
                raise NotValid(f"run {name!r}: query {query_id!r} returns document {doc_id!r} twice; keep one row")
            scores[doc_id] = score
        return cls.from_dict(ranked, name)

    @classmethod
    def from_dict(cls, ranked: Mapping[str, Mapping[str, float]], name: str = "run") -> Run:
        """Build the table from ``{query_id: {doc_id: score}}``; a query without documents is left out.

        Raises
        ------
        NotValid
            When a score is not a number (NaN, a word), or an id is not a string.
        """
        # Python orders strings by code point, which is the order of their UTF-8 bytes.
        query_ids = tuple(sorted(query_id for query_id, scores in ranked.items() if scores))
        answers = [ranked[query_id] for query_id in query_ids]
        offsets = np.array([0, *accumulate(map(len, answers))], dtype=np.int64)
        try:
            "".join(query_ids)
            doc_ids = Texts.of(list(chain.from_iterable(answers)))
            scores = np.fromiter(chain.from_iterable(answer.values() for answer in answers), np.float64, len(doc_ids))
        except (TypeError, ValueError) as error:
            raise NotValid(f"run {name!r}: ids must be strings and scores must be numbers ({error})") from error
        return cls.from_groups(Groups(query_ids, offsets, None), doc_ids, scores, name, distinct=True)

    @classmethod
    def from_columns(cls, query_ids: Texts, doc_ids: Texts, scores: Floats, name: str = "run") -> Run:
        """Build the table from columns of equal length, rows in any order.

        Parameters
        ----------
        query_ids, doc_ids : Texts, shape (rows,)
            The query and the document of each row.
        scores : float64 array, shape (rows,)
            The scores.
        name : str
            Name of the system.

        Raises
        ------
        NotValid
            When a document appears twice in a query, or a score is not a number (NaN).
        """
        return cls.from_groups(grouped(query_ids), doc_ids, scores, name)

    @classmethod
    def from_groups(
        cls, groups: Groups, doc_ids: Texts, scores: Floats, name: str = "run", *, distinct: bool = False
    ) -> Run:
        """Build the table like `from_columns`, from rows that are already grouped by query. If `distinct`, skip the
        check for repeated documents.
        """
        if groups.order is not None:
            doc_ids, scores = doc_ids.take(groups.order), scores[groups.order]
        order = _by_score(doc_ids, scores, groups.offsets, name)
        if order is not None:
            doc_ids, scores = doc_ids.take(order), scores[order]
        run = cls(name, groups.names, groups.offsets, doc_ids, scores)
        if not distinct:
            run.refuse_duplicates()
        return run

    def named(self, name: str) -> Run:
        """Return the same run under another name."""
        return Run(name, self.query_ids, self.offsets, self.doc_ids, self.scores)

    def refuse_duplicates(self) -> None:
        """Raise an exception if a query returns a document twice.

        Raises
        ------
        NotValid
            When a query returns a document twice.
        """
        query_of = self.query_of
        duplicate = repeated(query_of, self.doc_ids)
        if duplicate is not None:
            query_id, doc_id = self.query_ids[int(query_of[duplicate[0]])], self.doc_ids[duplicate[0]]
            raise NotValid(f"run {self.name!r}: query {query_id!r} returns document {doc_id!r} twice; keep one row")

    @property
    def query_of(self) -> Places:
        """Return the position of each row's query."""
        return np.repeat(np.arange(self.queries), np.diff(self.offsets))

    @property
    def tied_with_next(self) -> Flags:
        """Return whether each row has the same score as the next row of the same query."""
        tied = np.zeros(len(self), dtype=np.bool_)
        np.equal(self.scores[1:], self.scores[:-1], out=tied[:-1])
        # The last row of a query never ties with the first row of the next.
        tied[self.offsets[1:-1] - 1] = False
        return tied

    @property
    def tied_rows(self) -> int:
        """Return the number of rows that share their score with another row of the same query."""
        tied = self.tied_with_next
        if not tied.any():
            return 0
        tied[1:] |= tied[:-1].copy()
        return int(np.count_nonzero(tied))

    @property
    def ties(self) -> float | None:
        """Return the share of rows that share their score with another row of the same query; None for an empty run."""
        return self.tied_rows / len(self) if len(self) else None

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query_id: {doc_id: score}}``, best document first."""
        scores, doc_ids = self.scores.tolist(), self.doc_ids.tolist()
        return {
            query_id: dict(zip(doc_ids[start:stop], scores[start:stop], strict=True))
            for query_id, start, stop in self._spans()
        }

    def rows(self) -> Iterator[tuple[str, str, float]]:
        """Yield (query_id, doc_id, score) in the order of the table."""
        scores, doc_ids = self.scores.tolist(), self.doc_ids.tolist()
        for query_id, start, stop in self._spans():
            for place in range(start, stop):
                yield query_id, doc_ids[place], scores[place]

    def ranking(self, query_id: str) -> list[str]:
        """Return the documents of a query, best first; empty for an unanswered query."""
        place = bisect_left(self.query_ids, query_id)
        if place == len(self.query_ids) or self.query_ids[place] != query_id:
            return []
        return self.doc_ids[int(self.offsets[place]) : int(self.offsets[place + 1])]

    @property
    def queries(self) -> int:
        """Return the number of queries that the system answers."""
        return len(self.query_ids)

    def __len__(self) -> int:
        return len(self.scores)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return self.name == other.name and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {self.queries} queries, {len(self)} rows)"

    def _spans(self) -> Iterator[tuple[str, int, int]]:
        bounds = self.offsets.tolist()
        return zip(self.query_ids, bounds[:-1], bounds[1:], strict=True)


def _by_score(doc_ids: Texts, scores: Floats, offsets: Places, name: str) -> Places | None:
    """Return the order of rows within their queries by trec_eval's rule; None if they are in that order."""
    if np.isnan(scores).any():
        place = int(np.flatnonzero(np.isnan(scores))[0])
        raise NotValid(f"run {name!r}: document {doc_ids[place]!r} has a score that is not a number (NaN)")
    first = np.zeros(len(scores), dtype=np.bool_)
    first[offsets[:-1]] = True
    rises = scores[1:] > scores[:-1]
    order = None
    if (rises & ~first[1:]).any():
        order = np.lexsort((-scores, np.cumsum(first)))
        scores = scores[order]
    same = (scores[1:] == scores[:-1]) & ~first[1:]
    return _with_ties(doc_ids, same, order) if same.any() else order


def _with_ties(doc_ids: Texts, same: Flags, order: Places | None) -> Places | None:
    """Order the rows of each block of equal scores by id, descending."""
    inside = np.concatenate(([False], same, [False]))
    bounds = np.flatnonzero(inside[1:] != inside[:-1])
    begins, ends = bounds[::2], bounds[1::2]
    whole = np.arange(len(doc_ids)) if order is None else order
    ordered = whole.copy()
    # Almost all ties have two rows, which need a comparison instead of a sort.
    many = ends - begins > 1
    pairs = begins[~many]
    swapped = pairs[doc_ids.below(whole[pairs], whole[pairs + 1])]
    ordered[swapped], ordered[swapped + 1] = whole[swapped + 1], whole[swapped]
    if many.any():
        sizes = ends[many] - begins[many] + 1
        rows = spans(begins[many], sizes)
        ids = doc_ids.take(whole[rows])
        ordered[rows] = whole[rows[ids.descending(np.repeat(np.arange(len(sizes)), sizes))]]
    return None if order is None and (ordered == whole).all() else ordered
