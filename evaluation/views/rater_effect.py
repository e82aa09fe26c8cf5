"""What hangs on each rater of a round: would the systems be ranked otherwise without them?"""

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
from judgments import access
from judgments.core.errors import NotAllowed, NotValid
from judgments.models import Round
from judgments.rule_effects import SLOW
from judgments.templatetags.figures import number, undefined
from judgments.views.lists import Column, Listing, answer
from judgments.views.rounds import frame


@login_required
@require_safe
def rater_effect(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.STAFF)
    metrics, rules = metrics_of(round_.collection), _rules()
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
    except (NotAllowed, NotValid) as error:
        wrong = bool(getattr(error, "fields", {}))
        return render(
            request,
            "evaluation/rater_effect.html",
            context | {"error": error, "wrong": wrong},
            status=422 if wrong else 200,
        )
    rows = [_row(one) for one in found.raters]
    listing = _listing(round_, found.metric, {"metric": metric, "rule": rule})
    return answer(request, listing, rows, "evaluation/rater_effect.html", context | {"found": found})


def _rules() -> list[tuple[str, str]]:
    from judgments.aggregation.rules import RULES

    return [(name, RULES[name].title) for name in RULES if name not in SLOW]


def _row(one: RaterEffect) -> dict[str, Any]:
    return {
        "rater": one.rater,
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


def _tau(found: Ranking) -> SafeString | str:
    return undefined(found.reason) if found.tau is None else number(found.tau, 3)


def _moved(found: Ranking) -> SafeString | str:
    if not found.moved:
        return "none"
    where = f"{found.run}, {found.rank_before} to {found.rank_after}"
    return format_html("{} <span class='muted small'>{}</span>", found.moved, where)
