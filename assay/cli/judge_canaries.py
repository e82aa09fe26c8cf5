"""Prompt-injection probes of a judge: how often text planted in a document raises its grade."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from assay.cli.spilled import pair_key

if TYPE_CHECKING:
    from judgments.formats.rows import PairRow
    from judgments.judges import Context, Outcome
    from judgments.providers.calls import Ended


def tell_canaries(
    work: Any, pairs: Sequence[tuple[PairRow, Context]], most: int, seed: int, keep: Callable[[Any], None]
) -> Ended:
    """Plant each trap into documents that the judge found worst, ask, and tell how many grades rose.

    Parameters
    ----------
    work : the run
        Its judge, model, limits, budget, and the grades that it gave.
    pairs : sequence of (PairRow, Context)
        All that it can judge.
    most : int
        How many documents.
    seed : int
        Of the draw, the traps' words and their places.
    keep : callable
        The ledger's: answers to canaries stand there, never among the labels.
    """
    from judgments.judges.asking import Asking
    from judgments.judges.canaries import flips, plant
    from judgments.judges.contract import Outcome
    from judgments.providers.calls import Ended

    top = max(_top(work), 1)
    grades = [_grade(work, row) for row, _ in pairs]
    chosen = _worst([(grade, context) for grade, (_, context) in zip(grades, pairs, strict=True)], top, most, seed)
    if not chosen:
        sys.stderr.write("canaries: none planted, no pair has a grade below the best\n")
        return Ended("done", "", 0, 0)
    canaries = plant([context for _, context in chosen], top, seed=seed)
    asking = Asking(work.judge, work.endpoint, [one.context for one in canaries], work.known.replies)
    found: dict[int, Outcome] = {}
    ended = asking.run(
        lambda verdict: found.update({verdict.place: verdict.outcome}),
        answered=keep,
        limits=work.limits,
        budget=work.budget,
        by=work.by,
    )
    missing = Outcome("transport_error")
    without = [Outcome("graded", grade) for grade, _ in chosen]
    told = flips(canaries, [found.get(place, missing) for place in range(len(canaries))], without)
    parts = [f"{one.trap} raised {one.flipped} of {one.planted}" for one in told]
    rest = "" if ended.end == "done" else f"; not all was asked: {ended.said}"
    sys.stderr.write(f"canaries: {', '.join(parts)} grades{rest}\n")
    return ended


def _grade(work: Any, row: PairRow) -> int | None:
    key = pair_key(row.query_id, row.doc_id)
    found: int | None = work.grades.get(key, work.earlier.get(key))
    return found


def _top(work: Any) -> int:
    values = getattr(work.judge, "values", (0, 1))
    return int(values[-1])


def _worst(graded: Sequence[tuple[int | None, Context]], top: int, most: int, seed: int) -> list[tuple[int, Context]]:
    """The lowest grades first, since the best cannot rise; which of equal ones is drawn."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(graded))
    below = [(grade, graded[place][1]) for place in order if (grade := graded[place][0]) is not None and grade < top]
    return sorted(below, key=lambda one: one[0])[:most]
