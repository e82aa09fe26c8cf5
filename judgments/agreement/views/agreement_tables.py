"""Rows of the agreement page's tables, and its interval chart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html

from assay.coefficients import COEFFICIENTS
from assay.coefficients.gate import BANDS, Band, GateAnswer, State, band, reading, reason_in_words
from assay.coefficients.rater_pairs import LEAST_SHARED
from judgments.models import Grade, Query, Round
from judgments.web import figures

WEIGHTS = ("quadratic", "linear", "unweighted")
# Short descriptions of coefficients whose own description is too long for a table.
ABOUT = {
    "alpha-ordinal": "large disagreements count more; any number of raters",
    "alpha-nominal": "all disagreements count equally",
    "alpha-interval": "treats the steps between grades as equal",
    "alpha-ratio": "treats grades as amounts with a true zero",
    "cohen-quadratic": "mean over all pairs of raters; large disagreements count more",
    "cohen-linear": "mean over all pairs of raters; disagreements count by distance",
    "cohen-unweighted": "mean over all pairs of raters; all disagreements count equally",
    "ac2": "stable when nearly all grades are the same",
    "ac1": "like AC2, but all disagreements count equally",
    "fleiss": "needs the same number of grades on every pair",
}
SHAPES: dict[State, str] = {"passed": "done", "undecided": "warn", "failed": "fail", "undefined": "todo"}
WORDS: dict[State, str] = {
    "passed": "passed",
    "undecided": "undecided",
    "failed": "failed",
    "undefined": "not defined yet",
}
WIDTH = 340.0
# A smaller increase is normal when any rater is left out.
WORTH_A_LOOK = 0.01
# Beyond this share of one grade, kappa and alpha are low although raters rarely differ.
PREVALENT = 0.9


@dataclass(frozen=True)
class Row:
    """One coefficient with its interval, n and readings."""

    name: str
    title: str
    about: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str
    band: Band | None

    @property
    def named(self) -> str:
        """The name of the coefficient in a sentence."""
        family, _, kind = self.name.partition("-")
        return f"Krippendorff’s {kind} alpha" if family == "alpha" else self.title

    @property
    def reading(self) -> Band | None:
        """Krippendorff's reading of the value; None for other coefficients."""
        return reading(self.value) if self.value is not None and self.name.startswith("alpha") else None


@dataclass(frozen=True)
class Picture:
    """A gate as positions on a line from ``start`` to 1."""

    ticks: list[tuple[str, float]]
    at: float
    rest: float
    value: float | None
    low: float | None
    high: float | None


def title(name: str) -> str:
    """Return the title of the coefficient, which says if it is a mean over pairs of raters."""
    member = COEFFICIENTS[name]
    text = member.title.replace("'", "’")
    return f"{text}, mean" if member.raters == "two" else text


def coefficients(report: dict[str, Any], first: str) -> list[Row]:
    """Return the coefficients of a report, the gate's coefficient first."""
    names = sorted(
        report["coefficients"], key=lambda name: (name != first, list(ABOUT).index(name) if name in ABOUT else 99)
    )
    return [_row(name, report["coefficients"][name]) for name in names]


def _row(name: str, estimate: dict[str, Any]) -> Row:
    value = estimate["value"]
    return Row(
        name,
        title(name),
        ABOUT.get(name, COEFFICIENTS[name].description),
        value,
        estimate["low"],
        estimate["high"],
        estimate["n"],
        reason_in_words(estimate["reason"]),
        None if value is None else band(value),
    )


def picture(answer: GateAnswer) -> Picture:
    """Return the interval and the threshold as positions."""
    lowest = min(value for value in (answer.low, answer.value, answer.threshold, 0.0) if value is not None)
    start = next(edge for edge in (0.0, -0.2, -0.4, -1.0) if edge <= lowest or edge == -1.0)

    def place(value: float | None) -> float | None:
        return None if value is None else round((max(value, start) - start) / (1 - start) * WIDTH, 1)

    step = 0.2 if start > -1 else 0.5
    ticks = [start + step * number for number in range(round((1 - start) / step) + 1)]
    named = [(f"{tick:.1f}".replace("-", "−"), place(tick) or 0.0) for tick in ticks]
    at = place(answer.threshold) or 0.0
    return Picture(named, at, round(WIDTH - at, 1), place(answer.value), place(answer.low), place(answer.high))


