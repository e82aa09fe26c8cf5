"""Cached effects of a large round's labels, computed by a job.

Effects of a small round are computed on request. For a large round the last result is shown, with the number of
judgments since, and a job computes the next result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from assay.core.errors import Conflict, NotFound, NotValid
from assay.core.registry import Family
from assay.core.text_rules import amount
from evaluation.effects.round_runs import all_runs, runs_by_job, state_key
from evaluation.models import RoundEffect
from judgments.agreement.round_report import events
from judgments.jobs import jobs
from judgments.models import Job, Round
from pooling.models import Run

KIND = "effects"
# Seconds between two computations while raters are working on the round.
PATIENCE = timedelta(minutes=1)
# `count(round_, runs, **options)` returns JSON values.
COUNTERS: Family[Callable[..., dict[str, Any]]] = Family(
    "compute the effects of a round",
    {"conflicts": "evaluation.effects.pair_effects:counted", "raters": "evaluation.effects.rater_effect:counted"},
)


@dataclass(frozen=True)
class Look:
    """The newest stored result."""

    effects: dict[str, Any]
    newer: int
    computed_at: datetime


def look(round_: Round, runs: list[Run], what: str, **options: str) -> Look:
    """Return the newest stored result, and queue a job if the round has newer judgments."""
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
        return f"The job that computes the numbers failed: {job.error}"
    return "The round is large, so a job is computing the numbers. Reload the page in a minute."


def _in_line(round_: Round, name: str, parameters: dict[str, Any]) -> Job:
    title = f"Compute {name} of {round_}"
    job_parameters = {"round": str(round_.uuid), "name": name, **parameters}
    return jobs.in_line(
        KIND, title=title, parameters=job_parameters, collection=round_.collection, known_by=("round", "name")
    )


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Compute the effects once, for the state of the round at the start."""
    parameters = work.job.parameters
    round_ = Round.objects.select_related("scale", "collection").filter(uuid=parameters["round"]).first()
    if round_ is None:
        raise NotFound("The round was deleted.")
    runs = all_runs(round_)
    before = {"events": events(round_), "state": state_key(round_, runs)}
    work.say(
        f"computing from {amount(before['events'], 'judgment')} and {amount(sum(run.rows for run in runs), 'row')} of "
        "runs"
    )
    try:
        effects = COUNTERS[parameters["what"]](round_, runs_by_job(round_), **parameters["asked"])
    except NotValid as error:
        effects = {"error": str(error)}
    fields = {**before, "effects": effects, "computed_at": timezone.now()}
    RoundEffect.objects.update_or_create(round=round_, name=parameters["name"], defaults=fields)
    return {"name": parameters["name"], **{key: effects[key] for key in ("error",) if key in effects}}
