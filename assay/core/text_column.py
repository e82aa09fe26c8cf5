"""Columns of millions of texts, stored, compared and sorted without a Python object for each. A column is a buffer
of UTF-8 bytes with the start and end of each text. Eight bytes at a time are read as a number, so that equality,
keys and order are computed with arithmetic on all rows at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

WORD = 8
# Odd numbers with random bits, so that multiplication mixes every bit of a word upward.
SPREAD = np.uint64(0x9E3779B97F4A7C15)
MIX = np.uint64(0xD6E8FEB86659FD93)
HALF = np.uint64(32)
# If texts occupy less than this fraction of the buffer, they are decoded individually.
SPARSE = 50
# Up to this many rows are sorted word by word; for more rows, the words are combined into a number first.
FEW_ROWS = 1000
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(WORD + 1)], dtype=np.uint64)


class Texts(Sequence[str]):
    """A column of texts.

    Examples
    --------
    >>> column = Texts.of(["d1", "d2", "d1"])
    >>> column[1], column[:2], len(column)
    ('d2', ['d1', 'd2'], 3)
    """

    __slots__ = ("_keys", "_list", "buffer", "ends", "starts")
    HOLDS = __slots__

    def __init__(self, buffer: Bytes, starts: Places, ends: Places) -> None:
        self.buffer, self.starts, self.ends = buffer, starts, ends
        self._keys: Keys | None = None
        self._list: list[str] | None = None

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Build the column from a list."""
        joined = "".join(texts)
        if joined.isascii():
            lengths, data = map(len, texts), joined.encode("ascii")
        else:
            parts = [text.encode("utf-8", "surrogatepass") for text in texts]
            lengths, data = map(len, parts), b"".join(parts)
        sizes = np.fromiter(lengths, np.int64, len(texts))
        ends = sizes.cumsum()
        column = cls(padded(data), ends - sizes, ends)
        column._list = list(texts)
        return column

    @classmethod
    def joined(cls, columns: Sequence[Texts]) -> Texts:
        """Concatenate columns; unused bytes are not copied."""
        if len(columns) == 1:
            return columns[0]
        buffers, starts, ends, begin = [], [], [], 0
        for column in columns:
            low = int(column.starts.min()) if len(column) else 0
            high = int(column.ends.max(initial=0))
            buffers.append(column.buffer[low:high])
            starts.append(column.starts + (begin - low))
            ends.append(column.ends + (begin - low))
            begin += high - low
        room = np.zeros(WORD, dtype=np.uint8)
        return cls(np.concatenate([*buffers, room]), np.concatenate(starts), np.concatenate(ends))

    def take(self, places: Places | slice) -> Texts:
        """Return the column of these rows, in this order."""
        column = Texts(self.buffer, self.starts[places], self.ends[places])
        if self._keys is not None:
            column._keys = self._keys[places]
        return column

    def keys(self) -> Keys:
        """Return a number for each text: equal texts have equal keys, and different texts almost always have different
        keys. Keys are the same in every column and on every machine; compare the texts as well to be certain."""
        if self._keys is None:
            sizes = self.ends - self.starts
            keys = sizes.astype(np.uint64) * MIX
            for at, word in enumerate(self._words(sizes, _words_of(sizes))):
                words = word * (SPREAD + np.uint64(2 * at))
                words ^= words >> HALF
                words *= MIX
                keys += words
            keys ^= keys >> HALF
            keys *= SPREAD
            self._keys = keys
        return self._keys

    @property
    def words(self) -> int:
        """Return the number of 8-byte words of the longest text."""
        return _words_of(self.ends - self.starts)

    def same(self, mine: Places, other: Texts, theirs: Places) -> npt.NDArray[np.bool_]:
        """Return for each pair of rows, from this and another column, whether the texts are equal."""
        here, there = self.take(mine), other.take(theirs)
        sizes = here.ends - here.starts
        equal: npt.NDArray[np.bool_] = sizes == there.ends - there.starts
        longest = _words_of(sizes) if equal.any() else 0
        for mine_, theirs_ in zip(here._words(sizes, longest), there._words(sizes, longest), strict=True):
            equal &= mine_ == theirs_
        return equal

    def changes(self) -> npt.NDArray[np.bool_]:
        """Return for each row whether its text differs from that of the previous row; True for the first row."""
        changed = np.ones(len(self), dtype=np.bool_)
        sizes = self.ends - self.starts
        np.not_equal(sizes[1:], sizes[:-1], out=changed[1:])
        for words in self._words(sizes, self.words):
            changed[1:] |= words[1:] != words[:-1]
        return changed

    def below(self, mine: Places, others: Places) -> npt.NDArray[np.bool_]:
        """Return for each pair of rows of this column whether the first text sorts before the second by UTF-8 bytes."""
        first, second = self.take(mine), self.take(others)
        sizes = first.ends - first.starts, second.ends - second.starts
        before = np.zeros(len(mine), dtype=np.bool_)
        open_ = np.ones(len(mine), dtype=np.bool_)
        longest = max(map(_words_of, sizes))
        for words in zip(first._words(sizes[0], longest), second._words(sizes[1], longest), strict=True):
            left, right = words[0].byteswap(), words[1].byteswap()
            before |= open_ & (left < right)
            open_ &= left == right
            if not open_.any():
                break
        return before

    def descending(self, groups: Places) -> Places:
        """Return the order of rows by group ascending, then text descending by UTF-8 bytes."""
        sizes = self.ends - self.starts
        # Ids often have a common prefix: a word that is the same everywhere does not affect the order.
        differing = (words for words in self._words(sizes, _words_of(sizes)) if (words != words[0]).any())
        columns = [~words.byteswap() for words in differing]
        if len(self) > FEW_ROWS:
            packed = _packed([(groups - groups.min()).astype(np.uint64), *columns])
            if packed is not None:
                return packed.argsort(kind="stable")
        return np.lexsort([*reversed(columns), groups])

    def first_word(self) -> Keys:
        """Return the first 8 bytes of every text, padded with zeros."""
        return next(self._words(self.ends - self.starts, 1))

    def first_words(self, skipped: int) -> Keys:
        """Return 8 bytes of every text after the given number of bytes; bytes after a text's end are undefined."""
        last = len(self.buffer) - WORD
        view = np.ndarray((last + 1,), "<u8", self.buffer, strides=(1,))
        words: Keys = view[np.minimum(self.starts + skipped, last)]
        return words

    def tolist(self) -> list[str]:
        """Return all texts."""
        if self._list is None:
            self._list = self._decoded(0, len(self))
        return self._list

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if self._list is not None:
            return self._list[place]
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            return self._decoded(start, max(start, stop)) if step == 1 else self.tolist()[place]
        return self.buffer[self.starts[place] : self.ends[place]].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Texts | list | tuple):
            return self.tolist() == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Texts({self.tolist()!r})"

    def _decoded(self, start: int, stop: int) -> list[str]:
        starts, ends = self.starts[start:stop].tolist(), self.ends[start:stop].tolist()
        if not starts:
            return []
        first, last = min(starts), max(ends)
        if last - first > SPARSE * (sum(ends) - sum(starts)):
            letters = self.buffer.data
            return [str(letters[begin:end], "utf-8", "surrogatepass") for begin, end in zip(starts, ends, strict=True)]
        data = self.buffer[first:last].tobytes()
        if data.isascii():
            text = data.decode("ascii")
            return [text[begin - first : end - first] for begin, end in zip(starts, ends, strict=True)]
        return [
            data[begin - first : end - first].decode("utf-8", "surrogatepass")
            for begin, end in zip(starts, ends, strict=True)
        ]

    def _words(self, sizes: Places, count: int) -> Iterator[Keys]:
        """Yield the words of every text in order; bytes after a text's end are zero."""
        # A view with a stride of one byte reads a word at any position; numpy handles the unaligned access.
        last = len(self.buffer) - WORD
        view = np.ndarray((last + 1,), "<u8", self.buffer, strides=(1,))
        shortest, furthest = (int(sizes.min()), int(self.starts.max())) if len(self) else (0, 0)
        for begin in range(0, WORD * count, WORD):
            places = self.starts + begin if begin else self.starts
            words: Keys = view[np.minimum(places, last) if furthest + begin > last else places]
            if shortest < begin + WORD:
                words &= _MASKS.take(sizes - begin, mode="clip")
            yield words


