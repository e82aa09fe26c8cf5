"""Position bias: how often the first position alone decides which of two documents is preferred."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.formats.battles_jsonl import Battle


@dataclass(frozen=True)
class FirstPlace:
    """How often the first position decided."""

    answers: int
    won: int
    both: int
    turned: int

    @property
    def share(self) -> float | None:
        """Return the share won by the first position: one half without position bias, None without answers."""
        return self.won / self.answers if self.answers else None


def first_place(battles: Iterable[Battle]) -> FirstPlace:
    """Count the wins of the first position over answers as shown.

    Examples
    --------
    >>> found = first_place([Battle("q", "a", "b", -1.0), Battle("q", "a", "b", 0.5, swapped=True)])
    >>> found.share, found.both, found.turned
    (1.0, 1, 1)
    """
    shown: dict[tuple[str, ...], dict[bool, bool]] = {}
    answers = won = 0
    for row in battles:
        if not row.score:
            continue
        # The score in the file is as if a had been shown first.
        first = (row.score < 0) != row.swapped
        answers, won = answers + 1, won + first
        a_first = (row.a < row.b) != row.swapped
        shown.setdefault((row.query_id, *sorted((row.a, row.b)), row.model), {})[a_first] = first
    twice = [orders for orders in shown.values() if len(orders) == 2]
    return FirstPlace(answers, won, len(twice), sum(orders[True] == orders[False] for orders in twice))
