"""Checks of a round's raters: the results that the reader may see, acknowledged alerts, and events of new alerts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.core.cache import cache
from django.db import transaction
from django.db.models import Max, Sum
from django.db.models.functions import Length
from django.urls import reverse
from django.utils import timezone

from assay.core.errors import Conflict, NotFound, NotValid
from assay.core.text_rules import amount
from assay.quality import CHECKS, Finding, GradeComparisons, Record, Timed, examine
from assay.quality.check import Numbers, floats, grown, ints, units
from judgments.events.events import emit
from judgments.jobs import jobs
from judgments.jobs.single_flight import compute_once
from judgments.labels import grade_visibility
from judgments.models import (
    AuditRow,
    CollectionEvent,
    Job,
    Judgment,
    Pair,
    Probe,
    ProbeAnswer,
    Round,
    RoundRater,
    Tally,
    User,
    audit,
)
from judgments.models.fields import rows_among

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
    rows = AuditRow.objects.filter(collection=round_.collection_id, target_uuid=round_.uuid)
    latest: dict[tuple[str, str], Acknowledgment] = {}
    for row in rows.filter(verb__in=[ACKNOWLEDGED, UNDONE]).order_by("pk").select_related("actor"):
        key = (row.detail["rater"], row.detail["check"])
        if row.verb == UNDONE:
            latest.pop(key, None)
        else:
            by = str(row.actor) if row.actor else ""
            latest[key] = Acknowledgment(by, row.at, row.detail["note"], row.detail["numbers"])
    return latest


def _record(verb: str, did: str, assignment: RoundRater, check: str, actor: Any, **detail: Any) -> None:
    # Without the note, because leads who still rate see the activity and a note may reveal grades.
    sentence = f"{actor} {did} the alert {check} of {assignment.user} in round {assignment.round}"
    detail |= {"rater": assignment.pseudonym, "check": check}
    audit.record(verb, sentence, actor=actor, target=assignment.round, **detail)


# The version of the comparison rules; another number invalidates cached results.
COMPARED = 2
# The number of newest judgments that the pace checks use, because reading the lengths of more texts would cost too
# much.
TIMED = 200
KEEP = 24 * 3600
# A job checks rounds with more grades: 200,000 grades take a second or two.
LARGE = 50_000
JOB = "quality"
# The minimum time between two checks of a large round.
PATIENCE = timedelta(minutes=1)


@dataclass(frozen=True)
class RaterReport:
    """The result of every check for one rater of a round."""

    round_rater: RoundRater
    graded: int
    findings: dict[str, Finding]
    looked: dict[str, Acknowledgment] = field(default_factory=dict)  # acknowledged alerts, by check

    @property
    def alarms(self) -> list[Finding]:
        """The active alerts that no lead has acknowledged, serious ones first."""
        rung = [one for one in self.findings.values() if one.alarm and not self.quiet(one)]
        return sorted(rung, key=lambda one: CHECKS[one.check].severity != "serious")

    @property
    def quieted(self) -> list[Finding]:
        """The active alerts that a lead has acknowledged."""
        return [one for one in self.findings.values() if one.alarm and self.quiet(one)]

    def quiet(self, finding: Finding) -> bool:
        """Return whether a lead has acknowledged the alert and its numbers have not grown since."""
        if (then := self.looked.get(finding.check)) is None:
            return False
        now = Numbers(graded=self.graded, **{name: getattr(finding, name) for name in NUMBERS})
        return not grown(Numbers(**then.numbers), now, CHECKS[finding.check].rings)

    @property
    def severity(self) -> str:
        """The severity of the worst alert: "serious", "mild" or ""."""
        return CHECKS[self.alarms[0].check].severity if self.alarms else ""


@dataclass(frozen=True)
class Look:
    """The reports available now, and the job that computes newer ones, if there is one."""

    reports: list[RaterReport]
    job: Job | None = None


def look(round_: Round, *, viewer: User) -> Look:
    """Return the results of the checks for each rater, ordered by pseudonym."""
    hidden = grade_visibility.pairs_with_hidden_grades(viewer, round_)
    hides = hidden.exists()
    state = _state(round_, viewer, hides)
    graded = dict(Tally.objects.filter(round=round_).values_list("rater", "graded"))
    if hides or sum(graded.values()) <= LARGE:
        results = compute_once(state, lambda: _computed(round_, hidden), keep=KEEP)
        return Look(_rows(round_, results, graded, blind=hides))
    results, job = cache.get(state), None
    if results is None:
        mine = Job.objects.filter(kind=JOB, parameters__round=str(round_.uuid)).order_by("-pk")
        done = mine.filter(state=Job.State.DONE, result__isnull=False).first()
        results = done.result["found"] if done else {}
        if done is not None and done.result["state"] == state:
            cache.set(state, results, KEEP)
        elif done is None or not done.finished_at or timezone.now() - done.finished_at >= PATIENCE:
            job = mine.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING]).first() or jobs.start(
                JOB,
                title=f"Check the raters of {round_}",
                parameters={"round": str(round_.uuid)},
                collection=round_.collection,
                actor=viewer,
            )
    return Look(_rows(round_, results, graded), job)


def all_reports(round_: Round) -> list[RaterReport]:
    """Return the results over all judgments, which only readers without hidden pairs may see."""
    graded = dict(Tally.objects.filter(round=round_).values_list("rater", "graded"))
    return _rows(round_, _computed(round_, None), graded)


def finding_of(round_rater: RoundRater, check: str, *, viewer: User) -> tuple[RaterReport, Finding]:
    """Return the result of one check for one rater, limited to the values that the reader may see."""
    reports = look(round_rater.round, viewer=viewer).reports
    report = next((one for one in reports if one.round_rater.pk == round_rater.pk), None)
    if report is None:
        raise Conflict("The checks are still being computed. Try again in a moment.")
    if check not in report.findings:
        raise NotFound("Unknown check.")
    return report, report.findings[check]


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run the job: compute the checks of a large round for readers without hidden pairs."""
    round_ = Round.objects.get(uuid=work.job.parameters["round"])
    state = _state(round_, None, hides=False)
    return work.keep({"state": state, "found": _computed(round_, None)})