@dataclass(frozen=True)
class LeftOut:
    """A coefficient without one rater, and its difference from the value with all raters."""

    rater: str
    value: float | None
    n: int
    reason: str
    rise: float | None


def left_out(without: list[dict[str, Any]], report: dict[str, Any], name: str) -> list[LeftOut]:
    """Return the coefficient without each rater, by rater."""
    coefficient = coefficient_without(name)
    whole = report["coefficients"][coefficient]["value"]
    rows = []
    for row in without:
        one = row["coefficients"][coefficient]
        value = one["value"]
        rise = None if value is None or whole is None else value - whole
        rows.append(LeftOut(row["rater"], value, one["n"], reason_in_words(one["reason"]), rise))
    return rows


def coefficient_without(name: str) -> str:
    """Return the coefficient shown without each rater if the gate uses this one."""
    return name if COEFFICIENTS[name].raters == "all" else "alpha-ordinal"


def differs_most(rows: list[LeftOut]) -> LeftOut | None:
    """Return the rater whose absence raises the agreement most, if the increase is large enough to matter."""
    highest = max((row for row in rows if row.rise is not None), key=lambda row: row.rise or 0.0, default=None)
    return highest if highest is not None and highest.rise is not None and highest.rise >= WORTH_A_LOOK else None


def matrix(report: dict[str, Any], weights: str) -> list[tuple[str, list[dict[str, Any] | None]]]:
    """Return a row per rater with a cell for each rater: kappa, n and a color level 0-4; None on the diagonal."""
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row in report["cohen"]:
        value = row[weights]
        enough = value is not None and row["n"] >= LEAST_SHARED
        cell = {"value": value, "n": row["n"], "level": BANDS.index(band(value)) if enough else None}
        cell["reason"] = reason_in_words(row["reason"])
        cells[row["a"], row["b"]] = cells[row["b"], row["a"]] = cell
    raters = sorted({rater for pair in cells for rater in pair})
    nothing = {"value": None, "n": 0, "level": None, "reason": "the two raters have no pair in common"}
    return [(a, [None if a == b else cells.get((a, b), nothing) for b in raters]) for a in raters]


def confusion(round_: Round, counted: dict[tuple[int, int], int]) -> dict[str, Any]:
    """Return grade against grade over all two raters of a pair: rows by the lower grade, each cell with a level 0-4."""
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
    top = grades[-1].value
    heads = [format_html('{}<span class="sr">{}</span>', figures.grade(one.value, top), one.label) for one in grades]
    return {"heads": heads, "rows": rows, "n": sum(counted.values()), "widest": widest, "top": top}


def _cell(number: int, most: int) -> dict[str, int]:
    return {"n": number, "level": -(-4 * number // most) if most else 0}


def by_grade(round_: Round, report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return each grade with its label, its share, and the raters' agreement on it."""
    labels = {grade.value: grade.label for grade in round_.scale.grades.all()}
    shares = report["shares"] or [None] * len(report["grades"])
    return [
        {
            **row,
            "label": labels.get(row["grade"], ""),
            "share": share,
            "reason": reason_in_words(row["alpha"]["reason"]),
        }
        for row, share in zip(report["grades"], shares, strict=False)
    ]


def prevalent(report: dict[str, Any]) -> dict[str, Any] | None:
    """Return the grade that nearly all grades have, if any: alpha and kappa then mislead, but AC1 does not."""
    for share, row in zip(report["shares"], report["grades"], strict=False):
        if share > PREVALENT and report["coefficients"]["ac1"]["value"] is not None:
            return {"grade": row["grade"], "share": share, "ac1": report["coefficients"]["ac1"]}
    return None


def with_reasons(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the reason for an undefined alpha to each row by tier or query."""
    return [{**row, "reason": reason_in_words(row["alpha_ordinal"]["reason"])} for row in rows]


def with_queries(round_: Round, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the query to each row."""
    named = {row["name"] for row in rows}
    known = Query.of_any_kind.filter(collection=round_.collection_id, query_id__in=named)
    # A question and a query may have the same id; the round determines which one is meant.
    ordered = known.order_by("kind" if round_.of_answers else "-kind")
    queries = {query.query_id: query for query in ordered}
    return [{**row, "query": queries.get(row["name"])} for row in with_reasons(rows)]
