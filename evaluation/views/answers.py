"""What does every system return for one query, and which of it was judged?"""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from evaluation import leaderboard, rankings
from evaluation.views.scores import chosen_snapshot
from judgments import access

DEEPEST = 100
DEPTHS = (10, 20, 50)


@login_required
@require_safe
def answers(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    if not request.GET.get("query"):
        return redirect("scores", slug)
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    query = collection.queries.filter(query_id=request.GET["query"].replace("\0", "")).first()
    if snapshot is None or query is None:
        raise Http404
    asked = request.GET.get("depth", "")
    depth = min(int(asked), DEEPEST) if asked.isascii() and asked.isdigit() and 0 < len(asked) < 5 else rankings.DEPTH
    hidden = rankings.hidden_from(request.user, collection, query.query_id)
    found = rankings.answers(snapshot, list(collection.runs.all()), query.query_id, max(depth, 1), hidden=hidden)
    scored = snapshot.scorings.select_related("run").prefetch_related("scores")
    values = {
        scoring.run_id: [(score.metric, score.per_query.get(query.query_id)) for score in scoring.scores.all()]
        for scoring in scored
    }
    context = {
        "collection": collection,
        "step": "scores",
        "snapshot": snapshot,
        "query": query,
        "answers": found,
        "sides": [(ranking, values.get(ranking.run.pk, [])) for ranking in found.rankings],
        "metrics": leaderboard.metrics(list(scored)),
        "depth": depth,
        "depths": DEPTHS,
    }
    return render(request, "evaluation/answers.html", context)
