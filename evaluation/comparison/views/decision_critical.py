"""Page of decision-critical pairs for two runs, and the URL parameters of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from evaluation.comparison import comparison, decision_critical, verdict
from evaluation.models import Scoring
from evaluation.scoring import leaderboard, metric_values, stored_scores
from evaluation.scoring.views.scores import TRAFFIC
from judgments.models import Collection, Role
from judgments.snapshots import snapshots
from judgments.snapshots.snapshots import chosen_snapshot
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import json_file
from judgments.web.lists import Listing, answer
from judgments.web.pages import form_page
from pooling.pools.effort import pace

if TYPE_CHECKING:
    from assay.decisions.decision_critical import Turning


@dataclass(frozen=True)
class ComparedRuns:
    """The two runs, the metric and the weighting of a comparison."""

    a: Scoring
    b: Scoring
    metric: str
    metrics: list[str]
    weighted: bool
    can_weigh: bool
    notes: list[str]

    def address(self, params: Mapping[str, str]) -> dict[str, str]:
        """Return the complete URL parameters of this comparison."""
        depth = params.get("depth", "")
        return {
            "snapshot": str(self.a.snapshot.uuid),
            "a": str(self.a.run.uuid),
            "b": str(self.b.run.uuid),
            "metric": self.metric,
            **({"weight": TRAFFIC} if self.weighted else {}),
            **({"depth": depth} if depth else {}),
        }


def chosen(scorings: Sequence[Scoring], params: Mapping[str, str]) -> ComparedRuns | None:
    """Read the choice from the URL. Run a is the baseline by default, other runs are the best ones."""
    of = {
        name: [row.scoring for row in leaderboard.rows(scorings, name) if row.score]
        for name in stored_scores.metrics_of(scorings)
    }
    metrics = [name for name, order in of.items() if len(order) > 1]
    if not metrics:
        return None
    notes, metric = [], params.get("metric", "") or metrics[0]
    if metric not in metrics:
        notes.append(f"Fewer than two runs have scores for {metric} on this snapshot. The page shows {metrics[0]}.")
        metric = metrics[0]
    runs = {key: comparison.named(of[metric], params.get(key, "")) for key in ("a", "b")}
    for key, one in runs.items():
        if one is None and params.get(key):
            notes.append(
                f"The run {params[key]} has no score for {metric} on this snapshot. The page shows another run."
            )
    if runs["a"] and runs["a"] == runs["b"]:
        notes.append(f"{runs['a'].run} cannot be compared with itself. The page shows another baseline.")
        runs["a"] = None
    baseline = next((one for one in of[metric] if one.run.baseline), None)
    if runs["a"] is None and baseline != runs["b"]:
        runs["a"] = baseline
    rest = [one for one in of[metric] if one not in runs.values()]
    second = runs["b"] or rest.pop(0)
    first = runs["a"] or rest.pop(0)
    can_weigh, why_not = leaderboard.weighting(leaderboard.rows([first, second], metric))
    weighted = params.get("weight") == TRAFFIC
    notes += [why_not or "A mean weighted by traffic is not available."] if weighted and not can_weigh else []
    return ComparedRuns(first, second, metric, metrics, weighted and can_weigh, can_weigh, notes)


def requested(
    request: HttpRequest, collection: Collection
) -> tuple[dict[str, Any], ComparedRuns | None, frozenset[str]]:
    """Return the context of the snapshot in the URL, the choice, and the queries hidden from the reader."""
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    withheld = snapshots.withheld_queries(request.user, snapshot) if snapshot else frozenset()
    scorings = stored_scores.scorings_of(snapshot, left_out=withheld) if snapshot else []
    context = {"collection": collection, "step": "scores", "snapshot": snapshot, "scorings": scorings}
    return context, chosen(scorings, request.GET), withheld


PAIRS = Listing(
    name="pairs",
    noun=("pair", "pairs"),
    columns=(
        Column("place", "Order", order="place", numeric=True),
        Column("query", "Query", order="query", head=True, style="clip"),
        Column("document", "Document", order="document", style="clip", url=lambda row: row["url"]),
        Column("grade", "Worst-case grade", order="grade", numeric=True),
        Column("rank_a", "Rank in baseline", order="rank_a", numeric=True, show=lambda row: _rank(row, "rank_a")),
        Column("rank_b", "Rank in candidate", order="rank_b", numeric=True, show=lambda row: _rank(row, "rank_b")),
        Column("state", "State", order="state", style="nowrap"),
        Column("query_id", "Query id", order="query_id", style="id"),
        Column("doc_id", "Document id", order="doc_id", style="id clip"),
    ),
    order="place",
    search=("query", "document", "query_id", "doc_id"),
)


@form_page
def turning(request: HttpRequest, slug: str) -> HttpResponse:
    roles = access.LEADS if request.method == "POST" else access.STAFF
    collection = access.collection_for(request.user, slug, roles)
    context, choice, withheld = requested(request, collection)
    if choice is None:
        return render(request, "evaluation/comparison/compare_empty.html", context, status=_status(request))
    context |= {"choice": choice, "withheld": withheld, **_addresses(collection, choice)}
    try:
        result = decision_critical.turn(choice.a, choice.b, choice.metric, withheld=withheld)
        if request.method == "POST":
            return _made(request, choice, result)
    except NotValid as error:
        return render(
            request, "evaluation/comparison/turning_empty.html", context | {"error": error}, status=_status(request)
        )
    rows = decision_critical.visible_pairs(request.user, collection, result)
    context |= {"pairs": result, "yours": sum(row["state"] == decision_critical.YOURS for row in rows)}
    context |= summary(collection, request.user, choice, result)
    if request.GET.get("format") == "json":
        return _file(choice, result, rows)
    for row in rows:
        row["url"] = reverse("document", args=[collection.slug, row["uuid"]]) if row["uuid"] else ""
    listing = replace(PAIRS, given=choice.address({}))
    return answer(request, listing, rows, "evaluation/comparison/turning.html", context)


def summary(collection: Collection, user: Any, choice: ComparedRuns, result: Turning) -> dict[str, Any]:
    """Return the context of the page and of the card on the comparison page: the answer, its cost, and the reader's
    rights."""
    usual = pace(collection)
    return {
        "turning": remark(result),
        "difference": metric_values.signed(result.difference, 4),
        "turning_pairs": len(result.pairs),
        "turning_cost": usual.cost(len(result.pairs)) if result.pairs else "",
        "turning_pace": usual.words,
        "turning_lead": access.role_in(user, collection) == Role.LEAD,
        **_addresses(collection, choice),
    }


def card(collection: Collection, user: Any, choice: ComparedRuns, withheld: frozenset[str]) -> dict[str, Any]:
    """Return the same context for the comparison page if the runs are small; otherwise return a link."""
    if choice.weighted or decision_critical.unknown_reason(choice.metric):
        return {}
    if decision_critical.rows(choice.a, choice.b) > decision_critical.ROWS_IN_PASSING:
        return {"turning_later": True, **_addresses(collection, choice)}
    return summary(
        collection, user, choice, decision_critical.turn(choice.a, choice.b, choice.metric, withheld=withheld)
    )


def _rank(row: dict[str, Any], name: str) -> str:
    """Return a rank in words; a document outside the cutoff has no rank."""
    if row["state"] == decision_critical.YOURS:
        return "hidden"
    return f"rank {row[name]:,}" if row[name] else "not returned"


def remark(result: Turning) -> verdict.Remark:
    """Return the answer as a remark: a question, a state and the reason."""
    size = f"{abs(result.difference):.4f}"
    if result.winner is None:
        why = "The means are equal, so any judgment could put one of the runs ahead."
        return verdict.Remark("Reversible by judging", "todo", "equal", why)
    if result.turns is False:
        why = (
            f"No judgment of these runs' documents can reverse the result. {result.winner} leads by {size}; "
            f"the {amount(result.unjudged, 'unjudged pair')} together could change the difference by at most "
            f"{result.most:.4f}."
        )
        if not result.unjudged:
            why = f"All documents that affect this metric are judged. {result.winner} leads by {size}."
        return verdict.Remark("Reversible by judging", "done", "no", why)
    if result.turns is None:
        reason = result.reason or ""
        why = f"{reason[:1].upper()}{reason[1:]}. Unjudged: {amount(result.unjudged, 'pair')}."
        return verdict.Remark("Reversible by judging", "todo", "unknown", why)
    loser = result.b if result.winner == result.a else result.a
    number = amount(len(result.pairs), "unjudged pair")
    each = "it" if len(result.pairs) == 1 else "each"
    least = "" if result.exact else f" (upper bound; lower bound {result.at_least:,})"
    why = (
        f"{number}{least} of {result.unjudged:,} could put {loser} ahead, if {each} got the grade that helps {loser} "
        f"most. {result.winner} leads by {size}."
    )
    return verdict.Remark("Reversible by judging", "warn", "yes", why)


def _addresses(collection: Collection, choice: ComparedRuns) -> dict[str, str]:
    query_string = urlencode({key: value for key, value in choice.address({}).items() if key != "weight"})
    return {
        "turning_url": f"{reverse('scores_turning', args=[collection.slug])}?{query_string}",
        "compare_url": f"{reverse('scores_compare', args=[collection.slug])}?{query_string}",
    }


def _status(request: HttpRequest) -> int:
    return 422 if request.method == "POST" else 200


def _made(request: HttpRequest, choice: ComparedRuns, result: Turning) -> HttpResponse:
    """Create the pool and redirect to the prefilled form of its round."""
    pool = decision_critical.make_pool(choice.a, choice.b, result, actor=request.user)
    messages.success(
        request, f"Pool with {amount(pool.entries.count(), 'pair')} created. Create a round from the pool."
    )
    return redirect(f"{reverse('round_new', args=[pool.collection.slug])}?pool={pool.uuid}")


def _file(choice: ComparedRuns, result: Turning, rows: list[dict[str, Any]]) -> HttpResponse:
    """Download the report of `assay compare --turning` for the pair, without hidden values."""
    body = decision_critical.as_json(result, rows, choice.a.snapshot)
    name = slugify(f"{choice.b.run} against {choice.a.run} {choice.metric} turning")
    return json_file(name, body)
