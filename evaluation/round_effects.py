"""What would keep a page waiting on a large round: counted by a job, and kept with the state that it stands on.

A small round's answers are computed when somebody asks. A large one's take long: the last one is shown with how much
came since, and a job makes the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from evaluation.models import RoundEffect
from evaluation.round_runs import all_runs, runs_by_job, state_key
from judgments import jobs
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotFound, NotValid
from judgments.core.family import Family
from judgments.models import Job, Round
from judgments.round_reports import events
from pooling.models import Run

KIND = "effects"
# While raters work a round is counted anew this often at most.
PATIENCE = timedelta(minutes=1)
# `count(round_, runs, **asked)` answers plain values.
COUNTERS: Family[Callable[..., dict[str, Any]]] = Family(
    "count over a round",
    {"conflicts": "evaluation.conflict_effects:counted", "raters": "evaluation.rater_effect:counted"},
)


@dataclass(frozen=True)
class Look:
    """The newest answer that is there without waiting.

    Attributes
    ----------
    found : dict
        What the counter answered.
    newer : int
        Answers of raters, and changes of answers, that came since.
    computed_at : datetime
        When it was counted.
    """

    found: dict[str, Any]
    newer: int
    computed_at: datetime


def look(round_: Round, runs: list[Run], what: str, **asked: str) -> Look:
    """The newest answer that is there without waiting; a newer one is put in line where something is newer.

    Parameters
    ----------
    round_ : Round
        A large one.
    runs : list of Run
        All runs that the answer hangs on.
    what : str
        A member of `COUNTERS`.
    **asked : str
        What it is told beside.

    Raises
    ------
    NotValid
        What the counter found wrong when it counted last.
    Conflict
        Nothing was counted yet; a job is in line, or it stopped.
    """
    name = " ".join([what, *asked.values()])
    kept = RoundEffect.objects.filter(round=round_, name=name).first()
    current = kept is not None and kept.state == state_key(round_, runs)
    recent = kept is not None and timezone.now() - kept.computed_at < PATIENCE
    job = None if current or recent else _in_line(round_, name, {"what": what, "asked": asked})
    if kept is None:
        raise Conflict(_waiting(job))
    if "error" in kept.found:
        raise NotValid(kept.found["error"])
    return Look(kept.found, 0 if current else abs(events(round_) - kept.events), kept.computed_at)


def _waiting(job: Job | None) -> str:
    if job is not None and job.error:
        return f"A job counts it, since the round is large, and stopped: {job.error}"
    return "The round is large: a job counts it now. Load the page again in a minute."


def _in_line(round_: Round, name: str, parameters: dict[str, Any]) -> Job:
    title = f"Count {name} of {round_} on the runs"
    told = {"round": str(round_.uuid), "name": name, **parameters}
    return jobs.in_line(KIND, title=title, parameters=told, collection=round_.collection, known_by=("round", "name"))


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Count once for the state that the round has when the work begins."""
    told = work.job.parameters
    round_ = Round.objects.select_related("scale", "collection").filter(uuid=told["round"]).first()
    if round_ is None:
        raise NotFound("The round is gone.")
    runs = all_runs(round_)
    before = {"events": events(round_), "state": state_key(round_, runs)}
    work.say(
        f"counting over {amount(before['events'], 'answer')} and {amount(sum(run.rows for run in runs), 'row')} of runs"
    )
    try:
        found = COUNTERS[told["what"]](round_, runs_by_job(round_), **told["asked"])
    except NotValid as error:
        found = {"error": str(error)}
    fields = {**before, "found": found, "computed_at": timezone.now()}
    RoundEffect.objects.update_or_create(round=round_, name=told["name"], defaults=fields)
    return {"name": told["name"], **{key: found[key] for key in ("error",) if key in found}}