def _packed(columns: Sequence[Keys]) -> Keys | None:
    """Return a number for each row that sorts like the columns, most significant first; None if 64 bits are too few.
    Bits that are the same in all rows are dropped: four bits of a digit remain.
    """
    differing = [f"{int(np.bitwise_or.reduce(column ^ column[0])):b}"[::-1] for column in columns]
    if sum(bits.count("1") for bits in differing) > 8 * WORD:
        return None
    packed, used = np.zeros(len(columns[0]), dtype=np.uint64), 0
    for column, bits in zip(reversed(columns), reversed(differing), strict=True):
        for run in re.finditer("1+", bits):
            size = run.end() - run.start()
            part = column >> np.uint64(run.start()) & np.uint64((1 << size) - 1)
            packed |= part << np.uint64(used)
            used += size
    return packed


def _words_of(sizes: Places) -> int:
    return -(-int(sizes.max(initial=0)) // WORD)


def padded(data: bytes) -> Bytes:
    """Copy bytes into a buffer with padding, as `Texts` needs it."""
    buffer = np.zeros(len(data) + WORD, dtype=np.uint8)
    buffer[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return buffer


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows by query."""

    names: tuple[str, ...]
    offsets: Places
    order: Places | None

    @property
    def query_of(self) -> Places:
        """Return the position of each row's query, for rows in their original order."""
        places = np.repeat(np.arange(len(self.names)), np.diff(self.offsets))
        if self.order is None:
            return places
        query_places = np.empty_like(places)
        query_places[self.order] = places
        return query_places


def grouped(query_ids: Texts) -> Groups:
    """Group the rows by query and sort the queries.

    Examples
    --------
    >>> found = grouped(Texts.of(["q2", "q2", "q1"]))
    >>> found.names, found.offsets.tolist(), found.order.tolist()
    (('q1', 'q2'), [0, 1, 3], [2, 0, 1])
    >>> found.query_of.tolist()
    [1, 1, 0]
    """
    starts = np.flatnonzero(query_ids.changes()) if len(query_ids) else np.zeros(0, dtype=np.int64)
    blocks = query_ids.take(starts).tolist()
    sizes = np.diff(starts, append=len(query_ids))
    names = tuple(sorted(set(blocks)))
    if names == tuple(blocks):
        return Groups(names, np.append(starts, len(query_ids)), None)
    code = {name: at for at, name in enumerate(names)}
    codes = np.array([code[name] for name in blocks], dtype=np.int64)
    by_code = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, weights=sizes, minlength=len(names)).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    return Groups(names, offsets, spans(starts[by_code], sizes[by_code]))


def distinct(texts: Texts) -> tuple[tuple[str, ...], Places]:
    """Return the distinct texts sorted by UTF-8 bytes, and the position of each row's text among them.

    Examples
    --------
    >>> names, places = distinct(Texts.of(["q2", "q1", "q2"]))
    >>> names, places.tolist()
    (('q1', 'q2'), [1, 0, 1])
    """
    begins = np.flatnonzero(texts.changes())
    if 2 * len(begins) < len(texts):
        # Rows with the same text are usually adjacent: the first represents all.
        names, places = distinct(texts.take(begins))
        return names, np.repeat(places, np.diff(begins, append=len(texts)))
    _, first, codes = np.unique(texts.keys(), return_index=True, return_inverse=True)
    known = texts.take(first)
    # Two texts may have the same key; then the texts decide.
    same = texts.same(np.arange(len(texts)), known, codes).all()
    listed = known.tolist() if same else list(dict.fromkeys(texts.tolist()))
    ordered = sorted(listed)
    place = {name: at for at, name in enumerate(ordered)}
    if not same:
        return tuple(ordered), np.array([place[name] for name in texts], dtype=np.int64)
    return tuple(ordered), np.array([place[name] for name in listed], dtype=np.int64)[codes]


def spans(starts: Places, sizes: Places) -> Places:
    """Return the positions in all given spans, concatenated.

    Examples
    --------
    >>> spans(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(total)


def pair_keys(query: Places, doc_ids: Texts) -> Keys:
    """Return a number for each pair of query position and document; different pairs almost always differ."""
    return doc_ids.keys() + query.astype(np.uint64) * SPREAD


def repeated(query: Places, doc_ids: Texts) -> tuple[int, int] | None:
    """Return the first row whose document already appeared for its query.

    Examples
    --------
    >>> repeated(np.array([0, 0, 1, 0]), Texts.of(["d1", "d2", "d2", "d1"]))
    (0, 3)
    """
    keys = pair_keys(query, doc_ids)
    ascending = np.sort(keys)
    if not (ascending[1:] == ascending[:-1]).any():
        return None
    order = np.argsort(keys, kind="stable")
    alike = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    above, below = order[alike], order[alike + 1]
    if doc_ids.same(above, doc_ids, below).all() and (query[above] == query[below]).all():
        at = int(below.argmin())
        return int(above[at]), int(below[at])
    # Different pairs have the same key; then the texts decide.
    known: dict[tuple[int, str], int] = {}
    for row in np.union1d(above, below).tolist():
        first = known.setdefault((int(query[row]), doc_ids[row]), row)
        if first != row:
            return first, row
    return None
