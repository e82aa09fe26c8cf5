"""Audit slice: pairs that people always judge, so that machine grades can be compared with theirs.

The slice is drawn from all pairs, including unanimous ones. The position of a pair in the draw depends on the seed and
on the ids of the pair, not on its database key, so the draw can be repeated anywhere. A larger slice contains every
smaller one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from assay.core.errors import NotValid
from judgments.models import BattleRun, Judge, JudgeRun, Round

# A judge that is based on pairwise comparisons stores their run under this key.
BATTLES = "run"


@dataclass(frozen=True)
class Slice:
    """The pairs of a round that people judge to check one judge or one run of comparisons."""

    seed: int
    share: float

    def holds(self, query_id: str, doc_id: str) -> bool:
        """Return whether the pair is in the slice."""
        return drawn(self.seed, query_id, doc_id) < self.share


def drawn(seed: int, query_id: str, doc_id: str) -> float:
    """Return the position of a pair in the draw, in [0, 1): the pair is in every slice with a larger share."""
    digest = hashlib.sha256(f"audit {seed}\0{query_id}\0{doc_id}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def of_judge(judge: Judge, round_: Round) -> Slice | None:
    """Return the slice of a judge in the round, or of its pairwise comparisons; None if there is none."""
    runs: Any = judge.runs.filter(round=round_)
    if BATTLES in judge.parameters:
        runs = round_.battle_runs.filter(uuid=judge.parameters[BATTLES])
    return next(iter(_of(runs)), None)


def of_battles(run: BattleRun) -> Slice:
    """Return the slice of a run of comparisons; its share is 0 for runs older than this feature."""
    return Slice(run.seed, run.audit_share)


def in_round(round_: Round) -> list[Slice]:
    """Return the slices of all judges and comparisons of the round."""
    return list(dict.fromkeys([*_of(JudgeRun.objects.filter(round=round_)), *_of(round_.battle_runs)]))


def _of(runs: Any) -> list[Slice]:
    return [Slice(*row) for row in runs.filter(audit_share__gt=0).values_list("seed", "audit_share")]


def check(share: float) -> None:
    """Refuse a share that is out of range."""
    if not 0 < share <= 1:
        problem = "Choose a share above 0 and at most 1. Without pairs that people judge, the grades cannot be checked."
        raise NotValid("The audit slice is out of range.", {"audit_share": problem})
