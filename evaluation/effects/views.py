"""Pages of effects: the ranking without each rater of a round, and two snapshots compared."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.safestring import SafeString

from assay.core.errors import Conflict, NotAllowed, NotFound, NotValid
from assay.effects.rater_effects import Ranking, RaterEffect
from evaluation.effects import rater_effect as rater_effects
from evaluation.effects import snapshot_changes
from evaluation.effects.round_runs import METRIC, metrics_of
from evaluation.effects.snapshot_changes import SnapshotComparison
from evaluation.scoring import rankings
from evaluation.scoring.metric_values import shown, shown_difference
from judgments.agreement import round_report
from judgments.agreement.views.agreement_tables import LeftOut, coefficient_without, left_out, title
from judgments.documents.described_pairs import PAIR_COLUMNS, described_pairs
from judgments.models import Collection, Round, Snapshot
from judgments.rounds.views import frame
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import grade, number, undefined
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import get_page


@get_page
def rater_effect(request: HttpRequest, uuid: str) -> HttpResponse:
    from assay.aggregation import RULES

    round_ = access.round_for(request.user, uuid, access.STAFF)
    metrics = metrics_of(round_.collection)
    metric = request.GET.get("metric", "") or METRIC
    rule = request.GET.get("rule", "") or "median"
    context = {
        **frame(request, round_, "agreement"),
        "metrics": metrics if metric in metrics else [metric, *metrics],
        "rules": [(name, RULES[name].title) for name in rater_effects.rules_for(round_)],
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
    rows = [_rater_row(one, others.get(one.rater)) for one in result.raters]
    listing = _raters_listing(round_, result.metric, {"metric": metric, "rule": rule})
    return answer(request, listing, rows, "evaluation/effects/rater_effect.html", context | {"result": result})


def _agreeing(round_: Round) -> dict[str, LeftOut]:
    """Return the agreement of the other raters without each rater, if it has been computed."""
    look = round_report.look(round_)
    without = (look.report or {}).get("without", [])
    return {row.rater: row for row in left_out(without, look.agreement, round_.gate_coefficient)}


def _rater_row(one: RaterEffect, others: LeftOut | None) -> dict[str, Any]:
    row = {**vars(one), "others": others, "agreement": others.value if others else None}
    row |= {name: getattr(one.without, name) for name in ("tau", "moved", "change")}
    return row | {f"alone_{name}": getattr(one.alone, name) for name in ("tau", "moved", "queries")}


def _raters_listing(round_: Round, metric: str, given: dict[str, str]) -> Listing:
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


KINDS = (("changed", "changed label"), ("added", "only in second"), ("gone", "only in first"))
# Runs above this number are only in the file of scores, not on this page.
MOST_RUNS = 50


@get_page
def snapshot_compare(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    known = list(collection.snapshots.defer("manifest"))
    metric, metrics = request.GET.get("metric", "") or METRIC, metrics_of(collection)
    context: dict[str, Any] = {"collection": collection, "step": "snapshot", "snapshots": known, "metric": metric}
    context["metrics"] = metrics if metric in metrics else [metric, *metrics]
    if len(known) < 2:
        return render(request, "evaluation/effects/snapshot_compare.html", context)
    a, b = _named(known, request.GET.get("a", ""), 1), _named(known, request.GET.get("b", ""), 0)
    context |= {"a": a, "b": b}
    try:
        comparison = snapshot_changes.compare(a, b, metric=metric, reader=request.user)
    except (NotAllowed, NotValid) as error:
        status = 422 if getattr(error, "fields", {}) else 200
        return render(request, "evaluation/effects/snapshot_compare.html", context | {"error": error}, status=status)
    top = max(rankings.top_grade(a), rankings.top_grade(b))
    given = {"a": str(a.uuid), "b": str(b.uuid), "metric": metric}
    context |= {"comparison": comparison, "top": top, "confusion": _confusion(comparison), "board": _board(comparison)}
    context["swapped"] = {**given, "a": given["b"], "b": given["a"]}
    return answer(
        request,
        _labels_listing(given, top),
        _rows(collection, comparison),
        "evaluation/effects/snapshot_compare.html",
        context,
    )


def _named(known: list[Snapshot], uuid: str, place: int) -> Snapshot:
    """Return the snapshot with this id; by default, the newest snapshot and the one before it are compared."""
    if not uuid:
        return known[place]
    snapshot = next((one for one in known if str(one.uuid) == uuid), None)
    if snapshot is None:
        raise NotFound("This collection has no such snapshot.")
    return snapshot


def _confusion(comparison: SnapshotComparison) -> dict[str, Any]:
    """Return the table of old by new grades, including "no label"."""
    cells = comparison.changes.confusion
    grades: list[Any] = sorted({one for cell in cells for one in cell if one is not None})
    ends = [*(int(one) for one in grades), None]
    most = max((number for (old, new), number in cells.items() if old != new), default=0)

    def cell(old: Any, new: Any) -> dict[str, int]:
        number = cells.get((old, new), 0)
        # The shade, 0 to 4, relative to the largest cell off the diagonal.
        return {"n": number, "level": 0 if old == new or not most else -(-4 * number // most)}

    rows = [(old, [cell(old, new) for new in ends]) for old in ends]
    return {"ends": ends, "rows": rows, "n": sum(cells.values())}


def _board(comparison: SnapshotComparison) -> list[dict[str, Any]]:
    if comparison.boards is None:
        return []
    return [
        {
            "one": one,
            "before": shown(one.before, comparison.metric),
            "after": shown(one.after, comparison.metric),
            "difference": shown_difference(one.difference, comparison.metric),
            "climbed": abs(one.climbed),
            "way": "up" if one.climbed > 0 else "down" if one.climbed < 0 else "",
        }
        for one in comparison.boards.standings[:MOST_RUNS]
    ]


def _rows(collection: Collection, comparison: SnapshotComparison) -> list[dict[str, Any]]:
    """Return every pair with a changed label, with the text of its query and the title of its document."""
    rows = [(words, *row) for kind, words in KINDS for row in getattr(comparison.changes, kind)]
    described = described_pairs(collection, [pair for _, pair, _, _ in rows])
    return [
        {
            **described[pair],
            "kind": words,
            "old": None if old is None else int(old),
            "new": None if new is None else int(new),
            "steps": None if old is None or new is None else int(abs(new - old)),
        }
        for words, pair, old, new in rows
    ]


def _labels_listing(given: dict[str, str], top: int) -> Listing:
    def label(key: str) -> Any:
        return lambda row: "no label" if row[key] is None else grade(row[key], top)

    return Listing(
        name="labels",
        noun=("pair", "pairs"),
        columns=(
            *PAIR_COLUMNS,
            Column("old", "First label", order="old", numeric=True, show=label("old")),
            Column("new", "Second label", order="new", numeric=True, show=label("new")),
            Column("steps", "Difference in steps", order="steps", numeric=True),
            Column("kind", "Change", order="kind", style="nowrap muted"),
        ),
        search=("query", "title", "query_id", "doc_id"),
        choices=(ChoiceFilter("what", "Change type", "kind", [(words, words) for _, words in KINDS]),),
        order="-steps",
        given=given,
    )