def _rows(
    round_: Round, results: dict[str, list[dict[str, Any]]], graded: dict[int, int], *, blind: bool = False
) -> list[RaterReport]:
    """Return the reports made from plain data; raters who joined later have none yet."""
    rows = round_.raters.select_related("user").order_by("pseudonym")
    looked: dict[str, dict[str, Acknowledgment]] = defaultdict(dict)
    for (rater, check), then in acknowledgments(round_).items():
        looked[rater][check] = replace(then, note="") if blind else then
    return [
        RaterReport(row, graded.get(row.user_id, 0), _read(results[row.pseudonym]), looked[row.pseudonym])
        for row in rows
        if row.pseudonym in results
    ]


def as_json(round_: Round, result: Look) -> dict[str, Any]:
    """Return the reports for the API and the download, with raters by pseudonym."""
    return {
        "round": str(round_.uuid),
        "raters": [
            {
                "rater": report.round_rater.pseudonym,
                "graded": report.graded,
                "paused": report.round_rater.paused_at is not None,
                "pause_reason": report.round_rater.pause_reason,
                "calibrated": report.round_rater.calibrated_at is not None,
                "calibration_share": report.round_rater.calibration_share,
                "alarms": [one.check for one in report.alarms],
                "checks": [_finding(one, report) for one in report.findings.values()],
            }
            for report in result.reports
        ],
        "job": str(result.job.uuid) if result.job else None,
    }


def _finding(one: Finding, report: RaterReport) -> dict[str, Any]:
    row = one.to_dict()
    del row["rater"]
    check = CHECKS[one.check]
    then = report.looked.get(one.check) if one.alarm else None
    looked = None
    if then is not None:
        looked = {"by": then.by, "at": then.at.isoformat(), "note": then.note, "quiet": report.quiet(one)}
    detail = {"severity": check.severity, "advice": check.advice if one.alarm else "", "looked_at": looked}
    return {**row, "others": list(one.others), **detail}


def _state(round_: Round, viewer: User | None, hides: bool) -> str:
    """Return the cache key, which contains everything that the results depend on."""
    events = Tally.objects.filter(round=round_).aggregate(all=Sum("events"))["all"]
    newest = ProbeAnswer.objects.filter(probe__round=round_).aggregate(newest=Max("pk"))["newest"]
    raters = round_.raters.count()
    reader = "all"
    if hides:
        # Any judgment of the reader changes which pairs they may still grade.
        own = Tally.objects.filter(rater=viewer).aggregate(events=Sum("events"))["events"]
        reader = f"{viewer.pk}-{own}-{sum(Round.objects.open_to(viewer).values_list('pairs_made', flat=True))}"
    return f"quality:{COMPARED}:{round_.uuid}:{events}:{newest}:{raters}:{round_.pass_within}:{reader}"


def _computed(round_: Round, hidden: Any) -> dict[str, list[dict[str, Any]]]:
    """Return every finding as plain data, by pseudonym."""
    by_rater: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for findings in examine(record(round_, hidden)).values():
        for one in findings:
            by_rater[one.rater].append(one.to_dict())
    return dict(by_rater)


def _read(rows: Sequence[dict[str, Any]]) -> dict[str, Finding]:
    return {row["check"]: Finding.from_dict(row) for row in rows}


