"""Samples that are variants of others."""

from __future__ import annotations

from collections.abc import Sequence

from assay.rag.metric import Skip
from assay.rag.records import EvaluationSample


def parents(samples: Sequence[EvaluationSample]) -> list[int | Skip | None]:
    """Return the position of each variant's base sample, and None for each base sample. A variant whose parent does
    not exist, or whose chain of parents is circular, is a `Skip`.
    """
    place = {sample.sample_id: at for at, sample in enumerate(samples)}
    labels = (sample.labels.get("variant_of") for sample in samples)
    named = [None if label is None else str(label) for label in labels]
    ending = _ending(named, place)
    result: list[int | Skip | None] = []
    for at, parent in enumerate(named):
        if parent is None:
            result.append(None)
        elif parent not in place:
            result.append(Skip("unknown_parent"))
        else:
            result.append(place[parent] if at in ending else Skip("circular_variant"))
    return result


def _ending(named: Sequence[str | None], place: dict[str, int]) -> set[int]:
    """Return the positions whose chain of parents ends, starting from the ends, so that each position is visited
    once."""
    children: dict[int, list[int]] = {}
    ends = []
    for at, parent in enumerate(named):
        if parent in place:
            children.setdefault(place[parent], []).append(at)
        else:
            ends.append(at)
    for at in ends:
        ends += children.get(at, ())
    return set(ends)
