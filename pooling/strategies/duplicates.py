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

from judgments.core.errors import NotValid
from judgments.core.texts import MIX, SPREAD, Keys, Places, Texts
from pooling.sampling.log import normalize
from pooling.strategies.candidate_blocks import Pair, mixed
from pooling.strategies.candidates import Candidates
from pooling.strategies.pair import EXACT, NEAR

SHINGLE = 3
# Documents that are compared at once, more or less: their texts are held.
BLOCK = 2_000
# Where there is no white space a word may be a page; parts of this length do as well.
_WORDS = re.compile(r"\w{1,32}")
_NUMBERS = re.compile(r"\d+")


class Content(NamedTuple):
    """What a rater sees of a document; its address is left out, since a mirror has another one."""

    title: str
    text: str
    fields: str = ""
    image: str = ""


class Copy(NamedTuple):
    """The place of the document that is judged instead, whether both are equal, and how much they have in common."""

    of: int
    exact: bool
    similarity: float


def written(fields: Mapping[str, Any]) -> str:
    """A document's fields as lines, by name.

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
    """How documents are compared.

    Parameters
    ----------
    contents : callable
        Ids to contents in the same order; None for a document of which nothing is known, which is never a duplicate.
    similarity : float or None
        The least share of three-word parts that two documents have in common, of all parts of both: in (0.5, 1]. None
        finds exact duplicates alone.
    apart : frozenset of (query_id, doc_id)
        Pairs that are judged by themselves whatever they say, since a person looked at them.
    """

    contents: Contents
    similarity: float | None = None
    apart: frozenset[Pair] = frozenset()

    def __post_init__(self) -> None:
        if self.similarity is not None and not 0.5 < self.similarity <= 1:
            message = f"the similarity is {self.similarity:g}; give a number above 0.5, up to 1"
            raise NotValid(message, {"similarity": message})

    @property
    def kind(self) -> str:
        """The word for it: exact or near."""
        return EXACT if self.similarity is None else NEAR


@dataclass(frozen=True, eq=False, slots=True)
class Copies:
    """Documents that say what another one of their query says.

    Parameters
    ----------
    rows : int64 array, shape (copies,)
        Rows of the candidates, ascending.
    of : int64 array, shape (copies,)
        For each the row of the document that is judged in its stead.
    exact : bool array, shape (copies,)
        Whether both are equal after normalisation.
    similarity : float64 array, shape (copies,)
        The share of three-word parts that both have in common; 1 for exact ones.
    """

    rows: Places
    of: Places
    exact: npt.NDArray[np.bool_]
    similarity: npt.NDArray[np.float64]

    @classmethod
    def none(cls) -> Copies:
        """There are none."""
        whole = np.zeros(0, dtype=np.int64)
        return cls(whole, whole, np.zeros(0, dtype=np.bool_), np.zeros(0))

    @classmethod
    def joined(cls, parts: Sequence[Copies]) -> Copies:
        """All of them, by row."""
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

    def where(self, kept: npt.NDArray[np.bool_]) -> Copies:
        """Return some of them."""
        return Copies(self.rows[kept], self.of[kept], self.exact[kept], self.similarity[kept])

    def __len__(self) -> int:
        return len(self.rows)


def find_copies(table: Candidates, rows: Places, how: Duplicates) -> Copies:
    """Find the documents that say the same as one that stands better in the same query.

    Parameters
    ----------
    table : Candidates
        The pairs.
    rows : int64 array
        Which of them are compared.
    how : Duplicates
        What counts as the same.

    Returns
    -------
    Copies
        The document of the best rank is judged (equal ranks by id); whatever is like it is its copy. A document that is
        only like a copy is not: each copy was compared with the document that is judged in its stead.

    Notes
    -----
    Exact means: title, text and fields are equal once case, white space and Unicode's forms are, and the image is the
    same. Near means: the Jaccard similarity of the sets of three-word parts reaches ``similarity``, and the image and
    all numbers in title and fields are the same: a model 20 is not a model 21.
    """
    rows = np.sort(rows)
    query = table.query_of[rows]
    begins = np.flatnonzero(np.append(True, query[1:] != query[:-1])[: len(rows)])
    parts, begin = [], 0
    for end in [*begins.tolist()[1:], len(rows)]:
        if end - begin >= BLOCK or (end == len(rows) and end > begin):
            parts.append(_in_block(table, rows[begin:end], how))
            begin = end
    return Copies.joined(parts)


def _in_block(table: Candidates, rows: Places, how: Duplicates) -> Copies:
    """Compare the documents of some whole queries."""
    names = table.doc_ids.take(rows).tolist()
    distinct = list(dict.fromkeys(names))
    contents = dict(zip(distinct, map(_told, how.contents(distinct)), strict=True))
    query, ranks = table.query_of[rows].tolist(), table.best_rank[rows].tolist()
    told = [contents[name] for name in names]
    if how.apart:
        pairs = [(table.query_ids[of], name) for of, name in zip(query, names, strict=True)]
        told = [None if pair in how.apart else content for pair, content in zip(pairs, told, strict=True)]
    # From the best document on; what no run returns comes last.
    best = sorted(range(len(names)), key=lambda place: (ranks[place] or np.inf, names[place].encode()))
    found = _exact(query, told, best)
    if how.similarity is not None:
        left = [place for place in best if told[place] is not None and place not in found]
        near = _stars(_near(query, told, left, how.similarity), left)
        # What equals a copy is a copy of the same document.
        found = {place: near.get(one.of, one) for place, one in found.items()} | near
    places = sorted(found)
    of, exact, share = zip(*(found[place] for place in places), strict=True) if places else ((), (), ())
    return Copies(rows[places], rows[list(of)], np.array(exact, dtype=np.bool_), np.array(share, dtype=np.float64))


def _told(content: Content | None) -> Content | None:
    """A document with nothing in it says nothing, and so does not say the same as another one."""
    return content if content is not None and any(content) else None


def _exact(query: Sequence[int], told: Sequence[Content | None], best: Sequence[int]) -> dict[int, Copy]:
    """Each document that equals a better one after normalisation, and that one."""
    named: dict[tuple[int, str, str], list[int]] = {}
    for place in best:
        if (content := told[place]) is not None:
            named.setdefault((query[place], normalize(content.title), content.image), []).append(place)
    found = {}
    # Most titles stand alone in their query, and their texts need not be brought into form.
    for places in named.values():
        first: dict[tuple[str, str], int] = {}
        for place in places if len(places) > 1 else ():
            of = first.setdefault(_form(told[place]), place)
            if of != place:
                found[place] = Copy(of, True, 1.0)
    return found


def _form(content: Content | None) -> tuple[str, str]:
    return (normalize(content.text), normalize(content.fields)) if content else ("", "")


def _stars(alike: dict[tuple[int, int], float], best: Sequence[int]) -> dict[int, Copy]:
    """Let each document, from the best on, take as its copies what is like it and nobody's copy yet."""
    near: dict[int, list[tuple[int, float]]] = {}
    for (one, other), share in alike.items():
        near.setdefault(one, []).append((other, share))
        near.setdefault(other, []).append((one, share))
    found: dict[int, Copy] = {}
    judged: set[int] = set()
    for place in best:
        if place in near and place not in found:
            judged.add(place)
            for other, share in near[place]:
                if other not in judged:
                    found.setdefault(other, Copy(place, False, share))
    return found


