"""Page of decision-critical pairs for two runs: their cost, and the pool made from them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods

from evaluation import blindness, freshness, stored_scores, verdict
from evaluation import turning as turnings
from evaluation.views.compare_choice import Choice, chosen
from evaluation.views.scores import chosen_snapshot
from judgments import access
from judgments.core.amounts import amount
from judgments.core.errors import NotValid
from judgments.models import Collection, Role
from judgments.views.downloads import attachment
from judgments.views.lists import Column, Listing, answer
from pooling.effort import pace

if TYPE_CHECKING:
    from evaluation.decisions.turning import Turning

PAIRS = Listing(
    name="pairs",
    noun=("pair", "pairs"),
    columns=(
        Column("place", "Place", order="place", numeric=True),
        Column("query", "Query", order="query", head=True, style="clip"),
        Column("document", "Document", order="document", style="clip", url=lambda row: row["url"]),
        Column("grade", "Grade that turns", order="grade", numeric=True),
        Column("rank_a", "In baseline", order="rank_a", numeric=True, show=lambda row: _rank(row, "rank_a")),
        Column("rank_b", "In candidate", order="rank_b", numeric=True, show=lambda row: _rank(row, "rank_b")),
        Column("state", "State", order="state", style="nowrap"),
        Column("query_id", "Query id", order="query_id", style="id"),
        Column("doc_id", "Document id", order="doc_id", style="id clip"),
    ),
    order="place",
    search=("query", "document", "query_id", "doc_id"),
)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def turning(request: HttpRequest, slug: str) -> HttpResponse:
    roles = access.LEADS if request.method == "POST" else access.STAFF
    collection = access.collection_for(request.user, slug, roles)
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    withheld = blindness.withheld_queries(request.user, snapshot) if snapshot else frozenset()
    found = stored_scores.scorings_of(snapshot, left_out=withheld) if snapshot else []
    context: dict[str, Any] = {"collection": collection, "step": "scores", "snapshot": snapshot, "scorings": found}
    choice = chosen(found, request.GET)
    if snapshot is None or choice is None:
        return render(request, "evaluation/compare_empty.html", context, status=_status(request))
    context |= {"choice": choice, "withheld": withheld, **_addresses(collection, choice)}
    try:
        told = turnings.turn(choice.a, choice.b, choice.metric, withheld=withheld)
        if request.method == "POST":
            return _made(request, choice, told)
    except NotValid as error:
        return render(request, "evaluation/turning_empty.html", context | {"error": error}, status=_status(request))
    rows = turnings.told_to(request.user, collection, told)
    context |= {"pairs": told, "yours": sum(row["state"] == turnings.YOURS for row in rows)}
    context |= summary(collection, request.user, choice, told)
    if request.GET.get("format") == "json":
        return _file(choice, told, rows)
    listing = replace(PAIRS, given=choice.address({}))
    return answer(request, listing, _linked(collection, rows), "evaluation/turning.html", context)


def summary(collection: Collection, user: Any, choice: Choice, told: Turning) -> dict[str, Any]:
    """What the page and the card on the page of the comparison tell: the answer in words, its cost, who may act."""
    usual = pace(collection)
    return {
        "turning": remark(told),
        "difference": verdict.signed(told.difference, 4),
        "turning_pairs": len(told.pairs),
        "turning_cost": turnings.cost(told, usual) if told.pairs else "",
        "turning_pace": usual.words,
        "turning_lead": access.role_in(user, collection) == Role.LEAD,
        **_addresses(collection, choice),
    }


def card(collection: Collection, user: Any, choice: Choice, withheld: frozenset[str]) -> dict[str, Any]:
    """The same for the page of a comparison, where the runs are small enough to be read in passing; else a link."""
    if choice.weighted or turnings.unknown_reason(choice.metric):
        return {}
    if turnings.rows(choice.a, choice.b) > turnings.ROWS_IN_PASSING:
        return {"turning_later": True, **_addresses(collection, choice)}
    return summary(collection, user, choice, turnings.turn(choice.a, choice.b, choice.metric, withheld=withheld))


def _rank(row: dict[str, Any], name: str) -> str:
    """A rank in words; a document that a run does not return within the cutoff has none."""
    if row["state"] == turnings.YOURS:
        return "not told"
    return f"rank {row[name]:,}" if row[name] else "not there"


def remark(told: Turning) -> verdict.Remark:
    """The answer as the other remarks on a comparison: a question, a state, and why."""
    size = f"{abs(told.difference):.4f}"
    if told.winner is None:
        why = "The two runs are level: any judgment may decide."
        return verdict.Remark("Can judging turn it", "todo", "level", why)
    if told.turns is False:
        why = (
            f"No judgment of what these runs returned can turn this. {told.winner} is ahead by {size}; all "
            f"{amount(told.unjudged, 'unjudged pair')} together could move that by {told.most:.4f} at most."
        )
        if not told.unjudged:
            why = f"Everything that counts here is judged. {told.winner} is ahead by {size}, and stays ahead."
        return verdict.Remark("Can judging turn it", "done", "no", why)
    if told.turns is None:
        reason = told.reason or ""
        why = f"{reason[:1].upper()}{reason[1:]}. Unjudged: {amount(told.unjudged, 'pair')}."
        return verdict.Remark("Can judging turn it", "todo", "not known", why)
    loser = told.b if told.winner == told.a else told.a
    number = amount(len(told.pairs), "unjudged pair")
    each = "it" if len(told.pairs) == 1 else "each"
    least = "" if told.exact else f" at most, {told.at_least:,} at least,"
    why = (
        f"{number}{least} of {told.unjudged:,} could put {loser} ahead, if {each} got the grade that helps {loser} "
        f"most; {told.winner} leads by {size}."
    )
    return verdict.Remark("Can judging turn it", "warn", "yes", why)


def _addresses(collection: Collection, choice: Choice) -> dict[str, str]:
    asked = urlencode({key: value for key, value in choice.address({}).items() if key != "weight"})
    return {
        "turning_url": f"{reverse('scores_turning', args=[collection.slug])}?{asked}",
        "compare_url": f"{reverse('scores_compare', args=[collection.slug])}?{asked}",
    }


def _status(request: HttpRequest) -> int:
    return 422 if request.method == "POST" else 200


def _made(request: HttpRequest, choice: Choice, told: Turning) -> HttpResponse:
    """Draw the pool and lead to the form of its round, where everything is filled in."""
    pool = turnings.make_pool(choice.a, choice.b, told, actor=request.user)
    messages.success(request, f"Drew {amount(pool.entries.count(), 'pair')}. Open the round when it fits.")
    return redirect(f"{reverse('round_new', args=[pool.collection.slug])}?pool={pool.uuid}")


def _file(choice: Choice, told: Turning, rows: list[dict[str, Any]]) -> HttpResponse:
    """What `assay compare --turning` says of the pair, without what the reader is not told."""
    body = turnings.as_json(told, rows, pace(choice.a.collection))
    body["freshness"] = freshness.look(choice.a.snapshot).as_json()
    name = slugify(f"{choice.b.run} against {choice.a.run} {choice.metric} turning")
    return attachment(f"{name}.json", json.dumps(body, ensure_ascii=False, indent=1))


def _linked(collection: Collection, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each row with the address of its document, where the collection has it."""
    return [
        row | {"url": reverse("document", args=[collection.slug, row["uuid"]]) if row["uuid"] else ""} for row in rows
    ]
