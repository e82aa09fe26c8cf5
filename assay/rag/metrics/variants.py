"""Samples that are variants of others."""

from __future__ import annotations

from collections.abc import Sequence

from assay.rag.metric import Skip
from assay.rag.records import EvaluationSample


def parents(samples: Sequence[EvaluationSample]) -> list[int | Skip | None]:
    """Return for each sample the place of the sample that it is a variant of, None for a base sample.

    A variant whose parent does not exist, or whose chain of parents leads back to it, is a `Skip`.
    """
    place = {sample.sample_id: at for at, sample in enumerate(samples)}
    named = [sample.labels.get("variant_of") for sample in samples]
    result: list[int | Skip | None] = []
    for at, parent in enumerate(named):
        if parent is None:
            result.append(None)
        elif parent not in place:
            result.append(Skip("unknown_parent"))
        else:
            result.append(Skip("circular_variant") if _circular(at, named, place) else place[parent])
    return result


def _circular(start: int, named: Sequence[str | None], place: dict[str, int]) -> bool:
    seen, at = {start}, start
    while (parent := named[at]) is not None and parent in place:
        at = place[parent]
        if at in seen:
            return True
        seen.add(at)
    return False
