"""What do the checks of a round's raters say, as far as the reader may know?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Max, Sum
from django.db.models.functions import Length

from judgments import untold
from judgments.computed import once
from judgments.models import Judgment, Pair, Probe, ProbeAnswer, Round, RoundRater, Tally, User

if TYPE_CHECKING:
    from judgments.quality import Asked, Finding, Record, Timed

# So many answers of a rater, the newest, tell their pace; the lengths of more texts would cost too much.
TIMED = 200
KEEP = 24 * 3600


@dataclass(frozen=True)
class RaterReport:
    """One rater of a round and what each check says of them."""

    asked: RoundRater
    graded: int
    findings: dict[str, Finding]

    @property
    def alarms(self) -> list[Finding]:
        """Those that ring, the serious ones first."""
        from judgments.quality import CHECKS

        rung = [one for one in self.findings.values() if one.alarm]
        return sorted(rung, key=lambda one: CHECKS[one.check].severity != "serious")

    @property
    def severity(self) -> str:
        """Of the worst that rings: "serious", "mild" or ""."""
        from judgments.quality import CHECKS

        return CHECKS[self.alarms[0].check].severity if self.alarms else ""


def reports(round_: Round, *, viewer: User) -> list[RaterReport]:
    """What the checks say of each rater, in the order of the pseudonyms.

    Computed once for each state of the round and what the reader may know. A reader who may still have to grade a pair
    gets numbers without it.

    Parameters
    ----------
    round_ : Round
        Whose raters.
    viewer : User
        The lead who reads.
    """
    hidden = untold.untold_pairs(viewer, round_)
    found = once(_state(round_, viewer, hidden.exists()), lambda: _computed(round_, hidden), keep=KEEP)
    counted = dict(Tally.objects.filter(round=round_).values_list("rater", "graded"))
    rows = round_.raters.select_related("user").order_by("pseudonym")
    return [RaterReport(row, counted.get(row.user_id, 0), _read(found.get(row.pseudonym, []))) for row in rows]


def told(round_: Round, found: Sequence[RaterReport]) -> dict[str, Any]:
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
                "checks": [_finding(one) for one in report.findings.values()],
            }
            for report in found
        ],
    }


def _finding(one: Finding) -> dict[str, Any]:
    from judgments.quality import CHECKS

    row = asdict(one)
    del row["rater"]
    check = CHECKS[one.check]
    return {**row, "others": list(one.others), "severity": check.severity, "advice": check.advice if one.alarm else ""}


def _state(round_: Round, viewer: User, hides: bool) -> str:
    """Names everything that the answer depends on."""
    events = Tally.objects.filter(round=round_).aggregate(all=Sum("events"))["all"]
    newest = ProbeAnswer.objects.filter(probe__round=round_).aggregate(newest=Max("pk"))["newest"]
    raters = round_.raters.count()
    reader = "all"
    if hides:
        # What they answer anywhere changes what they may still have to grade.
        own = Tally.objects.filter(rater=viewer).aggregate(events=Sum("events"))["events"]
        reader = f"{viewer.pk}-{own}-{sum(Round.objects.open_to(viewer).values_list('pairs_made', flat=True))}"
    return f"quality:{round_.uuid}:{events}:{newest}:{raters}:{round_.pass_within}:{reader}"


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
    """What the checks look at, from the rows; ``hidden`` are pairs that are left out."""
    import numpy as np

    from judgments.quality import Record
    from judgments.quality.record import floats, ints

    names = list(round_.raters.order_by("pseudonym").values_list("user_id", "pseudonym"))
    code = {user: place for place, (user, _) in enumerate(names)}
    rows = Judgment.objects.counted().of_round(round_).order_by("pk")
    if hidden is not None and hidden.exists():
        rows = rows.exclude(pair__in=hidden.values("pk"))
    columns = list(
        zip(*rows.values_list("rater_id", "pair_id", "pair__query_id", "grade", "seconds_active"), strict=True)
    )
    rater, pair, query, grade, seconds = columns or [()] * 5
    pairs = ints(pair)
    raters = ints([code[one] for one in rater])
    times = floats([float("nan") if one is None else one for one in seconds])
    return Record(
        raters=tuple(name for _, name in names),
        scale=tuple(round_.scale.values()),
        rater=raters,
        unit=np.unique(pairs, return_inverse=True)[1].reshape(-1).astype(np.int64),
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
