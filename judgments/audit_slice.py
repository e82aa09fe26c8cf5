"""Audit slice: pairs that people always judge, so that machine grades can be compared with theirs.

The slice is drawn from all pairs, unanimous ones too. The position of a pair in the draw depends on the seed and on
the content of the pair, not on its key: the draw can be repeated anywhere, and a wider slice contains every narrower
one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from judgments.core.errors import NotValid
from judgments.models import BattleRun, Judge, JudgeRun, Round

# A judge that is made of battles says of which.
BATTLES = "run"


@dataclass(frozen=True)
class Slice:
    """Which pairs of a round are for people, for the sake of one judge or of battles.

    Parameters
    ----------
    seed : int
        Of the draw.
    share : float
        Of all pairs.
    """

    seed: int
    share: float

    def holds(self, query_id: str, doc_id: str) -> bool:
        """Whether the pair is in it."""
        return drawn(self.seed, query_id, doc_id) < self.share


def drawn(seed: int, query_id: str, doc_id: str) -> float:
    """Where a pair stands in the draw, from 0 up to 1: it is in a slice that is wider.

    Examples
    --------
    >>> 0 <= drawn(1, "q1", "d1") < 1, drawn(1, "a", "bc") == drawn(1, "ab", "c")
    (True, False)
    """
    digest = hashlib.sha256(f"audit {seed}\0{query_id}\0{doc_id}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def of_judge(judge: Judge, round_: Round) -> Slice | None:
    """The slice of a judge in the round, or of the battles that it was made of; None where nobody drew one."""
    runs: Any = judge.runs.filter(round=round_)
    if BATTLES in judge.parameters:
        runs = round_.battle_runs.filter(uuid=judge.parameters[BATTLES])
    return next(iter(_of(runs)), None)


def of_battles(run: BattleRun) -> Slice:
    """The slice that was drawn with the battles; of a share of 0 where they are older than slices of battles."""
    return Slice(run.seed, run.audit_share)


def in_round(round_: Round) -> list[Slice]:
    """Those of all judges and battles of the round."""
    return list(dict.fromkeys([*_of(JudgeRun.objects.filter(round=round_)), *_of(round_.battle_runs)]))


def _of(runs: Any) -> list[Slice]:
    return [Slice(*row) for row in runs.filter(audit_share__gt=0).values_list("seed", "audit_share")]


def check(share: float) -> None:
    """Refuse a slice that is none.

    Raises
    ------
    NotValid
        The share is out of bounds.
    """
    if not 0 < share <= 1:
        said = "Above 0, at most 1: without pairs that people judge nobody can tell what its grades are worth."
        raise NotValid("The audit slice is no share.", {"audit_share": said})


def slice_of(round_: Round, seed: int, share: float) -> set[int]:
    """The keys of the pairs in the slice; each was in it with probability `share`."""
    rows = round_.pairs.values_list("pk", "query__query_id", "document__doc_id")
    return {pk for pk, query_id, doc_id in rows if drawn(seed, query_id, doc_id) < share}
