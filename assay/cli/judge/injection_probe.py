"""Prompt-injection probes of a judge: how often text inserted in a document raises its grade."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from assay.core.disk_mapping import pair_key

if TYPE_CHECKING:
    from assay.formats.row_types import PairRow
    from assay.llm.judges import Context, Outcome
    from assay.llm.providers.calls import Ended


def probe_canaries(
    work: Any, pairs: Sequence[tuple[PairRow, Context]], most: int, seed: int, keep: Callable[[Any], None]
) -> Ended:
    """Insert each probe into documents with low grades, judge them, and print how many grades rose."""
    from assay.llm.judge import Outcome
    from assay.llm.judges.bulk_judging import Asking
    from assay.llm.judges.injection_probe import flips, plant
    from assay.llm.providers.calls import Ended

    top = max(_top(work), 1)
    grades = [_grade(work, row) for row, _ in pairs]
    chosen = _worst([(grade, context) for grade, (_, context) in zip(grades, pairs, strict=True)], top, most, seed)
    if not chosen:
        sys.stderr.write("canaries: none inserted, because no pair has a grade below the highest\n")
        return Ended("done", "", 0, 0)
    canaries = plant([context for _, context in chosen], top, seed=seed)
    asking = Asking(work.judge, work.endpoint, [one.context for one in canaries], work.known.replies)
    outcomes: dict[int, Outcome] = {}
    ended = asking.run(
        lambda verdict: outcomes.update({verdict.place: verdict.outcome}),
        answered=keep,
        limits=work.limits,
        budget=work.budget,
        by=work.by,
    )
    missing = Outcome("transport_error")
    without = [Outcome("graded", grade) for grade, _ in chosen]
    raised = flips(canaries, [outcomes.get(place, missing) for place in range(len(canaries))], without)
    parts = [f"{one.trap} raised {one.flipped} of {one.planted}" for one in raised]
    rest = "" if ended.end == "done" else f"; stopped early: {ended.message}"
    sys.stderr.write(f"canaries: {', '.join(parts)} grades{rest}\n")
    return ended


def _grade(work: Any, row: PairRow) -> int | None:
    key = pair_key(row.query_id, row.doc_id)
    grade: int | None = work.grades.get(key, work.earlier.get(key))
    return grade


def _top(work: Any) -> int:
    values = getattr(work.judge, "values", (0, 1))
    return int(values[-1])


def _worst(graded: Sequence[tuple[int | None, Context]], top: int, most: int, seed: int) -> list[tuple[int, Context]]:
    """Return the pairs with the lowest grades first, equal grades in random order; the highest grade cannot rise."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(graded))
    below = [(grade, graded[place][1]) for place in order if (grade := graded[place][0]) is not None and grade < top]
    return sorted(below, key=lambda one: one[0])[:most]