def _near(
    query: Sequence[int], told: Sequence[Content | None], places: Sequence[int], similarity: float
) -> dict[tuple[int, int], float]:
    """The pairs of places of one query whose sets of three-word parts are alike enough."""
    from scipy.sparse import csr_array

    contents = [content for place in places if (content := told[place]) is not None]
    parts, of = _shingles(contents)
    if not len(parts):
        return {}
    sizes = np.bincount(of, minlength=len(places))
    # The query is in the key: one product compares the documents of every query, each with its own kind alone.
    codes = mixed(np.array([query[place] for place in places], dtype=np.uint64) + SPREAD)
    keys, columns, counts = np.unique(parts ^ codes[of], return_inverse=True, return_counts=True)
    shared = counts[columns] > 1
    ones = np.ones(int(shared.sum()), dtype=np.int32)
    table = csr_array((ones, (of[shared], columns[shared])), shape=(len(places), len(keys)))
    both = (table @ table.T).tocoo()
    one, other, common = both.row, both.col, both.data
    share = common / (sizes[one] + sizes[other] - common)
    enough = np.flatnonzero((one < other) & (share >= similarity))
    found = zip(one[enough].tolist(), other[enough].tolist(), share[enough].tolist(), strict=True)
    return {
        (places[left], places[right]): many
        for left, right, many in found
        if _same_thing(contents[left], contents[right])
    }


def _same_thing(one: Content, other: Content) -> bool:
    """Whether image and numbers agree: a size or a year is one word of many, and another product."""
    return one.image == other.image and _numbers(one) == _numbers(other)


def _numbers(content: Content) -> list[str]:
    return sorted(_NUMBERS.findall(f"{content.title} {content.fields}"))


def _shingles(contents: Sequence[Content]) -> tuple[Keys, Places]:
    """The three-word parts of the documents as numbers, each once a document, and whose they are.

    A document of fewer words is one part.
    """
    texts = (f"{one.title} {one.text} {one.fields}" for one in contents)
    # White space is no matter to words: what is ASCII is only lowered, in a fifth of the time.
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
