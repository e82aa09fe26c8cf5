"""Rater quality pages: the findings and alerts of a round's raters, and what a lead can do about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from judgments import access, gold, quality_checks, readiness, untold
from judgments.alarms import LookedAt
from judgments.core.errors import NotFound
from judgments.models import Probe, ProbeAnswer, Round, RoundRater, User
from judgments.quality import CHECKS, Check, Finding
from judgments.quality_checks import RaterReport
from judgments.templatetags.figures import percent, state
from judgments.views.lists import Choice, Column, Listing, answer
from judgments.views.quality_pictures import Picture, picture
from judgments.views.rounds import frame

SHAPES = {"serious": "fail", "mild": "warn", "": "done"}
MOST_WRONG = 50


def rater_state(report: RaterReport) -> SafeString:
    """Whether the rater is at work."""
    asked = report.asked
    if asked.left_at is not None:
        return state("done", "has left")
    if asked.paused_at is not None:
        return state("warn", "paused")
    if readiness.comes_first(asked.round, asked):
        return state("todo", "calibrates first")
    return state("doing", "rates")


def _alarms(report: RaterReport) -> SafeString:
    """What rings, in words; else that nothing does, or that there is too little to tell."""
    rung = [(state(SHAPES[CHECKS[one.check].severity], CHECKS[one.check].title),) for one in report.alarms]
    rung += [(state("done", f"{CHECKS[one.check].title}, looked at"),) for one in report.quieted]
    if rung:
        return format_html_join(SafeString("<br>"), "{}", rung)
    if all(one.state == "too little" for one in report.findings.values()):
        return state("todo", "too little to tell")
    return state("done", "nothing rings")


def _share(name: str) -> Any:
    """A column's cell: the share with its n, or how much is there of what it takes."""

    def shown(report: RaterReport) -> str | SafeString:
        one = report.findings[name]
        if one.value is None:
            return format_html('<span class="muted">{} of {}</span>', f"{one.n:,}", f"{one.needed:,}")
        value = percent(one.value) if name == "gold" else f"{one.value:.2f}".replace("-", "−")
        return format_html('{} <span class="muted">{}</span>', value, f"({one.n:,})")

    return shown


def _value(name: str) -> Any:
    return lambda report: report.findings[name].value


def _seconds(report: RaterReport) -> float | None:
    found: float | None = report.findings["too-fast"].numbers.get("median_seconds")
    return found


def _pace(report: RaterReport) -> str | SafeString:
    seconds = _seconds(report)
    return SafeString('<span class="muted">–</span>') if seconds is None else f"{seconds:.1f} s"


RATERS = Listing(
    name="raters",
    noun=("rater", "raters"),
    columns=(
        Column(
            "rater",
            "Rater",
            order="rater",
            value=lambda row: f"{row.asked.user.username} {row.asked.pseudonym}",
            show=lambda row: format_html(
                '{} <span class="muted mono">{}</span>', row.asked.user.username, row.asked.pseudonym
            ),
            url=lambda row: reverse("round_rater", args=[row.asked.round.uuid, row.asked.pseudonym]),
            head=True,
            style="nowrap",
        ),
        Column("alarms", "Alarms", order="alarms", value=lambda row: len(row.alarms), show=_alarms, style="nowrap"),
        Column("graded", "Graded", order="graded", numeric=True),
        *(
            Column(key, title, order=key, numeric=True, value=_value(check), show=_share(check))
            for key, title, check in (
                ("gold", "Known grades", "gold"),
                ("again", "Own again", "consistency"),
                ("bias", "Higher or lower", "leniency"),
                ("drift", "Drift", "drift"),
            )
        ),
        Column("pace", "Median time", order="pace", numeric=True, value=_seconds, show=_pace),
        Column("state", "Now", value=lambda row: "paused" if row.asked.paused_at else "", show=rater_state),
    ),
    search=("asked.user.username", "asked.pseudonym"),
    choices=(
        Choice(
            "only",
            "Show",
            lambda rows, value: [row for row in rows if bool(row.alarms) == (value == "alarms")],
            [("alarms", "with an alarm"), ("quiet", "without one")],
        ),
    ),
    order="-alarms",
    mark=lambda row: {"serious": "error", "mild": "warning"}.get(row.severity, ""),
)


