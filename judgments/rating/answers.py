"""Answer and receipt: the data that a rater sends for one pair, the stored fields, and the result."""

from __future__ import annotations

import uuid as uuid_module
from dataclasses import dataclass, field
from typing import Any

from assay.core.errors import NotValid
from judgments.models import Judgment, ProbeAnswer, Round

STATES = (Judgment.State.GRADED, Judgment.State.UNRATEABLE, Judgment.State.LATER)
LONGEST_NOTE = 10_000


@dataclass(frozen=True)
class Answer:
    """A rater's answer for one pair, as received."""

    client_id: uuid_module.UUID
    pair: uuid_module.UUID
    grade: int | None = None
    state: str = Judgment.State.GRADED
    reason: str = ""
    note: str = ""
    seconds_active: float | None = None
    seconds_away: float | None = None
    how: dict[str, Any] = field(default_factory=dict)
    # The page shows the pair as open. If there is an answer that the page does not know, that answer stays.
    if_open: bool = False


@dataclass(frozen=True)
class Receipt:
    """The result of a submission: ``new`` is False if the answer was recorded before, or another answer stays instead.

    Answers to inserted checks (`inserted_checks.py`) use the same class, so that clients cannot distinguish them.
    """

    judgment: Judgment | ProbeAnswer
    new: bool


def check_answer(round_: Round, answer: Answer) -> None:
    """Refuse an answer whose state is unknown or whose grade does not fit its state and the round's scale."""
    if answer.state not in STATES:
        raise NotValid(f"Unknown state {answer.state!r}.", {"state": f"Known states: {', '.join(STATES)}."})
    if answer.state != Judgment.State.GRADED:
        if answer.grade is not None:
            raise NotValid(f"An answer with the state {answer.state} has no grade.", {"grade": "Remove the grade."})
        return
    values = round_.scale.values()
    if answer.grade not in values:
        known = ", ".join(map(str, values))
        raise NotValid(f"{answer.grade} is not a grade of this round.", {"grade": f"Use one of {known}."})


def stored_fields(answer: Answer) -> dict[str, Any]:
    """Return the stored fields of an answer, for judgments and for gold pairs and repeats alike."""
    return {
        "state": answer.state,
        "grade": answer.grade,
        "reason": answer.reason[:500],
        "note": answer.note[:LONGEST_NOTE],
        "seconds_active": answer.seconds_active,
        "seconds_away": answer.seconds_away,
        "how": answer.how,
    }
