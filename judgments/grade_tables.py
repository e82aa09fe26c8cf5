"""Which grades of a round count for its agreement, as arrays: a million of them in seconds?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from judgments.models import Judgment, Query, Round

if TYPE_CHECKING:
    from judgments.agreement.coefficient import Ints
    from judgments.agreement.table import GradeTable

# Rows read at once.
CHUNK = 20_000
# Keys asked for at once.
KEYS = 500


def grade_table(round_: Round) -> tuple[GradeTable, list[str]]:
    """The counted grades of a round, and the tier of each of its queries.

    Parameters
    ----------
    round_ : Round
        Machines, surplus answers and labels from elsewhere are not among its grades.

    Returns
    -------
    tuple of GradeTable and list of str
        Raters by pseudonym; the same table on every database, whatever its keys.
    """
    import numpy as np

    from judgments.agreement.table import GradeTable

    counted = Judgment.objects.counted().of_round(round_).order_by()
    rows = counted.values_list("pair__position", "pair__query_id", "rater_id", "grade").iterator(chunk_size=CHUNK)
    flat = np.fromiter((cell for row in rows for cell in row), dtype=np.int64).reshape(-1, 4)
    raters = dict(round_.raters.values_list("user_id", "pseudonym"))
    named, rater = _numbered(flat[:, 2], raters)
    keys = np.unique(flat[:, 1]).tolist()
    queries = {row[0]: row[1:] for row in _queries(keys)}
    ids, query = _numbered(flat[:, 1], {key: name for key, (name, _) in queries.items()})
    _, first, unit = np.unique(flat[:, 0], return_index=True, return_inverse=True)
    order = np.lexsort((rater, unit))
    tiers = dict(queries.values())
    table = GradeTable(named, ids, unit[order], rater[order], flat[order, 3], query[first])
    return table, [tiers[name] for name in ids]


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
        rows = Query.objects.filter(pk__in=keys[start : start + KEYS])
        found += rows.values_list("pk", "query_id", "tier")
    return found
