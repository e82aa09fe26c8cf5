"""Shared setup of auto-accept tests: a judge that graded a round and a rated audit slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from judgments.machines.calibration.audit_sample import drawn
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall, Pair, Round, User
from judgments.rounds import rounds
from judgments.rounds import rounds as remaining_pairs


def answered(run: JudgeRun, pair: Pair, grade: int, *, key: str = "", model: str = "m") -> None:
    word = {"outcome": "graded", "grade": grade}
    call = ModelCall.objects.create(
        run=run, judge=run.judge, pair=pair, purpose="pair", key=key or f"{pair.pk:064}", prompt_sha256="",
        requested_model=model, model_answered=model, **word,
    )  # fmt: skip
    MachineJudgment.objects.create(judge=run.judge, pair=pair, call=call, **word)


def judged_by(
    round_: Round, grade: Callable[[Pair], int], *, name: str = "first", share: float = 0.5, leave: int = 0
) -> JudgeRun:
    """A judge that gave every pair a grade; all but the last so many."""
    judge = Judge.objects.create(collection=round_.collection, name=name, kind="graded")
    run = JudgeRun.objects.create(round=round_, judge=judge, cap_calls=1_000, audit_share=share, seed=7)
    pairs = list(pairs_of(round_))
    for pair in pairs[: len(pairs) - leave]:
        answered(run, pair, grade(pair))
    return run


def pairs_of(round_: Round) -> Any:
    return round_.pairs.select_related("query", "document").order_by("position")


def inside(run: JudgeRun, pair: Pair) -> bool:
    return drawn(run.seed, pair.query.query_id, pair.document.doc_id) < run.audit_share


def low(pair: Pair) -> bool:
    return not pair.document.doc_id.endswith("-6")


def grade_of(pair: Pair) -> int:
    """What the machine says, and people too: the sixth of each query is relevant."""
    return 0 if low(pair) else 3


def slice_rated(lead: User, rater: User, rate_all: Callable[..., int]) -> Callable[..., None]:
    """Let people grade the slice in a round of its own, as the draft of what machines leave to people does."""

    def rate(run: JudgeRun, grade: Callable[[Pair], int], *, most: int | None = None) -> None:
        chosen = [pair for pair in pairs_of(run.round) if inside(run, pair)]
        made = remaining_pairs.draft_of(run.round, chosen[:most], origin={}, actor=lead)
        made = rounds.open_round(made, actor=lead)
        rate_all(made, rater, grade)
        rounds.close_round(made, actor=lead)

    return rate
