"""With which weight and from which tier does each query enter the mean?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from judgments.core.errors import NotValid

Value = TypeVar("Value")


@dataclass(frozen=True)
class SamplingDesign:
    """How the judged queries were drawn from the traffic.

    Parameters
    ----------
    weights : mapping of str to float
        Query id to w/p: its share of traffic divided by its inclusion probability. Empty: no weighted mean.
    tiers : mapping of str to str
        Query id to tier. Empty: no breakdown.
    by_tier : bool
        Whether the summaries are also wanted for each tier.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    tiers: Mapping[str, str] = field(default_factory=dict)
    by_tier: bool = False

    def weights_of(self, query_ids: Sequence[str]) -> list[float] | None:
        """Return the weights of the given queries, or None when the design has none.

        Raises
        ------
        NotValid
            When a query has no weight: left out silently it would bend the mean.
        """
        return [_of(self.weights, query_id, "weight") for query_id in query_ids] if self.weights else None

    def tiers_of(self, query_ids: Sequence[str]) -> list[str] | None:
        """Return the tiers of the given queries, or None when the design has none."""
        return [_of(self.tiers, query_id, "tier") for query_id in query_ids] if self.tiers else None


def _of(table: Mapping[str, Value], query_id: str, what: str) -> Value:
    if query_id not in table:
        raise NotValid(f"the judged query {query_id!r} has no {what}; add it to the weights file")
    return table[query_id]
