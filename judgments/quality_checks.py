"""Results of the checks of a round's raters, limited to what the reader may see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db.models import Max, Sum
from django.db.models.functions import Length
from django.utils import timezone

from judgments import alarms, jobs, untold
from judgments.alarms import LookedAt
from judgments.computed import once
from judgments.core.errors import Conflict, NotFound
from judgments.models import Job, Judgment, Pair, Probe, ProbeAnswer, Round, RoundRater, Tally, User

if TYPE_CHECKING:
    from judgments.quality import Asked, Finding, Record, Timed

# Which answers are compared with each other: another number makes what was kept before be computed anew.
COMPARED = 2
# So many answers of a rater, the newest, tell their pace; the lengths of more texts would cost too much.
TIMED = 200
KEEP = 24 * 3600
# From so many grades on a job computes: 200,000 take a second or two.
LARGE = 50_000
JOB = "quality"
# While raters work a large round is checked anew this often at most.
PATIENCE = timedelta(minutes=1)


@dataclass(frozen=True)
class RaterReport:
    """One rater of a round and what each check says of them."""

    asked: RoundRater
    graded: int
    findings: dict[str, Finding]
    looked: dict[str, LookedAt] = field(default_factory=dict)  # what a lead has looked at, by check

    @property
    def alarms(self) -> list[Finding]:
        """Those that ring and have something new to say, the serious ones first."""
        from judgments.quality import CHECKS

        rung = [one for one in self.findings.values() if one.alarm and not self.quiet(one)]
        return sorted(rung, key=lambda one: CHECKS[one.check].severity != "serious")

    @property
    def quieted(self) -> list[Finding]:
        """Those that would ring, had nobody looked at them."""
        return [one for one in self.findings.values() if one.alarm and self.quiet(one)]

    def quiet(self, finding: Finding) -> bool:
        """Whether a lead has looked at this, and its numbers have not grown since."""
        then = self.looked.get(finding.check)
        return then is not None and alarms.quiet(then, finding, self.graded)

    @property
    def severity(self) -> str:
        """Of the worst that rings: "serious", "mild" or ""."""
        from judgments.quality import CHECKS

        return CHECKS[self.alarms[0].check].severity if self.alarms else ""


@dataclass(frozen=True)
class Look:
    """What there is to read: the reports, and the job that computes newer ones, if one is under way."""

    reports: list[RaterReport]
    job: Job | None = None


def reports(round_: Round, *, viewer: User) -> list[RaterReport]:
    """What the checks say of each rater, in the order of the pseudonyms; see `look`."""
    return look(round_, viewer=viewer).reports


def look(round_: Round, *, viewer: User) -> Look:
    """What the checks say of each rater, in the order of the pseudonyms.

    Computed once for each state of the round and what the reader may know. A reader who may still have to grade a pair
    gets numbers without it. For a large round a job computes; until it is done the numbers before are told.

    Parameters
    ----------
    round_ : Round
        Whose raters.
    viewer : User
        The lead who reads.
    """
    hidden = untold.untold_pairs(viewer, round_)
    hides = hidden.exists()
    state = _state(round_, viewer, hides)
    graded = dict(Tally.objects.filter(round=round_).values_list("rater", "graded"))
    if hides or sum(graded.values()) <= LARGE:
        return Look(_rows(round_, once(state, lambda: _computed(round_, hidden), keep=KEEP), graded, blind=hides))
    found = cache.get(state)
    if found is not None:
        return Look(_rows(round_, found, graded))
    mine = Job.objects.filter(kind=JOB, parameters__round=str(round_.uuid)).order_by("-pk")
    done = mine.filter(state=Job.State.DONE, result__isnull=False).first()
    if done is not None and done.result["state"] == state:
        cache.set(state, done.result["found"], KEEP)
        return Look(_rows(round_, done.result["found"], graded))
    if done is not None and done.finished_at and timezone.now() - done.finished_at < PATIENCE:
        return Look(_rows(round_, done.result["found"], graded))
    job = mine.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING]).first() or jobs.start(
        JOB,
        title=f"Check the raters of {round_}",
        parameters={"round": str(round_.uuid)},
        collection=round_.collection,
        actor=viewer,
    )
    return Look(_rows(round_, done.result["found"], graded) if done else [], job)


def finding_of(asked: RoundRater, check: str, *, viewer: User) -> tuple[RaterReport, Finding]:
    """What one check says of one rater, as the reader may know it.

    Raises
    ------
    NotFound
        There is no such check.
    Conflict
        The checks are being computed.
    """
    report = next((one for one in reports(asked.round, viewer=viewer) if one.asked.pk == asked.pk), None)
    if report is None:
        raise Conflict("The checks are being computed: come back in a moment.")
    if check not in report.findings:
        raise NotFound("There is no such check.")
    return report, report.findings[check]


def work_on(work: jobs.Work) -> dict[str, Any]:
    """The job: compute the checks of a large round, as they are told to who rates in no open round."""
    round_ = Round.objects.get(uuid=work.job.parameters["round"])
    state = _state(round_, None, hides=False)
    return work.keep({"state": state, "found": _computed(round_, None)})


def _rows(
    round_: Round, found: dict[str, list[dict[str, Any]]], graded: dict[int, int], *, blind: bool = False
) -> list[RaterReport]:
    """The reports from plain data; somebody who was asked since has none yet.

    Who is blind for some pairs reads no other lead's note: it may tell what was given to them.
    """
    rows = round_.raters.select_related("user").order_by("pseudonym")
    looked: dict[str, dict[str, LookedAt]] = defaultdict(dict)
    for (rater, check), then in alarms.looked_at(round_).items():
        looked[rater][check] = replace(then, note="") if blind else then
    return [
        RaterReport(row, graded.get(row.user_id, 0), _read(found[row.pseudonym]), looked[row.pseudonym])
        for row in rows
        if row.pseudonym in found
    ]


def told(round_: Round, found: Look) -> dict[str, Any]:
    """The shape of the API and of the page's download: raters by pseudonym."""
    return {
        "round": str(round_.uuid),
        "raters": [
            {
                "rater": report.asked.pseudonym,
                "graded": report.graded,
                "paused": report.asked.paused_at is not None,
                "pause_reason": report.asked.pause_reason,
                "calibrated": report.asked.calibrated_at is not None,
                "calibration_share": report.asked.calibration_share,
                "alarms": [one.check for one in report.alarms],
                "checks": [_finding(one, report) for one in report.findings.values()],
            }
            for report in found.reports
        ],
        "job": str(found.job.uuid) if found.job else None,
    }


