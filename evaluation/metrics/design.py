"""With which weight and from which tier does each query enter the mean?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from judgments.core.errors import NotValid

Value = TypeVar("Value")

TIERS = ("head", "torso", "tail")
# Files carry rounded shares: two ratios of weight to probability that differ by less are the same.
SAME_RATIO = 0.01


@dataclass(frozen=True, kw_only=True)
class SamplingDesign:
    """How the judged queries were drawn from the traffic.

    A query's traffic enters a mean once: through its weight, or through the way it was drawn. A query drawn in
    proportion to its traffic is in the sample because it is frequent; a plain mean over such a sample is the traffic's
    mean already, and the weight on top of it would count the traffic twice. Weight divided by inclusion probability is
    right for every design (constant for that one, so that the plain mean comes out). A design therefore never takes
    weights alone: either each has its probability, or the user says that nothing was sampled (``sampled=False``).

    Parameters
    ----------
    weights : mapping of str to float
        Query id to its share of traffic w, in any unit. Empty: no weighted mean; with probabilities alone every query
        of the frame counts the same, w = 1.
    probabilities : mapping of str to float
        Query id to the probability p, above 0 and up to 1, with which the design draws it.
    tiers : mapping of str to str
        Query id to tier. Empty: no breakdown.
    by_tier : bool
        Whether the summaries are also wanted for each tier.
    sampled : bool
        False: the judged queries are all there are, p = 1. Probabilities that are known nevertheless are not used, but
        they can refute it.

    Raises
    ------
    NotValid
        For weights of a sample without probabilities, values out of range, and weights alone on queries that were drawn
        in proportion to them.

    Notes
    -----
    Under systematic sampling in proportion to traffic the most frequent queries are certain (p = 1) and the ratio w / p
    is constant over all others; `in_proportion` knows the design by that. Where it holds inside each tier only, the
    traffic inside the tiers is in the sample already. Tiers are the strata of the intervals unless the whole log was
    drawn from at once in proportion to traffic: then they were told apart only afterwards.

    Source: Hájek 1971; Särndal, Swensson and Wretman 1992, sections 3.6 and 5.7.

    Examples
    --------
    >>> weights, drawn = {"q1": 0.6, "q2": 0.1}, {"q1": 1.0, "q2": 0.5}
    >>> SamplingDesign(weights=weights, probabilities=drawn).weights_of(["q2", "q1"])
    [0.2, 0.6]
    >>> SamplingDesign(weights=weights, sampled=False).weights_of(["q2", "q1"])
    [0.1, 0.6]
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    probabilities: Mapping[str, float] = field(default_factory=dict)
    tiers: Mapping[str, str] = field(default_factory=dict)
    by_tier: bool = False
    sampled: bool = True

    def __post_init__(self) -> None:
        for query_id, weight in self.weights.items():
            if not (math.isfinite(weight) and weight >= 0):
                raise NotValid(
                    f"the query {query_id!r} has the weight {weight:g}; expected a share of traffic, 0 or more"
                )
        for query_id, probability in self.probabilities.items():
            if not 0 < probability <= 1:
                raise NotValid(f"the query {query_id!r} has the probability {probability:g}; expected above 0, up to 1")
        if self.sampled:
            self._refuse_bare_weights()
        elif any(in_proportion(self.weights, self.probabilities, inside) for inside in (None, self.tiers)):
            raise NotValid(
                "these queries were drawn in proportion to their traffic: the probabilities follow the weights. "
                "Their plain mean is the traffic-weighted mean already, but for queries so frequent that they are "
                "certain; the weights alone would count the traffic twice. Take the design as sampled: weight / "
                "probability counts it once"
            )

    def _refuse_bare_weights(self) -> None:
        bare = next((query_id for query_id in self.weights if query_id not in self.probabilities), None)
        if bare is not None:
            raise NotValid(
                f"the query {bare!r} has a weight but no inclusion probability: if the queries were drawn in "
                "proportion to their traffic, the weight would count it twice. Give the probability of each query, or "
                "say that nothing was sampled (sampled=False, --design none)"
            )

    def weights_of(self, query_ids: Sequence[str]) -> list[float] | None:
        """Return w / p of the given queries, or None when the design has neither weights nor probabilities.

        Raises
        ------
        NotValid
            When a query has no weight: left out silently it would bend the mean.
        """
        if not self.sampled:
            return [_of(self.weights, query_id, "weight") for query_id in query_ids] if self.weights else None
        if not self.probabilities:
            return None
        shares = self.weights or dict.fromkeys(self.probabilities, 1.0)
        return [
            _of(shares, query_id, "weight") / _of(self.probabilities, query_id, "probability") for query_id in query_ids
        ]

    def tiers_of(self, query_ids: Sequence[str]) -> list[str] | None:
        """Return the tiers of the given queries, or None when the design has none."""
        return [_of(self.tiers, query_id, "tier") for query_id in query_ids] if self.tiers else None

    def strata_of(self, query_ids: Sequence[str]) -> list[str] | None:
        """Return inside which tiers the queries were drawn, or None when they were drawn from all alike."""
        if self.sampled and self.weights and in_proportion(self.weights, self.probabilities):
            return None
        return self.tiers_of(query_ids)


def in_proportion(
    weights: Mapping[str, float], probabilities: Mapping[str, float], tiers: Mapping[str, str] | None = None
) -> bool:
    """Whether the queries that could have been missed were drawn in proportion to their weights.

    Parameters
    ----------
    weights, probabilities : mapping of str to float
        Query id to share of traffic and inclusion probability. Queries without a probability and certain ones (p = 1)
        say nothing.
    tiers : mapping of str to str, optional
        Where given, the proportion need only hold inside each tier.

    Returns
    -------
    bool
        False where all weights are equal: then every design is in proportion to them, and nothing can go wrong.

    Examples
    --------
    >>> in_proportion({"a": 0.5, "b": 0.2, "c": 0.1}, {"a": 1.0, "b": 0.4, "c": 0.2})
    True
    >>> in_proportion({"a": 0.5, "b": 0.2, "c": 0.1}, {"a": 1.0, "b": 0.3, "c": 0.3})
    False
    """
    inside: dict[str, list[str]] = {}
    for query_id, probability in probabilities.items():
        if probability < 1 and weights.get(query_id, 0.0) > 0:
            inside.setdefault(tiers.get(query_id, "") if tiers else "", []).append(query_id)
    groups = list(inside.values())
    constant = all(_alike(weights[one] / probabilities[one] for one in group) for group in groups)
    return constant and any(not _alike(weights[one] for one in group) for group in groups)


def _alike(values: Iterable[float]) -> bool:
    found = list(values)
    return max(found) <= min(found) * (1 + SAME_RATIO)


def _of(table: Mapping[str, Value], query_id: str, what: str) -> Value:
    if query_id not in table:
        raise NotValid(f"the judged query {query_id!r} has no {what}; add it to the weights file")
    return table[query_id]
