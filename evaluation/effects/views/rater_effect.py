"""Page of rater effects: how the ranking of the systems changes without each rater of a round."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.safestring import SafeString

from assay.core.errors import Conflict, NotAllowed, NotValid
from assay.effects.rater_effects import Ranking, RaterEffect
from evaluation.effects import rater_effect as rater_effects
from evaluation.effects.round_runs import METRIC, metrics_of
from evaluation.scoring.metric_values import shown_difference
from judgments.agreement import round_report
from judgments.agreement.views.agreement_tables import LeftOut, coefficient_without, left_out, title
from judgments.models import Round
from judgments.rounds.views.rounds import frame
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import number, undefined
from judgments.web.lists import Listing, answer
from judgments.web.pages import get_page


@get_page
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
        rater_effects.check_reader(round_, request.user)
        result = rater_effects.look(round_, metric=metric, rule=rule)
    except (Conflict, NotAllowed, NotValid) as error:
        wrong = bool(getattr(error, "fields", {}))
        counting = isinstance(error, Conflict)
        return render(
            request,
            "evaluation/effects/rater_effect.html",
            context | {"error": error, "wrong": wrong, "counting": counting},
            status=422 if wrong else 200,
        )
    others = _agreeing(round_)
    rows = [_row(one, others.get(one.rater)) for one in result.raters]
    listing = _listing(round_, result.metric, {"metric": metric, "rule": rule})
    return answer(request, listing, rows, "evaluation/effects/rater_effect.html", context | {"result": result})


def _rules(round_: Round) -> list[tuple[str, str]]:
    from assay.aggregation.rules import RULES

    return [(name, RULES[name].title) for name in rater_effects.rules_for(round_)]


def _agreeing(round_: Round) -> dict[str, LeftOut]:
    """Return the agreement of the other raters without each rater, if it has been computed."""
    look = round_report.look(round_)
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
                f"{title(coefficient_without(round_.gate_coefficient))} without the rater",
                order="agreement",
                numeric=True,
                show=lambda row: _agreement(row["others"]),
            ),
            tau("tau", "Kendall’s tau without the rater", "without"),
            Column("moved", "Rank change", order="moved", numeric=True, show=lambda row: _moved(row["without"])),
            Column(
                "change",
                f"Mean change of {metric}",
                order="change",
                numeric=True,
                show=lambda row: "" if row["change"] is None else shown_difference(row["change"], metric).lstrip("+"),
            ),
            tau("alone_tau", "Tau of this rater alone", "alone"),
            Column("alone_queries", "Queries", order="alone_queries", numeric=True),
        ),
        order="tau",
        given=given,
    )


def _agreement(result: LeftOut | None) -> SafeString | str:
    if result is None:
        return undefined("not computed yet, or fewer than three raters")
    if result.value is None:
        return undefined(result.reason)
    return format_html("{} <span class='muted small'>n {}</span>", number(result.value, 3), number(result.n))


def _tau(ranking: Ranking) -> SafeString | str:
    return undefined(ranking.reason) if ranking.tau is None else number(ranking.tau, 3)


def _moved(ranking: Ranking) -> SafeString | str:
    if not ranking.moved:
        return "none"
    where = f"{ranking.run}, {ranking.rank_before} to {ranking.rank_after}"
    return format_html("{} <span class='muted small'>{}</span>", ranking.moved, where)
