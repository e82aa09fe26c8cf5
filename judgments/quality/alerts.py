"""Acknowledged alerts: the alerts that a lead has reviewed, and the alerts that are active again.

An acknowledgment is an event in the audit trail, and so is undoing it; no row changes. An acknowledged alert stays
hidden until its numbers have grown markedly.
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
    """Record that a lead reviewed an alert, with a note. The alert returns if its numbers grow."""
    text = note.strip()
    if not text or len(text) > LONGEST_NOTE:
        what = f"Describe your findings for other leads in at most {LONGEST_NOTE} characters."
        raise NotValid(f"An acknowledged alert needs a note. {what}", {"note": what})
    if not finding.alarm:
        raise Conflict("This check has no active alert, so there is nothing to acknowledge.")
    numbers = {"graded": graded, **{name: getattr(finding, name) for name in NUMBERS}}
    _record(ACKNOWLEDGED, "acknowledged", assignment, finding.check, actor, note=text, numbers=numbers)


@transaction.atomic
def undo_acknowledgment(assignment: RoundRater, check: str, *, actor: Any) -> None:
    """Undo the acknowledgment of an alert."""
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
    from assay.quality.finding import Numbers, grown

    now = {name: getattr(finding, name) for name in NUMBERS}
    return not grown(Numbers(**then.numbers), Numbers(graded=graded, **now), CHECKS[finding.check].rings)


def _record(verb: str, did: str, assignment: RoundRater, check: str, actor: Any, **detail: Any) -> None:
    # Without the note, because leads who still rate see the activity and a note may reveal grades.
    sentence = f"{actor} {did} the alert {check} of {assignment.user} in round {assignment.round}"
    detail |= {"rater": assignment.pseudonym, "check": check}
    audit.record(verb, sentence, actor=actor, target=assignment.round, **detail)
