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

from assay.core.counted_nouns import amount
from assay.core.errors import Conflict, NotFound, NotValid
from assay.core.registry import Family
from evaluation.effects.round_runs import all_runs, runs_by_job, state_key
from evaluation.models import RoundEffect
from judgments.agreement.round_report import events
from judgments.jobs import jobs
from judgments.models import Job, Round
from pooling.models import Run

KIND = "effects"
# While raters work a round is counted anew this often at most.
PATIENCE = timedelta(minutes=1)
# `count(round_, runs, **asked)` answers plain values.
COUNTERS: Family[Callable[..., dict[str, Any]]] = Family(
    "count over a round",
    {"conflicts": "evaluation.effects.pair_effects:counted", "raters": "evaluation.effects.rater_effect:counted"},
)


@dataclass(frozen=True)
class Look:
    """The newest answer that is there without waiting.

    Attributes
    ----------
    effects : dict
        What the counter answered.
    newer : int
        Answers of raters, and changes of answers, that came since.
    computed_at : datetime
        When it was counted.
    """

    effects: dict[str, Any]
    newer: int
    computed_at: datetime


def look(round_: Round, runs: list[Run], what: str, **options: str) -> Look:
    """The newest answer that is there without waiting; a newer one is put in line where something is newer.

    Parameters
    ----------
    round_ : Round
        A large one.
    runs : list of Run
        All runs that the answer hangs on.
    what : str
        A member of `COUNTERS`.
    **options : str
        Arguments of the counter; stored with the job.

    Raises
    ------
    NotValid
        The last count failed; the message is its error.
    Conflict
        Nothing was counted yet; a job is in line, or it stopped.
    """
    name = " ".join([what, *options.values()])
    row = RoundEffect.objects.filter(round=round_, name=name).first()
    current = row is not None and row.state == state_key(round_, runs)
    recent = row is not None and timezone.now() - row.computed_at < PATIENCE
    job = None if current or recent else _in_line(round_, name, {"what": what, "asked": options})
    if row is None:
        raise Conflict(_waiting(job))
    if "error" in row.effects:
        raise NotValid(row.effects["error"])
    return Look(row.effects, 0 if current else abs(events(round_) - row.events), row.computed_at)


def _waiting(job: Job | None) -> str:
    if job is not None and job.error:
        return f"The job that computes this for a large round stopped: {job.error}"
    return "The round is large, so a job computes this now. Reload the page in a minute."


def _in_line(round_: Round, name: str, parameters: dict[str, Any]) -> Job:
    title = f"Compute {name} of {round_}"
    job_parameters = {"round": str(round_.uuid), "name": name, **parameters}
    return jobs.in_line(
        KIND, title=title, parameters=job_parameters, collection=round_.collection, known_by=("round", "name")
    )


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Count once for the state that the round has when the work begins."""
    parameters = work.job.parameters
    round_ = Round.objects.select_related("scale", "collection").filter(uuid=parameters["round"]).first()
    if round_ is None:
        raise NotFound("The round was deleted.")
    runs = all_runs(round_)
    before = {"events": events(round_), "state": state_key(round_, runs)}
    work.say(
        f"computing from {amount(before['events'], 'answer')} and {amount(sum(run.rows for run in runs), 'row')} of "
        "runs"
    )
    try:
        effects = COUNTERS[parameters["what"]](round_, runs_by_job(round_), **parameters["asked"])
    except NotValid as error:
        effects = {"error": str(error)}
    fields = {**before, "effects": effects, "computed_at": timezone.now()}
    RoundEffect.objects.update_or_create(round=round_, name=parameters["name"], defaults=fields)
    return {"name": parameters["name"], **{key: effects[key] for key in ("error",) if key in effects}}
