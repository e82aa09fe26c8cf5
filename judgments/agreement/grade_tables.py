"""Grades for computing a round's agreement, as arrays: a million of them load in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import F

from judgments.models import Judgment, Query, Round, Slot
from judgments.models.fields import rows_among

if TYPE_CHECKING:
    from assay.coefficients.coefficient import GradeTable, Ints

# The number of rows to read at a time.
CHUNK = 20_000


class Planned(NamedTuple):
    """The grades from which agreement is computed, with related numbers."""

    table: GradeTable
    tiers: list[str]
    called_in: int
    overlap_to_come: int


def planned_grades(round_: Round) -> Planned:
    """Return the counted grades of a round's planned slots."""
    import numpy as np

    from assay.coefficients.coefficient import GradeTable

    counted = Judgment.objects.counted().of_round(round_).with_origin().order_by()
    columns = ("pair__position", "pair__query_id", "rater_id", "grade", "called_in")
    rows = counted.values_list(*columns).iterator(chunk_size=CHUNK)
    flat = np.fromiter((cell for row in rows for cell in row), dtype=np.int64).reshape(-1, 5)
    called_in = int(flat[:, 4].sum())
    flat = flat[flat[:, 4] == 0]
    raters = dict(round_.raters.values_list("user_id", "pseudonym"))
    named, rater = _numbered(flat[:, 2], raters)
    keys = np.unique(flat[:, 1]).tolist()
    rows = rows_among(Query.of_any_kind.values_list("pk", "query_id", "tier"), "pk", keys)
    queries = {pk: (query_id, tier) for pk, query_id, tier in rows}
    ids, query = _numbered(flat[:, 1], {key: name for key, (name, _) in queries.items()})
    _, first, unit = np.unique(flat[:, 0], return_index=True, return_inverse=True)
    order = np.lexsort((rater, unit))
    tiers = dict(queries.values())
    table = GradeTable(named, ids, unit[order], rater[order], flat[order, 3], query[first])
    return Planned(table, [tiers[name] for name in ids], called_in, _overlap_to_come(round_, flat[:, 0]))


def _overlap_to_come(round_: Round, graded: Ints) -> int:
    """Return the number of pairs that can still get two grades; ``graded`` contains the pair of each planned grade."""
    import numpy as np

    free = Slot.objects.filter(round=round_, filled_by__isnull=True, number__lte=F("pair__ratings_wanted"))
    places = free.filter(pair__ratings_wanted__gte=2).order_by().values_list("position", flat=True)
    positions = np.fromiter(places.iterator(chunk_size=CHUNK), dtype=np.int64)
    pairs, left = np.unique(positions, return_counts=True)
    there = np.bincount(graded, minlength=int(pairs.max(initial=-1)) + 1)[pairs]
    return int(((there < 2) & (there + left >= 2)).sum())


def _numbered(keys: Ints, names: Mapping[int, str]) -> tuple[tuple[str, ...], Ints]:
    """Return the names of the keys that occur, sorted by their UTF-8 bytes, and the index of each key's name."""
    import numpy as np

    present, place = np.unique(keys, return_inverse=True)
    ordered = sorted((names[key].encode(), at) for at, key in enumerate(present.tolist()))
    number = np.empty(len(present), dtype=np.int64)
    number[[at for _, at in ordered]] = np.arange(len(present))
    return tuple(name.decode() for name, _ in ordered), number[place]
