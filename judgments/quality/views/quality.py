"""Rater quality pages: the findings and alerts of a round's raters, and what a lead can do about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from assay.quality import CHECKS, Check, Finding
from judgments.labels import grade_visibility
from judgments.models import Probe, ProbeAnswer, Round, RoundRater, User
from judgments.quality import checks
from judgments.quality.checks import Acknowledgment, RaterReport
from judgments.quality.rater_judgments import round_rater_of
from judgments.rating import start_requirements
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import percent, state
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import errors_as_messages, get_page, post_action

WIDTH, MARGIN = 200.0, 6.0
# From where to where each check's axis runs; None grows with the value.
AXES: dict[str, tuple[float, float | None]] = {
    **dict.fromkeys(("gold", "same-grade", "too-fast", "copied"), (0.0, 1.0)),
    **dict.fromkeys(("leniency", "drift"), (-1.5, 1.5)),
    "consistency": (-0.2, 1.0),
    "apart": (0.0, None),
}


@dataclass(frozen=True)
class Picture:
    """Places on a line of 200: the value, the ends of its interval, where it rings, and zero where it lies inside."""

    value: float
    low: float | None
    high: float | None
    cuts: tuple[float, ...]
    zero: float | None
    label: str


def picture(one: Finding) -> Picture | None:
    """The picture of a finding, or None where it has no value or no line."""
    if one.value is None or one.threshold is None or one.check not in AXES:
        return None
    start, end = AXES[one.check]
    end = max(one.value, one.threshold) * 1.25 or 1.0 if end is None else end

    def place(value: float) -> float:
        inside = min(max(value, start), end)
        return round(MARGIN + (inside - start) / (end - start) * (WIDTH - 2 * MARGIN), 1)

    cuts = (-one.threshold, one.threshold) if CHECKS[one.check].rings == "either" else (one.threshold,)
    words = f"{one.value:.2f}"
    if one.low is not None and one.high is not None:
        words += f", interval {one.low:.2f} to {one.high:.2f}"
    return Picture(
        place(one.value),
        None if one.low is None else place(one.low),
        None if one.high is None else place(one.high),
        tuple(place(cut) for cut in cuts),
        place(0.0) if start < 0 else None,
        f"{words}; alert at {' and '.join(f'{cut:.2f}' for cut in cuts)}".replace("-", "−"),
    )


@post_action
def alarm(request: HttpRequest, uuid: str, rater: str, check: str) -> HttpResponse:
    round_rater = round_rater_of(access.round_for(request.user, uuid, access.LEADS), rater)
    with errors_as_messages(request):
        if "again" in request.POST:
            checks.undo_acknowledgment(round_rater, check, actor=request.user)
            messages.success(request, "Alert turned on.")
        else:
            report, finding = checks.finding_of(round_rater, check, viewer=request.user)
            note = request.POST.get("note", "").replace("\0", "")
            checks.acknowledge(round_rater, finding, graded=report.graded, note=note, actor=request.user)
            messages.success(request, "Alert turned off. It turns on again if the numbers become clearly worse.")
    return redirect("round_rater", round_rater.round.uuid, round_rater.pseudonym)


SHAPES = {"serious": "fail", "mild": "warn", "": "done"}
MOST_WRONG = 50


def rater_state(report: RaterReport) -> SafeString:
    round_rater = report.round_rater
    if round_rater.left_at is not None:
        return state("done", "left")
    if round_rater.paused_at is not None:
        return state("warn", "paused")
    if start_requirements.must_qualify(round_rater.round, round_rater):
        return state("todo", "not qualified")
    return state("doing", "active")


def _alarms(report: RaterReport) -> SafeString:
    """Return the rater's alerts, or that there are none or not enough data."""
    rung = [(state(SHAPES[CHECKS[one.check].severity], CHECKS[one.check].title),) for one in report.alarms]
    rung += [(state("done", f"{CHECKS[one.check].title}, reviewed"),) for one in report.quieted]
    if rung:
        return format_html_join(SafeString("<br>"), "{}", rung)
    if all(one.state == "too little" for one in report.findings.values()):
        return state("todo", "not enough data")
    return state("done", "no alerts")


def _share(name: str) -> Any:
    """Return the function for a column's cell: the share with its n, or the number of pairs so far and required."""

    def shown(report: RaterReport) -> str | SafeString:
        one = report.findings[name]
        if one.value is None:
            return format_html('<span class="muted">{} of {} needed</span>', f"{one.n:,}", f"{one.needed:,}")
        value = percent(one.value) if name == "gold" else f"{one.value:.2f}".replace("-", "−")
        return format_html('{} <span class="muted">{}</span>', value, f"({one.n:,})")

    return shown


def _seconds(report: RaterReport) -> float | None:
    seconds: float | None = report.findings["too-fast"].numbers.get("median_seconds")
    return seconds


def _pace(report: RaterReport) -> str | SafeString:
    return SafeString('<span class="muted">–</span>') if (seconds := _seconds(report)) is None else f"{seconds:.1f} s"


