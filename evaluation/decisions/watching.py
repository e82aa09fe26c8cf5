"""Watch open decisions: look for a verdict after raters' answers, also while nobody has the page open."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache

from evaluation.decisions import decisions
from evaluation.models import Decision
from judgments.jobs import jobs
from judgments.models import Round

KIND = "decision"
# The shortest time between two looks at a round, in seconds.
PAUSE = 5


def queue_look(round_: Round) -> None:
    """Queue a look at the round's decision, unless one was queued a moment ago."""
    if not cache.add(f"decision-look:{round_.pk}", True, PAUSE):
        return
    row = Decision.objects.select_related("collection").filter(round=round_).first()
    if row is not None:
        parameters = {"decision": str(row.uuid)}
        jobs.in_line(
            KIND,
            title=f"Look for a verdict of {row}",
            parameters=parameters,
            collection=row.collection,
            known_by=["decision"],
        )


def work_on_look(work: jobs.Work) -> dict[str, Any]:
    """Run the job of `queue_look`."""
    rows = Decision.objects.select_related(*decisions.RELATED).filter(uuid=work.job.parameters["decision"])
    for row in rows:
        decisions.look(row)
    return {}


def look_at_open() -> None:
    """Look at every open decision from time to time, in case a notification was lost."""
    rows = Decision.objects.filter(round__state=Round.State.OPEN, candidates__verdict="undecided").distinct()
    for row in rows.select_related(*decisions.RELATED):
        decisions.look(row)
