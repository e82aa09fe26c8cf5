"""Recent answers of a rater in a round, for review and changes.

A change is a new answer that supersedes the earlier one. Gold pairs and repeats (`judgments/rating/inserted_checks.py`)
are listed like other pairs, so that raters cannot recognize them.
"""

from __future__ import annotations

import uuid as uuid_module
from dataclasses import dataclass

from judgments.models import Judgment, Pair, Probe, ProbeAnswer, Round, User
from judgments.rating import inserted_checks, submission

# Fewer than `inserted_checks.LAG`, so that a rater who gets a repeat cannot look up the first answer.
MOST = 10


@dataclass(frozen=True)
class LastAnswer:
    """A current answer of a rater, and whether the rater may change it."""

    answer: Judgment | ProbeAnswer
    changeable: bool

    @property
    def pair(self) -> Pair | Probe:
        return self.answer.pair

    @property
    def answered(self) -> bool:
        """Whether the answer is a grade or "cannot judge"; a pair saved for later has no answer."""
        return self.answer.state in submission.STANDS


def last_answers(round_: Round, rater: User) -> list[LastAnswer]:
    """Return the rater's current answers in the round, newest first."""
    own = Judgment.objects.standing().of_round(round_).filter(rater=rater)
    rows = [*own.select_related("pair__query", "pair__document").order_by("-pk")[:MOST]]
    related = [f"probe__{kind}__{what}" for kind in ("gold", "pair") for what in ("query", "document")]
    mixed = [*inserted_checks.answers_of(round_, rater).select_related(*related).order_by("-pk")[:MOST]]
    newest = sorted([*rows, *mixed], key=lambda row: row.created_at, reverse=True)[:MOST]
    fixed = _fixed(round_, rater, rows)
    return [LastAnswer(row, not (isinstance(row, Judgment) and row.pair_id in fixed)) for row in newest]


def last_answer_for(round_: Round, rater: User, pair: uuid_module.UUID) -> LastAnswer | None:
    """Return the rater's changeable answer for this pair, if it is among the recent ones."""
    answers = last_answers(round_, rater)
    return next((one for one in answers if one.pair.uuid == pair and one.changeable), None)


def _fixed(round_: Round, rater: User, rows: list[Judgment]) -> set[int]:
    """Return the keys of pairs whose answer the rater may not change, because they may have seen other grades."""
    if not submission.leads(round_, rater):
        return set()
    answered = [row.pair_id for row in rows if row.state in submission.STANDS]
    others = Judgment.objects.filter(pair__in=answered, state=Judgment.State.GRADED).exclude(rater=rater)
    return set(others.order_by().values_list("pair_id", flat=True))