@login_required
@require_safe
def quality(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    found = quality_checks.look(round_, viewer=request.user)
    reports = _known(round_, found.reports)
    if request.GET.get("format") == "json":
        return JsonResponse(quality_checks.told(round_, found))
    context = {
        **frame(request, round_),
        "job": found.job,
        "alarms": sum(bool(report.alarms) for report in reports),
        "serious": sum(report.severity == "serious" for report in reports),
        "checks": [CHECKS[name] for name in CHECKS],
        "hidden": untold.untold_pairs(request.user, round_).count(),
        "hidden_gold": round_.gold.filter(use="hidden").count(),
        "overlapping": round_.ratings_per_pair > 1 and round_.overlap > 0,
    }
    return answer(request, RATERS, reports, "judgments/round_quality.html", context)


def _known(round_: Round, found: list[RaterReport]) -> list[RaterReport]:
    """The reports, each one's rater knowing this round."""
    for report in found:
        report.asked.round = round_
    return found


def asked_for(round_: Round, pseudonym: str) -> RoundRater:
    """The rater of the round by this pseudonym."""
    found = round_.raters.select_related("user").filter(pseudonym=pseudonym.replace("\0", "")).first()
    if found is None:
        raise NotFound("This round has no such rater.")
    found.round = round_
    return found


@dataclass(frozen=True)
class Line:
    """One check on a rater's page."""

    check: Check
    finding: Finding
    shape: str
    words: str
    rings: bool
    looked: LookedAt | None
    picture: Picture | None


def _lines(report: RaterReport) -> list[Line]:
    """Every check, those that ring first."""
    lines = []
    for name in CHECKS:
        check, one = CHECKS[name], report.findings[name]
        looked = report.looked.get(name) if one.alarm else None
        rings = one.alarm and not report.quiet(one)
        words = {"alarm": "rings" if rings else "looked at", "fine": "quiet"}.get(one.state, one.state)
        shape = SHAPES[check.severity] if rings else "todo" if one.state == "too little" else "done"
        lines.append(Line(check, one, shape, words, rings, looked, picture(one)))
    return sorted(lines, key=lambda line: ("fail", "warn", "done", "todo").index(line.shape))


@login_required
@require_safe
def rater(request: HttpRequest, uuid: str, rater: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.LEADS)
    asked = asked_for(round_, rater)
    found = quality_checks.look(round_, viewer=request.user)
    report = next((one for one in _known(round_, found.reports) if one.asked.pk == asked.pk), None)
    if report is None:
        messages.info(request, "The checks are being computed: come back in a moment.")
        return redirect("round_quality", round_.uuid)
    context = {
        **frame(request, round_),
        "asked": asked,
        "report": report,
        "now": rater_state(report),
        "lines": _lines(report),
        "grades": _grades(round_, report),
        "top": max(round_.scale.values()),
        "wrong": _wrong(request.user, round_, asked),
        "calibrates": readiness.comes_first(round_, asked),
    }
    return render(request, "judgments/round_rater.html", context)


def _grades(round_: Round, report: RaterReport) -> list[tuple[Any, float, float | None]]:
    """Each grade of the scale with its share among the rater's, and among the others'."""
    numbers = report.findings["same-grade"].numbers
    own, others = numbers.get("shares"), numbers.get("others_shares")
    if not own:
        return []
    return [
        (grade, own[place], others[place] if others else None) for place, grade in enumerate(round_.scale.grades.all())
    ]


def _wrong(viewer: User, round_: Round, asked: RoundRater) -> list[ProbeAnswer]:
    """The answers to hidden known pairs that were off, the newest first; none that the reader may have to grade."""
    rows = ProbeAnswer.objects.current().filter(
        probe__round=round_, rater=asked.user_id, probe__kind=Probe.Kind.GOLD, state=ProbeAnswer.State.GRADED
    )
    rows = rows.select_related("probe__gold__query", "probe__gold__document").order_by("-pk")
    away = gold.hidden_from(viewer, round_.collection)
    off = [row for row in rows if abs(row.grade - row.probe.expected) > round_.pass_within]
    shown = [row for row in off if (row.probe.query.query_id, row.probe.document.doc_id) not in away]
    return shown[:MOST_WRONG]
