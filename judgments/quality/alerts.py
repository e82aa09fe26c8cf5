"""Acknowledged alerts: which alerts a lead has reviewed, with what result, and which are due again.

A review is an event in the audit trail, and so is undoing it; no row changes. A reviewed alert stays quiet until its
numbers have grown markedly.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction

from assay.core.errors import Conflict, NotValid
from judgments.models import AuditRow, Round, RoundRater, audit

if TYPE_CHECKING:
    from assay.quality import Finding

ACKNOWLEDGED, UNDONE = "alarms.look_at", "alarms.ring_again"
LONGEST_NOTE = 500
NUMBERS = ("value", "low", "high", "threshold")


@dataclass(frozen=True)
class Acknowledgment:
    """A lead's acknowledgment of an alert, with the numbers at that time."""

    by: str
    at: datetime
    note: str
    numbers: dict[str, Any]


@transaction.atomic
def acknowledge(assignment: RoundRater, finding: Finding, *, graded: int, note: str, actor: Any) -> None:
    """Record that a lead reviewed an alert, with a note. The alert returns when its numbers grow.

    Parameters
    ----------
    assignment : RoundRater
        The rater that the alert is about.
    finding : Finding
        The current result of the check, as this lead sees it.
    graded : int
        The number of pairs they have graded so far.
    note : str
        The result of the review, for other leads.
    actor : User
        The lead.

    Raises
    ------
    NotValid
        The note is missing or too long.
    Conflict
        The check raises no alert.
    """
    text = note.strip()
    if not text or len(text) > LONGEST_NOTE:
        what = f"Describe what you found in at most {LONGEST_NOTE} characters. Other leads read it."
        raise NotValid(f"An acknowledged alert needs a note. {what}", {"note": what})
    if not finding.alarm:
        raise Conflict("This check raises no alert, so you can't acknowledge one.")
    numbers = {"graded": graded, **{name: getattr(finding, name) for name in NUMBERS}}
    _record(ACKNOWLEDGED, "acknowledged", assignment, finding.check, actor, note=text, numbers=numbers)


@transaction.atomic
def undo_acknowledgment(assignment: RoundRater, check: str, *, actor: Any) -> None:
    """Undo the acknowledgment of an alert.

    Raises
    ------
    Conflict
        The alert is not acknowledged.
    """
    if (assignment.pseudonym, check) not in acknowledgments(assignment.round):
        raise Conflict("This alert is not acknowledged.")
    _record(UNDONE, "reactivated", assignment, check, actor)


def acknowledgments(round_: Round) -> dict[tuple[str, str], Acknowledgment]:
    """Return the latest acknowledgment of each alert in the round, by the rater's pseudonym and the check."""
    rows = AuditRow.objects.filter(
        collection=round_.collection_id, verb__in=[ACKNOWLEDGED, UNDONE], target_uuid=round_.uuid
    ).order_by("pk")
    latest: dict[tuple[str, str], Acknowledgment] = {}
    for row in rows.select_related("actor"):
        key = (row.detail["rater"], row.detail["check"])
        if row.verb == UNDONE:
            latest.pop(key, None)
        else:
            by = str(row.actor) if row.actor else ""
            latest[key] = Acknowledgment(by, row.at, row.detail["note"], row.detail["numbers"])
    return latest


def is_unchanged(then: Acknowledgment, finding: Finding, graded: int) -> bool:
    """Return whether the numbers of an acknowledged alert have not grown markedly."""
    from assay.quality import CHECKS
    from assay.quality.alert_growth import Numbers, grown

    now = {name: getattr(finding, name) for name in NUMBERS}
    return not grown(Numbers(**then.numbers), Numbers(graded=graded, **now), CHECKS[finding.check].rings)


def _record(verb: str, did: str, assignment: RoundRater, check: str, actor: Any, **detail: Any) -> None:
    # Without the note: leads who still rate read the activity, and a note may reveal grades.
    sentence = f"{actor} {did} the alert {check} of {assignment.user} in round {assignment.round}"
    detail |= {"rater": assignment.pseudonym, "check": check}
    audit.record(verb, sentence, actor=actor, collection=assignment.round.collection, target=assignment.round, **detail)