def _finding(one: Finding, report: RaterReport) -> dict[str, Any]:
    from judgments.quality import CHECKS

    row = asdict(one)
    del row["rater"]
    check = CHECKS[one.check]
    then = report.looked.get(one.check) if one.alarm else None
    looked = None
    if then is not None:
        looked = {"by": then.by, "at": then.at.isoformat(), "note": then.note, "quiet": report.quiet(one)}
    told = {"severity": check.severity, "advice": check.advice if one.alarm else "", "looked_at": looked}
    return {**row, "others": list(one.others), **told}


def _state(round_: Round, viewer: User | None, hides: bool) -> str:
    """Names everything that the answer depends on."""
    events = Tally.objects.filter(round=round_).aggregate(all=Sum("events"))["all"]
    newest = ProbeAnswer.objects.filter(probe__round=round_).aggregate(newest=Max("pk"))["newest"]
    raters = round_.raters.count()
    reader = "all"
    if hides:
        # What they answer anywhere changes what they may still have to grade.
        own = Tally.objects.filter(rater=viewer).aggregate(events=Sum("events"))["events"]
        reader = f"{viewer.pk}-{own}-{sum(Round.objects.open_to(viewer).values_list('pairs_made', flat=True))}"
    return f"quality:{COMPARED}:{round_.uuid}:{events}:{newest}:{raters}:{round_.pass_within}:{reader}"


def _computed(round_: Round, hidden: Any) -> dict[str, list[dict[str, Any]]]:
    """Every finding as plain data, by pseudonym."""
    from judgments.quality import examine

    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for findings in examine(record(round_, hidden)).values():
        for one in findings:
            found[one.rater].append(asdict(one))
    return dict(found)


def _read(rows: Sequence[dict[str, Any]]) -> dict[str, Finding]:
    from judgments.quality import Finding

    return {row["check"]: Finding(**{**row, "others": tuple(row["others"])}) for row in rows}


def record(round_: Round, hidden: Any = None) -> Record:
    """What the checks look at, from the rows; ``hidden`` are pairs that are left out.

    What was called in counts for the rater's pace, patterns and shares of grades, and is compared with nobody.
    """
    import numpy as np

    from judgments.quality import Record
    from judgments.quality.record import floats, ints, units

    names = list(round_.raters.order_by("pseudonym").values_list("user_id", "pseudonym"))
    code = {user: place for place, (user, _) in enumerate(names)}
    rows = Judgment.objects.counted().of_round(round_).told_apart().order_by("pk")
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
        gold=_asked(round_, Probe.Kind.GOLD, code),
        repeats=_asked(round_, Probe.Kind.REPEAT, code),
        within=round_.pass_within,
    )


def _timed(rater: Any, pair: Any, seconds: Any, raters: int) -> Timed:
    """The newest timed answers of each rater, with how long the text is."""
    import numpy as np

    from judgments.quality import Timed

    known = np.flatnonzero(~np.isnan(seconds))
    chosen = [known[rater[known] == one][-TIMED:] for one in range(raters)]
    rows = np.concatenate(chosen) if chosen else known
    wanted = sorted({int(one) for one in pair[rows]})
    lengths: dict[int, int] = {}
    for begin in range(0, len(wanted), 5_000):
        part = Pair.objects.filter(pk__in=wanted[begin : begin + 5_000]).order_by()
        size = Length("document__text") + Length("document__title")
        lengths |= dict(part.annotate(size=size).values_list("pk", "size"))
    return Timed(rater[rows], seconds[rows], np.array([lengths[int(one)] for one in pair[rows]], dtype=np.float64))


def _asked(round_: Round, kind: str, code: dict[int, int]) -> Asked:
    """The graded answers to what was mixed in; of a rater who is not in the round any more there are none."""
    from judgments.quality import Asked
    from judgments.quality.record import ints

    rows = ProbeAnswer.objects.current().filter(
        probe__round=round_, probe__kind=kind, state=ProbeAnswer.State.GRADED, rater__in=list(code)
    )
    found = list(rows.order_by("pk").values_list("rater_id", "probe__expected", "grade"))
    return Asked(
        ints([code[rater] for rater, _, _ in found]),
        ints([expected for _, expected, _ in found]),
        ints([given for _, _, given in found]),
    )