RATERS = Listing(
    name="raters",
    noun=("rater", "raters"),
    columns=(
        Column(
            "rater",
            "Rater",
            order="rater",
            value=lambda row: f"{row.round_rater.user.username} {row.round_rater.pseudonym}",
            show=lambda row: format_html(
                '{} <span class="muted mono">{}</span>', row.round_rater.user.username, row.round_rater.pseudonym
            ),
            url=("round_rater", "round_rater.round.uuid", "round_rater.pseudonym"),
            head=True,
            style="nowrap",
        ),
        Column("alarms", "Alerts", order="alarms", value=lambda row: len(row.alarms), show=_alarms, style="nowrap"),
        Column("graded", "Graded", order="graded", numeric=True),
        *(
            Column(
                key,
                title,
                order=key,
                numeric=True,
                value=lambda row, check=check: row.findings[check].value,
                show=_share(check),
            )
            for key, title, check in (
                ("gold", "Gold pairs", "gold"),
                ("again", "Self-consistency", "consistency"),
                ("bias", "Bias", "leniency"),
                ("drift", "Drift", "drift"),
            )
        ),
        Column("pace", "Median time", order="pace", numeric=True, value=_seconds, show=_pace),
        Column("state", "State", value=lambda row: "paused" if row.round_rater.paused_at else "", show=rater_state),
    ),
    search=("round_rater.user.username", "round_rater.pseudonym"),
    choices=(
        ChoiceFilter(
            "only",
            "Show",
            lambda rows, value: [row for row in rows if bool(row.alarms) == (value == "alarms")],
            [("alarms", "with an alert"), ("quiet", "without alerts")],
        ),
    ),
    order="-alarms",
    mark=lambda row: {"serious": "error", "mild": "warning"}.get(row.severity, ""),
)


@get_page.of_round(access.LEADS)
def quality(request: HttpRequest, round_: Round) -> HttpResponse:
    look = checks.look(round_, viewer=request.user)
    reports = _known(round_, look.reports)
    if request.GET.get("format") == "json":
        return JsonResponse(checks.as_json(round_, look))
    context = {
        **frame(request, round_),
        "job": look.job,
        "alarms": sum(bool(report.alarms) for report in reports),
        "serious": sum(report.severity == "serious" for report in reports),
        "checks": [CHECKS[name] for name in CHECKS],
        "hidden": grade_visibility.pairs_with_hidden_grades(request.user, round_).count(),
        "hidden_gold": round_.gold.filter(use="hidden").count(),
        "overlapping": round_.ratings_per_pair > 1 and round_.overlap > 0,
    }
    return answer(request, RATERS, reports, "judgments/quality/round_quality.html", context)


def _known(round_: Round, reports: list[RaterReport]) -> list[RaterReport]:
    """Set the round of each report's rater, to avoid further queries."""
    for report in reports:
        report.round_rater.round = round_
    return reports


@dataclass(frozen=True)
class Line:
    """One check on a rater's page."""

    check: Check
    finding: Finding
    shape: str
    words: str
    rings: bool
    looked: Acknowledgment | None
    picture: Picture | None


def _lines(report: RaterReport) -> list[Line]:
    """Return every check, those with an alert first."""
    lines = []
    for name in CHECKS:
        check, one = CHECKS[name], report.findings[name]
        looked = report.looked.get(name) if one.alarm else None
        rings = one.alarm and not report.quiet(one)
        words = {"alarm": "alert" if rings else "reviewed", "fine": "no alert"}.get(one.state, "not enough data")
        shape = SHAPES[check.severity] if rings else "todo" if one.state == "too little" else "done"
        lines.append(Line(check, one, shape, words, rings, looked, picture(one)))
    return sorted(lines, key=lambda line: ("fail", "warn", "done", "todo").index(line.shape))


@get_page.of_round(access.LEADS)
def rater(request: HttpRequest, round_: Round, rater: str) -> HttpResponse:
    round_rater = round_rater_of(round_, rater)
    look = checks.look(round_, viewer=request.user)
    report = next((one for one in _known(round_, look.reports) if one.round_rater.pk == round_rater.pk), None)
    if report is None:
        messages.info(request, "The checks are being computed. Reload the page in a moment.")
        return redirect("round_quality", round_.uuid)
    context = {
        **frame(request, round_),
        "round_rater": round_rater,
        "report": report,
        "now": rater_state(report),
        "lines": _lines(report),
        "grades": _grades(round_, report),
        "top": max(round_.scale.values()),
        "wrong": _wrong(request.user, round_, round_rater),
        "calibrates": start_requirements.must_qualify(round_, round_rater),
    }
    return render(request, "judgments/quality/round_rater.html", context)


def _grades(round_: Round, report: RaterReport) -> list[tuple[Any, float, float | None]]:
    """Return each grade of the scale with its share among the rater's grades and among the others'."""
    numbers = report.findings["same-grade"].numbers
    own, others = numbers.get("shares"), numbers.get("others_shares")
    if not own:
        return []
    return [
        (grade, own[place], others[place] if others else None) for place, grade in enumerate(round_.scale.grades.all())
    ]


def _wrong(viewer: User, round_: Round, round_rater: RoundRater) -> list[ProbeAnswer]:
    """Return wrong answers to hidden gold pairs, newest first, without pairs that the reader may still grade."""
    rows = ProbeAnswer.objects.current().filter(
        probe__round=round_, rater=round_rater.user_id, probe__kind=Probe.Kind.GOLD, state=ProbeAnswer.State.GRADED
    )
    rows = rows.select_related("probe__gold__query", "probe__gold__document").order_by("-pk")
    away = grade_visibility.hidden_keys(viewer, round_.collection)
    off = [row for row in rows if abs(row.grade - row.probe.expected) > round_.pass_within]
    shown = [row for row in off if (row.probe.query.query_id, row.probe.document.doc_id) not in away]
    return shown[:MOST_WRONG]
