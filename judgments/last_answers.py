"""Recent answers of a rater in a round, to review and to change.

A change is a new answer that supersedes the earlier one. Gold pairs and repeats (`judgments/probing.py`) appear among
the rest, so that raters cannot recognize them.
"""

from __future__ import annotations

import uuid as uuid_module
from dataclasses import dataclass

from judgments import intake, probe_answers
from judgments.models import Judgment, Pair, Probe, ProbeAnswer, Round, User

# Fewer than `probing.LAG`: who is shown a pair again must not read what they said of it the first time.
MOST = 10


@dataclass(frozen=True)
class LastAnswer:
    """An answer that stands, what it is an answer to, and whether the rater may say otherwise."""

    answer: Judgment | ProbeAnswer
    changeable: bool

    @property
    def pair(self) -> Pair | Probe:
        return self.answer.pair

    @property
    def answered(self) -> bool:
        """Whether it says something; what was put off does not."""
        return self.answer.state in intake.STANDS


def last_answers(round_: Round, rater: User) -> list[LastAnswer]:
    """The rater's answers in the round that stand, the newest first.

    Parameters
    ----------
    round_ : Round
        Whose pairs.
    rater : User
        Who reads; nobody else's answers are among them.

    Returns
    -------
    list of LastAnswer
        ``MOST`` at most. Of a rater who leads the collection, an answer whose pair others graded too is not changeable:
        they may have read what those said.
    """
    own = Judgment.objects.standing().of_round(round_).filter(rater=rater)
    rows = [*own.select_related("pair__query", "pair__document").order_by("-pk")[:MOST]]
    asked = [f"probe__{kind}__{what}" for kind in ("gold", "pair") for what in ("query", "document")]
    mixed = [*probe_answers.answers_of(round_, rater).select_related(*asked).order_by("-pk")[:MOST]]
    newest = sorted([*rows, *mixed], key=lambda row: row.created_at, reverse=True)[:MOST]
    fixed = _fixed(round_, rater, rows)
    return [LastAnswer(row, not (isinstance(row, Judgment) and row.pair_id in fixed)) for row in newest]


def last_answer_for(round_: Round, rater: User, pair: uuid_module.UUID) -> LastAnswer | None:
    """The one among the rater's last answers that is for this pair and may be changed."""
    found = last_answers(round_, rater)
    return next((one for one in found if one.pair.uuid == pair and one.changeable), None)


def _fixed(round_: Round, rater: User, rows: list[Judgment]) -> set[int]:
    """The pairs of which no other answer would be taken, see `intake.STANDS_BY_IT`."""
    if not intake.leads(round_, rater):
        return set()
    said = [row.pair_id for row in rows if row.state in intake.STANDS]
    others = Judgment.objects.filter(pair__in=said, state=Judgment.State.GRADED).exclude(rater=rater)
    return set(others.order_by().values_list("pair_id", flat=True))
