"""Downloads of the agreement page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from assay.coefficients.gate import reason_in_words
from assay.core.csv_cells import csv_row, escape
from judgments.agreement.agreement_summary import AgreementSummary
from judgments.agreement.views.agreement_tables import WEIGHTS, coefficients
from judgments.models import Round
from judgments.web.downloads import attachment


def requested_file(request: HttpRequest, round_: Round, summary: AgreementSummary) -> HttpResponse | None:
    """Return the file requested by ``?format=``, or None."""
    slug, wanted = round_.collection.slug, request.GET.get("format")
    if wanted == "csv":
        return attachment(f"{slug}-agreement.csv", _coefficients(round_, summary))
    if wanted == "grades":
        return attachment(f"{slug}-grade-against-grade.csv", _confusion(summary))
    if wanted == "queries":
        return attachment(f"{slug}-agreement-by-query.csv", _by_query(summary))
    return None


def _coefficients(round_: Round, summary: AgreementSummary) -> str:
    """Yield every coefficient, the same without each rater, and every kappa of two raters, one per line."""
    report = summary.agreement
    lines = [csv_row(["coefficient", "a", "b", "value", "low", "high", "n", "reason"])]
    for row in coefficients(report, round_.gate_coefficient):
        named = row.title.replace("’", "'")
        lines.append(_line(named, "", "", row.value, row.low, row.high, row.n, row.reason))
    for left in summary.without:
        for one in coefficients(left, round_.gate_coefficient):
            named = one.title.replace("’", "'")
            lines.append(_line(f"{named}, without", left["rater"], "", one.value, None, None, one.n, one.reason))
    for row in report["cohen"]:
        for weights in WEIGHTS:
            ends, reason = row["intervals"][weights], reason_in_words(row["reason"])
            name = f"Cohen's kappa, {weights}"
            lines.append(_line(name, row["a"], row["b"], row[weights], ends["low"], ends["high"], row["n"], reason))
    return "".join(lines)


def _confusion(summary: AgreementSummary) -> str:
    lines = [csv_row(["lower_grade", "higher_grade", "times"])]
    lines += [_line(low, high, number) for (low, high), number in sorted(summary.confusion.items())]
    return "".join(lines)


def _by_query(summary: AgreementSummary) -> str:
    lines = [csv_row(["query_id", "pairs", "percent_agreement", "steps_apart", "alpha_ordinal", "reason"])]
    for row in summary.by_query:
        alpha = row["alpha_ordinal"]
        reason = reason_in_words(alpha["reason"])
        lines.append(_line(row["name"], row["n"], row["percent_agreement"], row["steps_apart"], alpha["value"], reason))
    return "".join(lines)


def _line(*cells: Any) -> str:
    return csv_row(["" if cell is None else escape(cell) if isinstance(cell, str) else str(cell) for cell in cells])