def record(round_: Round, hidden: Any = None) -> Record:
    """Return the data that the checks examine, without the ``hidden`` pairs."""
    names = list(round_.raters.order_by("pseudonym").values_list("user_id", "pseudonym"))
    code = {user: place for place, (user, _) in enumerate(names)}
    rows = Judgment.objects.counted().of_round(round_).with_origin().order_by("pk")
    if hidden is not None and hidden.exists():
        rows = rows.exclude(pair__in=hidden.values("pk"))
    wanted = ("rater_id", "pair_id", "pair__query_id", "grade", "seconds_active", "called_in")
    columns = list(zip(*rows.values_list(*wanted), strict=True))
    rater, pair, query, grade, seconds, called_in = columns or [()] * 6
    pairs = ints(pair)
    raters = ints([code[one] for one in rater])
    times = floats([float("nan") if one is None else one for one in seconds])
    return Record(
        raters=tuple(name for _, name in names),
        scale=tuple(round_.scale.values()),
        rater=raters,
        unit=units(pairs, np.asarray(called_in, dtype=np.bool_)),
        query=ints(query),
        grade=ints(grade),
        seconds=times,
        timed=_timed(raters, pairs, times, len(names)),
        gold=_check_answers(round_, Probe.Kind.GOLD, code),
        repeats=_check_answers(round_, Probe.Kind.REPEAT, code),
        within=round_.pass_within,
    )


def _timed(rater: Any, pair: Any, seconds: Any, raters: int) -> Timed:
    """Return the newest timed judgments of each rater with the length of the text."""
    known = np.flatnonzero(~np.isnan(seconds))
    chosen = [known[rater[known] == one][-TIMED:] for one in range(raters)]
    rows = np.concatenate(chosen) if chosen else known
    wanted = sorted({int(one) for one in pair[rows]})
    sized = Pair.objects.order_by().annotate(size=Length("document__text") + Length("document__title"))
    lengths = dict(rows_among(sized.values_list("pk", "size"), "pk", wanted))
    return Timed(rater[rows], seconds[rows], np.array([lengths[int(one)] for one in pair[rows]], dtype=np.float64))


def _check_answers(round_: Round, kind: str, code: dict[int, int]) -> GradeComparisons:
    """Return the graded answers to gold pairs or repeats, of current raters only."""
    rows = ProbeAnswer.objects.current().filter(
        probe__round=round_, probe__kind=kind, state=ProbeAnswer.State.GRADED, rater__in=list(code)
    )
    answers = list(rows.order_by("pk").values_list("rater_id", "probe__expected", "grade"))
    return GradeComparisons(
        ints([code[rater] for rater, _, _ in answers]),
        ints([expected for _, expected, _ in answers]),
        ints([given for _, _, given in answers]),
    )


ALERT_JOB = "quality-alerts"
# The shortest time between two checks of a round.
ALERT_PAUSE = timedelta(minutes=10)


def queue_alert_checks() -> None:
    """Queue a check of each open round that has new judgments since its last check."""
    tallies = Tally.objects.filter(round__state=Round.State.OPEN).order_by().values("round")
    events = dict(tallies.annotate(events=Sum("events")).values_list("round", "events"))
    rows = Round.objects.filter(pk__in=events, archived_at=None).select_related("collection")
    done = Job.objects.filter(kind=ALERT_JOB, collection__in=rows.values("collection"))
    last = {job.parameters["round"]: job for job in done}
    for round_ in rows:
        if events[round_.pk]:
            _queue_alert_check(round_, events[round_.pk], last.get(str(round_.uuid)))


def _queue_alert_check(round_: Round, events: int, last: Job | None) -> None:
    parameters = {"round": str(round_.uuid), "events": events}
    if last is None:
        title = f"Look for alerts about the raters of {round_}"
        jobs.start(ALERT_JOB, title=title, parameters=parameters, collection=round_.collection, actor=None)
        return
    lately = last.finished_at is None or timezone.now() - last.finished_at < ALERT_PAUSE
    if lately or last.parameters["events"] == events:
        return
    # A round has one such job, which remembers the judgments that it has checked.
    if jobs.again(last):
        Job.objects.filter(pk=last.pk).update(parameters=parameters)


def work_on_alerts(work: jobs.Work) -> dict[str, Any]:
    """Run the job: record the alerts that no event of the round has yet."""
    round_ = Round.objects.select_related("collection", "scale").filter(uuid=work.job.parameters["round"]).first()
    if round_ is not None and round_.state == Round.State.OPEN:
        record_alerts(round_)
    return {}


def record_alerts(round_: Round) -> None:
    """Record the round's new alerts as one event."""
    known = set(_recorded_alerts(round_))
    alarms = [(one.round_rater.pseudonym, alert.check) for one in all_reports(round_) for alert in one.alarms]
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


def _recorded_alerts(round_: Round) -> Iterator[tuple[str, str]]:
    events = CollectionEvent.objects.filter(collection=round_.collection, kind="quality.alert")
    for data in events.filter(data__round=str(round_.uuid)).values_list("data", flat=True):
        yield from ((rater, check) for rater, check in data["alerts"])
