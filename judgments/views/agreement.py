"""How far do the raters of a round agree, and is that enough?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from judgments import access, reliability
from judgments.agreement.reading import BANDS, THRESHOLD, Band, Verdict, band, reason_in_words, verdict
from judgments.core.cells import csv_row, escape
from judgments.models import Grade, Role, Round
from judgments.views.downloads import attachment
from judgments.views.rounds import frame

WEIGHTS = ("quadratic", "linear", "unweighted")
# Name on the page, where it stands in the report, and what it asks.
COEFFICIENTS = (
    ("Krippendorff’s alpha, ordinal", ("alpha", "ordinal"), "wide disagreements weigh more; any number of raters"),
    ("Krippendorff’s alpha, nominal", ("alpha", "nominal"), "every disagreement weighs the same"),
    ("Krippendorff’s alpha, interval", ("alpha", "interval"), "takes the steps between grades as equal"),
    ("Gwet’s AC2, quadratic", ("gwet", "ac2"), "stable where nearly all grades are the same"),
    ("Gwet’s AC1", ("gwet", "ac1"), "the same, every disagreement alike"),
    ("Fleiss’ kappa", ("fleiss",), "needs the same number of grades on every pair"),
)
SHAPES: dict[Verdict, str] = {"passed": "done", "undecided": "warn", "failed": "fail", "undefined": "todo"}
WORDS: dict[Verdict, str] = {**{word: word for word in SHAPES}, "undefined": "not defined yet"}
WIDTH = 340.0


@dataclass(frozen=True)
class Row:
    """One coefficient with all that must stand beside it."""

    title: str
    about: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str
    band: Band | None


@dataclass(frozen=True)
class Gate:
    """The headline against its threshold: in words, and as places on a line from ``start`` to 1."""

    verdict: Verdict
    shape: str
    threshold: float
    ticks: list[tuple[str, float]]
    at: float
    rest: float
    value: float | None = None
    low: float | None = None
    high: float | None = None


@login_required
@require_safe
def agreement(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.STAFF)
    report = reliability.agreement(round_)
    if request.GET.get("format") == "json":
        return JsonResponse({"round": round_.name, **report})
    if request.GET.get("format") == "csv":
        return _file(round_, report)
    weights = request.GET.get("weights", "")
    weights = weights if weights in WEIGHTS else WEIGHTS[0]
    rows = coefficients(report)
    names = _names(request, round_)
    decided = gate(rows[0])
    little = any(warning["code"] == "not_enough_overlap" for warning in report["warnings"])
    context = {
        **frame(request, round_, "agreement"),
        "report": report,
        "rows": rows,
        "headline": rows[0],
        "gate": decided,
        "sentence": sentence(decided, little),
        "verdict": WORDS[decided.verdict] + (", on little overlap" if little and decided.value is not None else ""),
        "bands": BANDS,
        "weights": weights,
        "all_weights": WEIGHTS,
        "matrix": [(rater, names.get(rater, ""), cells) for rater, cells in matrix(report, weights)],
        "confusion": confusion(round_, request.user),
        "hidden": access.hidden_pairs(request.user, round_).count(),
    }
    return render(request, "judgments/round_agreement.html", context)


def sentence(decided: Gate, little: bool) -> str:
    """What the gate decided, and what follows for the labels."""
    at = f"the gate of {decided.threshold:.2f}"
    if decided.verdict == "passed":
        follows = (
            "a good sign, on too few pairs or queries to settle it" if little else "the labels can carry decisions"
        )
        return f"All of its interval lies above {at}: {follows}."
    if decided.verdict == "failed":
        return f"All of its interval lies below {at}: these labels should not decide anything yet."
    if decided.verdict == "undecided":
        return f"{at[0].upper()}{at[1:]} lies inside the interval: neither passed nor failed. More overlap narrows it."
    return "There are too few queries for an interval, so the gate decides nothing."


def coefficients(report: dict[str, Any]) -> list[Row]:
    """The coefficients of a report, the headline first."""
    rows = []
    for title, place, about in COEFFICIENTS:
        found: Any = report
        for step in place:
            found = found[step]
        value = found["value"]
        rows.append(
            Row(
                title,
                about,
                value,
                found["low"],
                found["high"],
                found["n"],
                reason_in_words(found["reason"]),
                None if value is None else band(value),
            )
        )
    return rows


def gate(headline: Row, threshold: float = THRESHOLD) -> Gate:
    """The headline's interval against the threshold, as a picture and as a word."""
    lowest = min(value for value in (headline.low, headline.value, 0.0) if value is not None)
    start = next(edge for edge in (0.0, -0.2, -0.4, -1.0) if edge <= lowest or edge == -1.0)

    def place(value: float) -> float:
        return round((value - start) / (1 - start) * WIDTH, 1)

    found = verdict(headline.low, headline.high, threshold)
    step = 0.2 if start > -1 else 0.5
    ticks = [start + step * number for number in range(round((1 - start) / step) + 1)]
    return Gate(
        found,
        SHAPES[found],
        threshold,
        [(f"{tick:.1f}".replace("-", "−"), place(tick)) for tick in ticks],
        place(threshold),
        round(WIDTH - place(threshold), 1),
        *(
            None if value is None else place(max(value, start))
            for value in (headline.value, headline.low, headline.high)
        ),
    )


