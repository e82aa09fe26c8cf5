"""Acknowledged alerts: which alerts a lead has reviewed, with what result, and which are due again.

A review is an event in the audit trail, and so is undoing it; no row changes. A reviewed alert stays quiet until its
numbers have grown markedly.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction

from judgments import audit
from judgments.core.errors import Conflict, NotValid
from judgments.models import AuditRow, Round, RoundRater

if TYPE_CHECKING:
    from judgments.quality import Finding

LOOKED, AGAIN = "alarms.look_at", "alarms.ring_again"
LONGEST_NOTE = 500
NUMBERS = ("value", "low", "high", "threshold")


@dataclass(frozen=True)
class LookedAt:
    """One time that a lead looked at an alarm: the numbers are those of then."""

    by: str
    at: datetime
    note: str
    numbers: dict[str, Any]


@transaction.atomic
def look_at(asked: RoundRater, finding: Finding, *, graded: int, note: str, actor: Any) -> None:
    """Put on record that a lead looked at an alarm and what came of it. It rings again when its numbers grow.

    Parameters
    ----------
    asked : RoundRater
        Whose alarm.
    finding : Finding
        What the check says of them now, to this lead.
    graded : int
        How many pairs they have graded by now.
    note : str
        What was found, for other leads.
    actor : User
        The lead.

    Raises
    ------
    NotValid
        There is no note, or it is too long.
    Conflict
        The check does not ring, so that there is nothing to look at.
    """
    said = note.strip()
    if not said or len(said) > LONGEST_NOTE:
        what = f"What did you find? {LONGEST_NOTE} characters at most; other leads read it."
        raise NotValid(f"An alarm that was looked at needs a note. {what}", {"note": what})
    if not finding.alarm:
        raise Conflict("This check does not ring: there is nothing to look at.")
    numbers = {"graded": graded, **{name: getattr(finding, name) for name in NUMBERS}}
    _record(LOOKED, "looked at", asked, finding.check, actor, note=said, numbers=numbers)


@transaction.atomic
def ring_again(asked: RoundRater, check: str, *, actor: Any) -> None:
    """Let an alarm ring that was looked at.

    Raises
    ------
    Conflict
        Nobody has looked at it.
    """
    if (asked.pseudonym, check) not in looked_at(asked.round):
        raise Conflict("Nobody has looked at this alarm.")
    _record(AGAIN, "let ring again", asked, check, actor)


def looked_at(round_: Round) -> dict[tuple[str, str], LookedAt]:
    """What leads looked at in the round, the last time of each, by the rater's pseudonym and the check."""
    rows = AuditRow.objects.filter(
        collection=round_.collection_id, verb__in=[LOOKED, AGAIN], target_uuid=round_.uuid
    ).order_by("pk")
    found: dict[tuple[str, str], LookedAt] = {}
    for row in rows.select_related("actor"):
        key = (row.detail["rater"], row.detail["check"])
        if row.verb == AGAIN:
            found.pop(key, None)
        else:
            by = str(row.actor) if row.actor else ""
            found[key] = LookedAt(by, row.at, row.detail["note"], row.detail["numbers"])
    return found


def quiet(then: LookedAt, finding: Finding, graded: int) -> bool:
    """Whether an alarm that was looked at has nothing new to say."""
    from judgments.quality import CHECKS
    from judgments.quality.grown import Numbers, grown

    now = {name: getattr(finding, name) for name in NUMBERS}
    return not grown(Numbers(**then.numbers), Numbers(graded=graded, **now), CHECKS[finding.check].rings)


def _record(verb: str, did: str, asked: RoundRater, check: str, actor: Any, **detail: Any) -> None:
    # Without the note: the activity is read by leads who still rate, and it may tell grades.
    sentence = f"{actor} {did} the alarm {check} of {asked.user} in round {asked.round}"
    detail |= {"rater": asked.pseudonym, "check": check}
    audit.record(verb, sentence, actor=actor, collection=asked.round.collection, target=asked.round, **detail)
