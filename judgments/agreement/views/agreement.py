"""Agreement page of a round: the coefficients, the gate's verdict and its threshold."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from assay.coefficients import COEFFICIENTS
from assay.coefficients.gate import BANDS, READINGS, GateAnswer, reason_in_words
from assay.coefficients.rater_pairs import LEAST_SHARED
from assay.core.csv_cells import csv_row, escape
from assay.core.errors import AssayError, NotValid
from assay.core.text_rules import amount
from judgments.agreement import agreement_summary, round_report
from judgments.agreement.agreement_summary import AgreementSummary
from judgments.agreement.views.agreement_tables import (
    SHAPES,
    WEIGHTS,
    WORDS,
    by_grade,
    coefficient_without,
    coefficients,
    confusion,
    differs_most,
    left_out,
    matrix,
    picture,
    prevalent,
    title,
    with_queries,
    with_reasons,
)
from judgments.models import Role, Round
from judgments.rounds import rounds
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.downloads import attachment
from judgments.web.pages import errors_as_messages, finish, get_page, post_action


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


# Number of queries on the page, largest grade differences first; the file has all.
SHOWN = 10


@get_page.of_round(access.STAFF)
def agreement(request: HttpRequest, round_: Round) -> HttpResponse:
    look = round_report.look(round_)
    summary = AgreementSummary(round_, look, request.user)
    answer = summary.gate
    if request.GET.get("format") == "json":
        beside = {"called_in": summary.called_in, "gate": answer.as_json(), "newer": look.newer}
        return JsonResponse({"round": round_.name, **summary.agreement, **beside})
    if (file := requested_file(request, round_, summary)) is not None:
        return file
    context = {
        **frame(request, round_, "agreement"),
        **_headline(round_, summary, answer),
        **_tables(request, round_, summary),
        "look": look,
    }
    return render(request, "judgments/agreement/round_agreement.html", context)


def _headline(round_: Round, summary: AgreementSummary, answer: GateAnswer) -> dict[str, Any]:
    """Return the gate's answer, its meaning and the recommended action."""
    report = summary.agreement
    rows = coefficients(report, round_.gate_coefficient)
    waits = report["coefficients"][round_.gate_coefficient]["reason"] == "being_computed"
    return {
        "report": report,
        "rows": rows,
        "headline": rows[0],
        "gate": answer,
        "shape": SHAPES[answer.state],
        "verdict": "being computed" if waits else _verdict(answer),
        "waits": waits,
        "picture": picture(answer),
        "prevalent": prevalent(report),
        "warnings": _warnings(report, answer),
        "overlap_to_come": summary.overlap_to_come,
        "called_in": summary.called_in,
        "newer_guidelines": rounds.newer_guidelines(round_),
        "again": rounds.judged_again(round_),
        "choices": [(name, title(name)) for name in COEFFICIENTS],
        "bands": BANDS,
        "readings": READINGS,
    }


def _verdict(answer: GateAnswer) -> str:
    little = answer.little and answer.state == "undecided"
    return WORDS[answer.state] + (", too little overlap" if little else "")


def _warnings(report: dict[str, Any], answer: GateAnswer) -> list[dict[str, Any]]:
    """Return the warnings about the numbers, without those that the gate's answer already gives."""
    gate_explains = answer.little and answer.state in ("undecided", "undefined")
    return [one for one in report["warnings"] if not (gate_explains and one["code"] == "not_enough_overlap")]


def _tables(request: HttpRequest, round_: Round, summary: AgreementSummary) -> dict[str, Any]:
    """Return raters, grades, tiers and queries, limited to what this reader may see."""
    weights = request.GET.get("weights", "")
    weights = weights if weights in WEIGHTS else WEIGHTS[0]
    names = _names(request, round_)
    report, by_query = summary.agreement, summary.by_query
    without = left_out(summary.without, report, round_.gate_coefficient)
    others = {row.rater: row for row in without}
    lines = list(matrix(report, weights))
    return {
        "coefficient_without": title(coefficient_without(round_.gate_coefficient)),
        "differs_most": differs_most(without),
        "some_without": bool(without),
        "weights": weights,
        "all_weights": WEIGHTS,
        "least": LEAST_SHARED,
        "matrix": [(rater, names.get(rater, ""), cells, others.get(rater)) for rater, cells in lines],
        "pseudonyms": [rater for rater, _ in lines],
        "confusion": confusion(round_, summary.confusion),
        "hidden": summary.hidden,
        "by_grade": by_grade(round_, report),
        "by_tier": with_reasons(summary.by_tier),
        "by_query": with_queries(round_, by_query[:SHOWN]),
        "queries": len(by_query),
    }


def _names(request: HttpRequest, round_: Round) -> dict[str, str]:
    """Map pseudonyms to names, for a lead, who must be able to contact raters."""
    if access.role_in(request.user, round_.collection) != Role.LEAD:
        return {}
    return {row.pseudonym: row.user.username for row in round_.raters.select_related("user")}


@post_action.of_round(access.LEADS)
def set_gate(request: HttpRequest, round_: Round) -> HttpResponse:
    try:
        threshold = _number(request.POST.get("threshold", ""))
        named = request.POST.get("coefficient", "")
        agreement_summary.set_gate(round_, coefficient=named, threshold=threshold, actor=request.user)
        messages.success(request, f"The gate now has the threshold {threshold:g} for {title(named)}.")
    except AssayError as error:
        messages.error(request, " ".join([*getattr(error, "fields", {}).values()]) or str(error))
    return redirect("round_agreement", round_.uuid)


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        message = f"{text!r} is not a threshold. Enter a number from -1 to 1, for example 0.6."
        raise NotValid(message) from None


@post_action.of_round(access.LEADS)
def rejudge(request: HttpRequest, round_: Round) -> HttpResponse:
    with errors_as_messages(request):
        made = rounds.rejudge_overlap(round_, actor=request.user)
        message = f"{made} is a draft with {amount(made.pairs_made, 'pair')}. Check its raters, then open it."
        return finish(request, message, "round_progress", made.uuid)
    return redirect("round_agreement", round_.uuid)
