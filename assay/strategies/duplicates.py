"""Duplicate documents within one query's pool, so that one judgment serves all of them.

One query's pool has few documents, so their overlap is counted, not estimated by hashing: the threshold is exact, and
the same pool gives the same result on every machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.text_column import MIX, SPREAD, Keys, Places, Texts
from assay.sampling.row_counting import normalize
from assay.strategies.candidates import Candidates, Pair, mixed
from assay.strategies.pooled_pair import EXACT, NEAR

SHINGLE = 3
# The approximate number of documents compared at once: their texts are in memory.
BLOCK = 2_000
# Text without white space is split into parts of this length, since a word may be as long as a page.
_WORDS = re.compile(r"\w{1,32}")
_NUMBERS = re.compile(r"\d+")


class Content(NamedTuple):
    """The content of a document as shown to raters, without its address, because mirrors have different addresses."""

    title: str
    text: str
    fields: str = ""
    image: str = ""


class Copy(NamedTuple):
    """The position of the document that is judged instead, whether both are equal, and their similarity."""

    of: int
    exact: bool
    similarity: float


def written(fields: Mapping[str, Any]) -> str:
    """Return a document's fields as lines, by name.

    Examples
    --------
    >>> written({"size": 42, "color": "red"})
    'color: red\\nsize: 42'
    """
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
    return "\n".join(f"{name}: {texts[name]}" for name in sorted(texts))


Contents = Callable[[Sequence[str]], Sequence[Content | None]]


@dataclass(frozen=True, slots=True)
class Duplicates:
    """The comparison of documents."""

    contents: Contents
    similarity: float | None = None
    apart: frozenset[Pair] = frozenset()

    def __post_init__(self) -> None:
        if self.similarity is not None and not 0.5 < self.similarity <= 1:
            raise NotValid(f"The similarity is {self.similarity:g}. Use a number above 0.5, up to 1.", "similarity")

    @property
    def kind(self) -> str:
        """Return the name of the comparison: exact or near."""
        return EXACT if self.similarity is None else NEAR


@dataclass(frozen=True, eq=False, slots=True)
class Copies:
    """Documents that duplicate another document of their query."""

    rows: Places
    of: Places
    exact: npt.NDArray[np.bool_]
    similarity: npt.NDArray[np.float64]

    @classmethod
    def none(cls) -> Copies:
        """Return no duplicates."""
        whole = np.zeros(0, dtype=np.int64)
        return cls(whole, whole, np.zeros(0, dtype=np.bool_), np.zeros(0))

    @classmethod
    def joined(cls, parts: Sequence[Copies]) -> Copies:
        """Return all of them, by row."""
        if not parts:
            return cls.none()
        rows = np.concatenate([part.rows for part in parts])
        order = np.argsort(rows)
        return cls(
            rows[order],
            np.concatenate([part.of for part in parts])[order],
            np.concatenate([part.exact for part in parts])[order],
            np.concatenate([part.similarity for part in parts])[order],
        )

    def where(self, selected: npt.NDArray[np.bool_]) -> Copies:
        """Return the selected ones."""
        return Copies(self.rows[selected], self.of[selected], self.exact[selected], self.similarity[selected])

    def __len__(self) -> int:
        return len(self.rows)


def find_copies(table: Candidates, rows: Places, how: Duplicates) -> Copies:
    """Find the documents that duplicate a better-ranked document of the same query."""
    rows = np.sort(rows)
    query = table.query_of[rows]
    begins = np.flatnonzero(np.append(True, query[1:] != query[:-1])[: len(rows)])
    parts, begin = [], 0
    for end in [*begins.tolist()[1:], len(rows)]:
        if end - begin >= BLOCK or (end == len(rows) and end > begin):
            parts.append(_in_block(table, rows[begin:end], how))
            begin = end
    return Copies.joined(parts)


def late_copies(table: Candidates, earlier: Places, chosen: Places, how: Duplicates) -> Copies:
    """Find the chosen documents that duplicate an earlier one."""
    copies = find_copies(table, np.union1d(earlier, chosen), how)
    new = np.setdiff1d(chosen, earlier)
    row_is_new, of_is_new = np.isin(copies.rows, new), np.isin(copies.of, new)
    late = row_is_new != of_is_new
    rows, first = np.unique(np.where(row_is_new, copies.rows, copies.of)[late], return_index=True)
    of = np.where(row_is_new, copies.of, copies.rows)[late][first]
    return Copies(rows, of, copies.exact[late][first], copies.similarity[late][first])


def _in_block(table: Candidates, rows: Places, how: Duplicates) -> Copies:
    """Compare the documents of several whole queries."""
    names = table.doc_ids.take(rows).tolist()
    distinct = list(dict.fromkeys(names))
    contents = dict(zip(distinct, map(_comparable, how.contents(distinct)), strict=True))
    query, ranks = table.query_of[rows].tolist(), table.best_rank[rows].tolist()
    comparable = [contents[name] for name in names]
    if how.apart:
        pairs = [(table.query_ids[of], name) for of, name in zip(query, names, strict=True)]
        comparable = [None if pair in how.apart else content for pair, content in zip(pairs, comparable, strict=True)]
    # From the best document on; documents that no run returns come last.
    best = sorted(range(len(names)), key=lambda place: (ranks[place] or np.inf, names[place].encode()))
    copies = _exact(query, comparable, best)
    if how.similarity is not None:
        left = [place for place in best if comparable[place] is not None and place not in copies]
        near = _stars(_near(query, comparable, left, how.similarity), left)
        # A document equal to a duplicate is a duplicate of the same document.
        copies = {place: near.get(one.of, one) for place, one in copies.items()} | near
    places = sorted(copies)
    of, exact, share = zip(*(copies[place] for place in places), strict=True) if places else ((), (), ())
    return Copies(rows[places], rows[list(of)], np.array(exact, dtype=np.bool_), np.array(share, dtype=np.float64))


def _comparable(content: Content | None) -> Content | None:
    """Return the content, or None for an empty document, which duplicates nothing."""
    return content if content is not None and any(content) else None


def _exact(query: Sequence[int], contents: Sequence[Content | None], best: Sequence[int]) -> dict[int, Copy]:
    """Return each document that equals a better-ranked document after normalization, with that document."""
    named: dict[tuple[int, str, str], list[int]] = {}
    for place in best:
        if (content := contents[place]) is not None:
            named.setdefault((query[place], normalize(content.title), content.image), []).append(place)
    copies = {}
    # Most titles are unique in their query, so that their texts need no normalization.
    for places in named.values():
        first: dict[tuple[str, str], int] = {}
        for place in places if len(places) > 1 else ():
            of = first.setdefault(_form(contents[place]), place)
            if of != place:
                copies[place] = Copy(of, True, 1.0)
    return copies


def _form(content: Content | None) -> tuple[str, str]:
    return (normalize(content.text), normalize(content.fields)) if content else ("", "")


def _stars(alike: dict[tuple[int, int], float], best: Sequence[int]) -> dict[int, Copy]:
    """Assign to each document, best first, the similar documents without an original."""
    near: dict[int, list[tuple[int, float]]] = {}
    for (one, other), share in alike.items():
        near.setdefault(one, []).append((other, share))
        near.setdefault(other, []).append((one, share))
    copies: dict[int, Copy] = {}
    judged: set[int] = set()
    for place in best:
        if place in near and place not in copies:
            judged.add(place)
            for other, share in near[place]:
                if other not in judged:
                    copies.setdefault(other, Copy(place, False, share))
    return copies


def _near(
    query: Sequence[int], contents_of: Sequence[Content | None], places: Sequence[int], similarity: float
) -> dict[tuple[int, int], float]:
    """Return the pairs of positions in a query whose sets of three-word parts are similar enough."""
    from scipy.sparse import csr_array

    contents = [content for place in places if (content := contents_of[place]) is not None]
    parts, of = _shingles(contents)
    if not len(parts):
        return {}
    sizes = np.bincount(of, minlength=len(places))
    # The query is part of the key: one product compares the documents of every query among themselves.
    codes = mixed(np.array([query[place] for place in places], dtype=np.uint64) + SPREAD)
    keys, columns, counts = np.unique(parts ^ codes[of], return_inverse=True, return_counts=True)
    shared = counts[columns] > 1
    ones = np.ones(int(shared.sum()), dtype=np.int32)
    table = csr_array((ones, (of[shared], columns[shared])), shape=(len(places), len(keys)))
    both = (table @ table.T).tocoo()
    one, other, common = both.row, both.col, both.data
    share = common / (sizes[one] + sizes[other] - common)
    enough = np.flatnonzero((one < other) & (share >= similarity))
    similar = zip(one[enough].tolist(), other[enough].tolist(), share[enough].tolist(), strict=True)
    return {
        (places[left], places[right]): many
        for left, right, many in similar
        if _same_thing(contents[left], contents[right])
    }


def _same_thing(one: Content, other: Content) -> bool:
    """Return whether image and numbers agree: a different size or year means another product."""
    return one.image == other.image and _numbers(one) == _numbers(other)


def _numbers(content: Content) -> list[str]:
    return sorted(_NUMBERS.findall(f"{content.title} {content.fields}"))


def _shingles(contents: Sequence[Content]) -> tuple[Keys, Places]:
    """Return the three-word parts of the documents as numbers, each once per document, and their documents."""
    texts = (f"{one.title} {one.text} {one.fields}" for one in contents)
    # White space does not matter to words: ASCII text is only lowered, in a fifth of the time.
    words = [_WORDS.findall(text.lower() if text.isascii() else normalize(text)) for text in texts]
    sizes = np.array([len(some) for some in words], dtype=np.int64)
    keys = Texts.of([word for some in words for word in some]).keys() if sizes.any() else np.zeros(0, dtype=np.uint64)
    of = np.repeat(np.arange(len(words)), sizes)
    parts = keys
    for at in range(1, SHINGLE):
        later = np.append(keys[at:], np.zeros(min(at, len(keys)), dtype=np.uint64))
        inside = np.append(of[at:], np.full(min(at, len(of)), -1)) == of
        parts = mixed(parts * MIX + np.where(inside, later, np.uint64(0)))
    ends = np.cumsum(sizes)[of]
    whole = np.arange(len(of)) <= np.maximum(ends - SHINGLE, ends - sizes[of])
    parts, of = parts[whole], of[whole]
    order = np.lexsort((parts, of))
    parts, of = parts[order], of[order]
    fresh = np.append(True, (parts[1:] != parts[:-1]) | (of[1:] != of[:-1]))[: len(parts)]
    return parts[fresh], of[fresh]
