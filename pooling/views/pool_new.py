"""Which pairs shall be judged next, and what would that cost?"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from judgments import access
from judgments.models import Collection
from pooling import pools as verbs
from pooling.effort import pace
from pooling.forms import PoolForm
from pooling.strategies import STRATEGIES
from pooling.views import tables
from pooling.views.pictures import pictures


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def pool_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    form = _form(request, collection)
    act = request.POST.get("act", "")
    if act == "draw" and form.is_valid():
        with form.telling():
            if verbs.is_large(form.choice["runs"]):
                return redirect("job", verbs.draw_later(collection, actor=request.user, **form.choice).uuid)
            pool = verbs.draw_pool(collection, actor=request.user, **form.choice)
            messages.success(request, f"Drew {pool.entries.count():,} pairs with seed {pool.seed}.")
            return redirect("pool", collection.slug, pool.uuid)
    plan = _plan(collection, form)
    context = {
        "collection": collection,
        "step": "pool",
        "form": form,
        "strategies": [STRATEGIES[name] for name in STRATEGIES],
        "has_queries": collection.queries.exists(),
        "has_runs": collection.runs.exists(),
        **plan,
    }
    file = tables.file_of(request, plan.get("tables", ()), context)
    return file or render(request, "pooling/pool_new.html", context, status=form.status)


def _form(request: HttpRequest, collection: Collection) -> PoolForm:
    """The form as it was sent; with its defaults filled in where nothing was."""
    sent = request.POST if request.method == "POST" else request.GET
    name = sent.get("strategy", "depth")
    strategy = STRATEGIES[name if name in STRATEGIES else "depth"]
    defaults = PoolForm.defaults(collection, strategy)
    if "seed" in sent:
        return PoolForm(sent, request.FILES or None, initial=defaults, collection=collection, strategy=strategy)
    if defaults["runs"]:
        return PoolForm(defaults, initial=defaults, collection=collection, strategy=strategy)
    return PoolForm(initial=defaults, collection=collection, strategy=strategy)


def _plan(collection: Collection, form: PoolForm) -> dict[str, Any]:
    """What the form's values would choose, or nothing where they do not hold."""
    if not form.is_bound or not form.is_valid():
        return {}
    if verbs.is_large(form.choice["runs"]):
        return {"large": sum(run.rows for run in form.choice["runs"]), "sent": form.sent}
    with form.telling():
        chosen = verbs.choose(collection, **form.choice)
        found = verbs.preview(collection, chosen)
        usual = pace(collection)
        return {
            "chosen": chosen,
            "pace": usual,
            "cost": usual.cost(found["pairs"]),
            "sent": form.sent,
            **pictures(found),
        }
    return {}
