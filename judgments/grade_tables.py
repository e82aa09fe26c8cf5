"""Grades that count for a round's agreement, as arrays: a million of them in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import F

from judgments.models import Judgment, Query, Round, Slot

if TYPE_CHECKING:
    from judgments.agreement.patterns import Ints
    from judgments.agreement.table import GradeTable

# Rows read at once.
CHUNK = 20_000
# Keys asked for at once.
KEYS = 500


class Planned(NamedTuple):
    """The grades that tell how far raters agree, and what stands beside them.

    Attributes
    ----------
    table : GradeTable
        The grades that fill planned places; raters by pseudonym. The same on every database, whatever its keys.
    tiers : list of str
        The tier of each of its queries.
    called_in : int
        How many grades were called in, and are not in the table.
    overlap_to_come : int
        How many pairs have fewer than two of these grades, and places enough left to get two.
    """

    table: GradeTable
    tiers: list[str]
    called_in: int
    overlap_to_come: int


def planned_grades(round_: Round) -> Planned:
    """The counted grades of a round as its plan asked for them.

    A pair on which two raters differ widely gets a further one. Which pairs these are hangs on the grades themselves,
    so that what was called in says nothing of how raters usually agree: it is left out.

    Parameters
    ----------
    round_ : Round
        Machines, surplus answers and labels from elsewhere are not among its grades.
    """
    import numpy as np

    from judgments.agreement.table import GradeTable

    counted = Judgment.objects.counted().of_round(round_).told_apart().order_by()
    columns = ("pair__position", "pair__query_id", "rater_id", "grade", "called_in")
    rows = counted.values_list(*columns).iterator(chunk_size=CHUNK)
    flat = np.fromiter((cell for row in rows for cell in row), dtype=np.int64).reshape(-1, 5)
    called_in = int(flat[:, 4].sum())
    flat = flat[flat[:, 4] == 0]
    raters = dict(round_.raters.values_list("user_id", "pseudonym"))
    named, rater = _numbered(flat[:, 2], raters)
    keys = np.unique(flat[:, 1]).tolist()
    queries = {row[0]: row[1:] for row in _queries(keys)}
    ids, query = _numbered(flat[:, 1], {key: name for key, (name, _) in queries.items()})
    _, first, unit = np.unique(flat[:, 0], return_index=True, return_inverse=True)
    order = np.lexsort((rater, unit))
    tiers = dict(queries.values())
    table = GradeTable(named, ids, unit[order], rater[order], flat[order, 3], query[first])
    return Planned(table, [tiers[name] for name in ids], called_in, _overlap_to_come(round_, flat[:, 0]))


def _overlap_to_come(round_: Round, graded: Ints) -> int:
    """How many pairs can still get two grades; ``graded`` is the position of each planned grade's pair."""
    import numpy as np

    free = Slot.objects.filter(round=round_, filled_by__isnull=True, number__lte=F("pair__ratings_wanted"))
    places = free.filter(pair__ratings_wanted__gte=2).order_by().values_list("position", flat=True)
    positions = np.fromiter(places.iterator(chunk_size=CHUNK), dtype=np.int64)
    pairs, left = np.unique(positions, return_counts=True)
    there = np.bincount(graded, minlength=int(pairs.max(initial=-1)) + 1)[pairs]
    return int(((there < 2) & (there + left >= 2)).sum())


def _numbered(keys: Ints, names: Mapping[int, str]) -> tuple[tuple[str, ...], Ints]:
    """The names of those keys that occur, by their UTF-8 bytes, and the place of each key's name."""
    import numpy as np

    present, place = np.unique(keys, return_inverse=True)
    ordered = sorted((names[key].encode(), at) for at, key in enumerate(present.tolist()))
    number = np.empty(len(present), dtype=np.int64)
    number[[at for _, at in ordered]] = np.arange(len(present))
    return tuple(name.decode() for name, _ in ordered), number[place]


def _queries(keys: list[int]) -> list[tuple[int, str, str]]:
    found: list[tuple[int, str, str]] = []
    for start in range(0, len(keys), KEYS):
        rows = Query.of_any_kind.filter(pk__in=keys[start : start + KEYS])
        found += rows.values_list("pk", "query_id", "tier")
    return found
