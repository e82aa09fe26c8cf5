"""Advice on what a comparison on a sample of queries can show, registered for use by the pooling app."""

from __future__ import annotations

from evaluation.significance.power import detectable, queries_needed, reach
from pooling.sampling.advice import Advice


def paired(worth: int, difference: float | None, sd: float) -> Advice:
    """Advise for paired t tests of two runs on a sample worth so many equally weighted queries."""
    needed = None if difference is None else queries_needed(difference, sd)
    return Advice(
        worth,
        sd,
        detectable(sd, worth) or 0.0,
        reach(sd, worth),
        difference,
        needed.queries if needed else None,
        (needed.reason or "") if needed else "",
    )
