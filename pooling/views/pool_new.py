"""Page to create a pool: choose pairs, preview them and see their cost."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from judgments import access
from judgments.core.amounts import amount
from judgments.models import Collection, Job
from judgments.views.bodies import takes_files
from judgments.views.sent import uuid_of
from pooling import pools as verbs
from pooling import previews
from pooling.pool_forms import PoolForm
from pooling.strategies import STRATEGIES
from pooling.views import duplicates, tables
from pooling.views.pictures import file_of, pictures


@takes_files
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def pool_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    form = _form(request, collection)
    if request.POST.get("act") in ACTS and form.is_valid():
        with form.telling():
            return ACTS[request.POST["act"]](request, collection, form)
    plan = _plan(collection, form, whole=request.GET.get("groups") == "all")
    context = {
        "collection": collection,
        "step": "pool",
        "form": form,
        "strategies": [STRATEGIES[name] for name in STRATEGIES],
        "has_queries": collection.queries.exists(),
        "has_runs": collection.runs.active().exists(),
        **plan,
    }
    file = tables.file_of(request, plan.get("tables", ()), context) or file_of(request, context, collection.slug)
    return file or render(request, "pooling/pool_new.html", context, status=form.status)


def _draw(request: HttpRequest, collection: Collection, form: PoolForm) -> HttpResponse:
    """Draw what was previewed; a second click on the same preview leads to the same pool."""
    options = {
        **form.choice,
        "planned": form.planned.as_json() if form.planned else None,
        "token": uuid_of(request.POST.get("token", "")),
    }
    if _is_large(form):
        return redirect("job", verbs.draw_later(collection, actor=request.user, **options).uuid)
    pool = verbs.draw_pool(collection, actor=request.user, **options)
    messages.success(request, f"Drew {amount(pool.entries.count(), 'pair')} with seed {pool.seed}.")
    return redirect("pool", collection.slug, pool.uuid)


def _preview(request: HttpRequest, collection: Collection, form: PoolForm) -> HttpResponse:
    """Preview in the background what takes longer than a page may."""
    page = f"{reverse('pool_new', args=[collection.slug])}?{form.query()}"
    return redirect("job", previews.start(collection, actor=request.user, page=page, **form.choice).uuid)


ACTS = {"draw": _draw, "preview": _preview}


def _form(request: HttpRequest, collection: Collection) -> PoolForm:
    """The form as it was sent; with its defaults filled in where nothing was."""
    sent = request.POST if request.method == "POST" else request.GET
    name = sent.get("strategy", "depth")
    strategy = STRATEGIES[name if name in STRATEGIES else "depth"]
    defaults = PoolForm.defaults(collection, strategy)
    if "seed" in sent or "act" in sent:
        return PoolForm(sent, request.FILES or None, initial=defaults, collection=collection, strategy=strategy)
    if defaults["runs"]:
        return PoolForm(defaults, initial=defaults, collection=collection, strategy=strategy)
    return PoolForm(initial=defaults, collection=collection, strategy=strategy)


def _is_large(form: PoolForm) -> bool:
    choice = form.choice
    depth = choice["parameters"].get("depth")
    return verbs.is_large(choice["runs"], depth=depth, duplicates=choice["duplicates"])


def _plan(collection: Collection, form: PoolForm, *, whole: bool) -> dict[str, Any]:
    """What the form's values would choose, or nothing where they do not hold."""
    if not form.is_bound or not form.is_valid():
        return {}
    sent = {"sent": form.sent, "token": uuid4()}
    if _is_large(form):
        job = previews.latest(collection, **form.choice)
        if job is None or job.state != Job.State.DONE or not job.result:
            return {**sent, "large": True, "job": job, "pairs_given": form.strategy.name == "list"}
        return {**sent, **_told(form, job.result["told"], whole=whole), "as_of": job.finished_at}
    with form.telling():
        return {**sent, **_told(form, previews.look(collection, **form.choice), whole=whole)}
    return {}


def _told(form: PoolForm, told: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    """The preview in pictures, tables and hours."""
    pairs = told["summary"]["pairs"]
    shown = pictures(told["summary"])
    groups = duplicates.shown(told["groups"], form, whole=whole)
    return {
        **shown,
        **groups,
        "tables": (*shown["tables"], *groups["group_tables"]),
        "pace": form.pace,
        "effort": form.pace.of(pairs, raters=form.raters, ratings_per_pair=form.ratings_per_pair),
        "total": form.choice["total"],
        "deeper": _deeper(form, told["summary"]),
        "shallow": _shallow(form, told["summary"]),
    }


def _shallow(form: PoolForm, summary: dict[str, Any]) -> dict[str, Any]:
    """What to warn of where the pool ends above the metric's cutoff: the run with the least judged, and a way out."""
    # A preview of an earlier release does not tell.
    known = [(share, name) for name, share in summary.get("expected_judged", {}).items() if share is not None]
    if not (summary.get("shallow") and known):
        return {}
    least, name = min(known)
    return {"least": least, "run": name, "deeper": f"?{form.query_with('depth', summary['cutoff'])}"}


def _deeper(form: PoolForm, summary: dict[str, Any]) -> str:
    """The address of the same pool, as deep as is advised; empty where this one is."""
    if not summary.get("advised_depth"):
        return ""
    changed = form.query_with("depth", summary["advised_depth"][0])
    return f"?{changed}"