def matrix(report: dict[str, Any], weights: str) -> list[tuple[str, list[dict[str, Any] | None]]]:
    """Each rater with a cell for each rater: kappa, n and a level 0-4 for the ground; None on the diagonal."""
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row in report["cohen"]:
        value = row[weights]
        cell = {"value": value, "n": row["n"], "level": None if value is None else _level(value)}
        cell["reason"] = reason_in_words(row["reason"])
        cells[row["a"], row["b"]] = cells[row["b"], row["a"]] = cell
    raters = sorted({rater for pair in cells for rater in pair})
    nothing = {"value": None, "n": 0, "level": None, "reason": "no pair was graded by both"}
    return [(a, [None if a == b else cells.get((a, b), nothing) for b in raters]) for a in raters]


def _level(value: float) -> int:
    return BANDS.index(band(value))


def confusion(round_: Round, viewer: Any) -> dict[str, Any]:
    """Grade against grade over all two raters of a pair: rows by the lower grade, each cell with its level 0-4."""
    counted = reliability.grade_pairs(round_, viewer=viewer)
    grades: list[Grade] = list(round_.scale.grades.all())
    most = max(counted.values(), default=0)
    rows = [
        (
            low,
            [
                None if high.value < low.value else _cell(counted.get((low.value, high.value), 0), most)
                for high in grades
            ],
        )
        for low in grades
    ]
    apart = {key: number for key, number in counted.items() if key[0] != key[1]}
    widest = max(apart.items(), key=lambda item: (item[1], item[0]), default=None)
    return {"grades": grades, "rows": rows, "n": sum(counted.values()), "widest": widest, "top": grades[-1].value}


def _cell(number: int, most: int) -> dict[str, int]:
    return {"n": number, "level": -(-4 * number // most) if most else 0}


def _names(request: HttpRequest, round_: Round) -> dict[str, str]:
    """Pseudonym to name, for a lead, who must be able to talk to people."""
    if access.role_in(request.user, round_.collection) != Role.LEAD:
        return {}
    return {row.pseudonym: row.user.username for row in round_.raters.select_related("user")}


def _file(round_: Round, report: dict[str, Any]) -> HttpResponse:
    """Every coefficient and every kappa of two raters, one a line."""
    lines = [csv_row(["coefficient", "a", "b", "value", "low", "high", "n", "reason"])]
    for row in coefficients(report):
        lines.append(_line(row.title.replace("’", "'"), "", "", row.value, row.low, row.high, row.n, row.reason))
    for row in report["cohen"]:
        for weights in WEIGHTS:
            ends = row["intervals"][weights]
            reason = reason_in_words(row["reason"])
            name = f"Cohen's kappa, {weights}"
            lines.append(_line(name, row["a"], row["b"], row[weights], ends["low"], ends["high"], row["n"], reason))
    return attachment(f"{round_.collection.slug}-agreement.csv", "".join(lines))


def _line(*cells: Any) -> str:
    return csv_row(["" if cell is None else escape(cell) if isinstance(cell, str) else str(cell) for cell in cells])
