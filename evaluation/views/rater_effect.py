"""Page of rater effects: how the ranking of the systems changes without each rater of a round."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from evaluation import rater_effect as effects
from evaluation.metric_values import shown_difference
from evaluation.regrading.raters import Ranking, RaterEffect
from evaluation.round_runs import METRIC, metrics_of
from judgments import access, round_reports
from judgments.core.errors import Conflict, NotAllowed, NotValid
from judgments.models import Round
from judgments.templatetags.figures import number, undefined
from judgments.views.agreement_rows import LeftOut, left_out, title, told_without
from judgments.views.lists import Column, Listing, answer
from judgments.views.rounds import frame


@login_required
@require_safe
def rater_effect(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.STAFF)
    metrics, rules = metrics_of(round_.collection), _rules(round_)
    metric = request.GET.get("metric", "") or METRIC
    rule = request.GET.get("rule", "") or "median"
    context = {
        **frame(request, round_, "agreement"),
        "metrics": metrics if metric in metrics else [metric, *metrics],
        "rules": rules,
        "metric": metric,
        "rule": rule,
    }
    try:
        effects.check_reader(round_, request.user)
        found = effects.look(round_, metric=metric, rule=rule)
    except (Conflict, NotAllowed, NotValid) as error:
        wrong = bool(getattr(error, "fields", {}))
        counting = isinstance(error, Conflict)
        return render(
            request,
            "evaluation/rater_effect.html",
            context | {"error": error, "wrong": wrong, "counting": counting},
            status=422 if wrong else 200,
        )
    others = _agreeing(round_)
    rows = [_row(one, others.get(one.rater)) for one in found.raters]
    listing = _listing(round_, found.metric, {"metric": metric, "rule": rule})
    return answer(request, listing, rows, "evaluation/rater_effect.html", context | {"found": found})


def _rules(round_: Round) -> list[tuple[str, str]]:
    from judgments.aggregation.rules import RULES

    return [(name, RULES[name].title) for name in effects.rules_for(round_)]


def _agreeing(round_: Round) -> dict[str, LeftOut]:
    """The agreement of all the others by rater, as far as it was counted."""
    look = round_reports.look(round_)
    without = (look.report or {}).get("without", [])
    return {row.rater: row for row in left_out(without, look.agreement, round_.gate_coefficient)}


def _row(one: RaterEffect, others: LeftOut | None) -> dict[str, Any]:
    return {
        "rater": one.rater,
        "agreement": others.value if others else None,
        "others": others,
        "pairs": one.pairs,
        "tau": one.without.tau,
        "moved": one.without.moved,
        "change": one.without.change,
        "alone_tau": one.alone.tau,
        "alone_moved": one.alone.moved,
        "alone_queries": one.alone.queries,
        "without": one.without,
        "alone": one.alone,
    }


def _listing(round_: Round, metric: str, given: dict[str, str]) -> Listing:
    def tau(key: str, title: str, side: str) -> Column:
        return Column(key, title, order=key, numeric=True, show=lambda row: _tau(row[side]))

    return Listing(
        name=f"raters-{round_.name}",
        noun=("rater", "raters"),
        columns=(
            Column("rater", "Rater", order="rater", head=True),
            Column("pairs", "Pairs graded", order="pairs", numeric=True),
            Column(
                "agreement",
                f"{title(told_without(round_.gate_coefficient))}, without",
                order="agreement",
                numeric=True,
                show=lambda row: _agreement(row["others"]),
            ),
            tau("tau", "Kendall’s tau without", "without"),
            Column("moved", "Ranks moved", order="moved", numeric=True, show=lambda row: _moved(row["without"])),
            Column(
                "change",
                f"Mean change of {metric}",
                order="change",
                numeric=True,
                show=lambda row: "" if row["change"] is None else shown_difference(row["change"], metric).lstrip("+"),
            ),
            tau("alone_tau", "Tau by this rater alone", "alone"),
            Column("alone_queries", "On queries", order="alone_queries", numeric=True),
        ),
        order="tau",
        given=given,
    )


def _agreement(found: LeftOut | None) -> SafeString | str:
    if found is None:
        return undefined("not counted yet, or fewer than three raters")
    if found.value is None:
        return undefined(found.reason)
    return format_html("{} <span class='muted small'>n {}</span>", number(found.value, 3), number(found.n))


def _tau(found: Ranking) -> SafeString | str:
    return undefined(found.reason) if found.tau is None else number(found.tau, 3)


def _moved(found: Ranking) -> SafeString | str:
    if not found.moved:
        return "none"
    where = f"{found.run}, {found.rank_before} to {found.rank_after}"
    return format_html("{} <span class='muted small'>{}</span>", found.moved, where)
