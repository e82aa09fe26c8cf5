"""Answer and receipt: what a rater sends for one pair, what is stored of it, and what the rater gets back."""

from __future__ import annotations

import uuid as uuid_module
from dataclasses import dataclass, field
from typing import Any

from judgments.core.errors import NotValid
from judgments.models import Judgment, ProbeAnswer, Round

STATES = (Judgment.State.GRADED, Judgment.State.UNRATEABLE, Judgment.State.LATER)
LONGEST_NOTE = 10_000


@dataclass(frozen=True)
class Answer:
    """What a rater sent for one pair."""

    client_id: uuid_module.UUID
    pair: uuid_module.UUID
    grade: int | None = None
    state: str = Judgment.State.GRADED
    reason: str = ""
    note: str = ""
    seconds_active: float | None = None
    seconds_away: float | None = None
    how: dict[str, Any] = field(default_factory=dict)
    # Sent of what a page shows as open, where an answer may stand that the page knows nothing of: that one is kept.
    if_open: bool = False


@dataclass(frozen=True)
class Receipt:
    """What became of an answer: ``new`` is False when it had been recorded before, or another one stands instead.

    The answer to a probe (`judgments/probing.py`) stands here under the same name: whoever reads it cannot tell.
    """

    judgment: Judgment | ProbeAnswer
    new: bool


def check_answer(round_: Round, answer: Answer) -> None:
    """That the state is one that a rater can send, with a grade of the round's scale where it has one."""
    if answer.state not in STATES:
        raise NotValid(f"There is no state {answer.state!r}.", {"state": f"One of {', '.join(STATES)}."})
    if answer.state != Judgment.State.GRADED:
        if answer.grade is not None:
            raise NotValid(f"An answer that is {answer.state} has no grade.", {"grade": "Leave it out."})
        return
    values = round_.scale.values()
    if answer.grade not in values:
        known = ", ".join(map(str, values))
        raise NotValid(f"{answer.grade} is not a grade of this round.", {"grade": f"The grades are {known}."})


def given(answer: Answer) -> dict[str, Any]:
    """What is kept of an answer, whatever it is an answer to."""
    return {
        "state": answer.state,
        "grade": answer.grade,
        "reason": answer.reason[:500],
        "note": answer.note[:LONGEST_NOTE],
        "seconds_active": answer.seconds_active,
        "seconds_away": answer.seconds_away,
        "how": answer.how,
    }
