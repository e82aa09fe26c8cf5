"""Watch open rounds for new alerts about raters, and record them as events."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db.models import Sum
from django.urls import reverse
from django.utils import timezone

from assay.core.counted_nouns import amount
from judgments.events.events import emit
from judgments.jobs import jobs
from judgments.models import CollectionEvent, Job, Round, Tally
from judgments.quality import checks

KIND = "quality-alerts"
# The shortest time between two checks of a round.
PAUSE = timedelta(minutes=10)


def queue_due() -> None:
    """Queue a check of each open round that has new judgments since its last check."""
    tallies = Tally.objects.filter(round__state=Round.State.OPEN).order_by().values("round")
    events = dict(tallies.annotate(events=Sum("events")).values_list("round", "events"))
    rows = Round.objects.filter(pk__in=events, archived_at=None).select_related("collection")
    done = Job.objects.filter(kind=KIND, collection__in=rows.values("collection"))
    last = {job.parameters["round"]: job for job in done}
    for round_ in rows:
        if events[round_.pk]:
            _queue(round_, events[round_.pk], last.get(str(round_.uuid)))


def _queue(round_: Round, events: int, last: Job | None) -> None:
    parameters = {"round": str(round_.uuid), "events": events}
    if last is None:
        title = f"Look for alerts about the raters of {round_}"
        jobs.start(KIND, title=title, parameters=parameters, collection=round_.collection, actor=None)
        return
    lately = last.finished_at is None or timezone.now() - last.finished_at < PAUSE
    if lately or last.parameters["events"] == events:
        return
    # A round has one such job, which remembers the judgments that it has checked.
    if jobs.again(last):
        Job.objects.filter(pk=last.pk).update(parameters=parameters)


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run the job: record the alerts that no event of the round has yet."""
    round_ = Round.objects.select_related("collection", "scale").filter(uuid=work.job.parameters["round"]).first()
    if round_ is not None and round_.state == Round.State.OPEN:
        record_new(round_)
    return {}


def record_new(round_: Round) -> None:
    """Record the round's new alerts as one event."""
    known = set(_known(round_))
    alarms = [(one.round_rater.pseudonym, alert.check) for one in checks.all_reports(round_) for alert in one.alarms]
    new = [alert for alert in alarms if alert not in known]
    if not new:
        return
    raters = amount(len({rater for rater, _ in new}), "rater")
    emit(
        "quality.alert",
        round_.collection,
        text=f"Round {round_} has {amount(len(new), 'new alert')} about {raters}.",
        page=reverse("round_quality", args=[round_.uuid]),
        data={"round": str(round_.uuid), "name": round_.name, "alerts": new},
    )


def _known(round_: Round) -> Iterator[tuple[str, str]]:
    events = CollectionEvent.objects.filter(collection=round_.collection, kind="quality.alert")
    for data in events.filter(data__round=str(round_.uuid)).values_list("data", flat=True):
        yield from ((rater, check) for rater, check in data["alerts"])
