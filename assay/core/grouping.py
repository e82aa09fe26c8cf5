"""Group rows by query regardless of their order in a file, and detect duplicate rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.text_column import SPREAD, Keys, Places, Texts


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows by query."""

    names: tuple[str, ...]
    offsets: Places
    order: Places | None
    contiguous: bool

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
        return Groups(names, np.append(starts, len(query_ids)), None, True)
    code = {name: at for at, name in enumerate(names)}
    codes = np.array([code[name] for name in blocks], dtype=np.int64)
    by_code = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, weights=sizes, minlength=len(names)).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    return Groups(names, offsets, spans(starts[by_code], sizes[by_code]), len(names) == len(blocks))


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
