"""Page to create a pool: choose pairs, preview them and see their cost."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from assay.core.text_rules import amount
from assay.strategies import STRATEGIES
from judgments.models import Collection, Job
from judgments.web import access
from judgments.web.lists import requested_table
from judgments.web.middleware import takes_files
from judgments.web.pages import form_page
from judgments.web.posted_values import uuid_of
from pooling.pools import pools, previews
from pooling.pools.forms import PoolForm
from pooling.pools.views import pools as duplicates
from pooling.pools.views.charts import file_of, pictures

# The strategy that the page advises; the others are under "More strategies".
ADVISED, WITHOUT_RUNS = "depth", "list"


@takes_files
@form_page.of_collection(access.LEADS)
def pool_new(request: HttpRequest, collection: Collection) -> HttpResponse:
    form = _form(request, collection)
    if request.POST.get("act") in ACTS and form.is_valid():
        with form.telling():
            return ACTS[request.POST["act"]](request, collection, form)
    has_runs = collection.runs.active().exists()
    advised = ADVISED if has_runs else WITHOUT_RUNS
    plan = _plan(collection, form, whole=request.GET.get("groups") == "all")
    context = {
        "collection": collection,
        "step": "pool",
        "form": form,
        "advised": STRATEGIES[advised],
        "strategies": [STRATEGIES[name] for name in STRATEGIES if name not in (advised, form.strategy.name)],
        "has_queries": collection.queries.exists(),
        "has_runs": has_runs,
        **plan,
    }
    file = requested_table(request, plan.get("tables", ()), context) or file_of(request, context, collection.slug)
    return file or render(request, "pooling/pools/pool_new.html", context, status=form.status)


def _draw(request: HttpRequest, collection: Collection, form: PoolForm) -> HttpResponse:
    """Create the previewed pool; a second click on the same preview returns the same pool."""
    options = {
        **form.choice,
        "planned": form.planned.as_json() if form.planned else None,
        "token": uuid_of(request.POST.get("token", "")),
    }
    if _is_large(form):
        return redirect("job", pools.draw_later(collection, actor=request.user, **options).uuid)
    pool = pools.draw_pool(collection, actor=request.user, **options)
    messages.success(request, f"Pool created with {amount(pool.entries.count(), 'pair')}, seed {pool.seed}.")
    return redirect("pool", collection.slug, pool.uuid)


def _preview(request: HttpRequest, collection: Collection, form: PoolForm) -> HttpResponse:
    """Start a preview job for a pool that takes too long for a page."""
    page = f"{reverse('pool_new', args=[collection.slug])}?{form.query()}"
    return redirect("job", previews.start(collection, actor=request.user, page=page, **form.choice).uuid)


ACTS = {"draw": _draw, "preview": _preview}


def _form(request: HttpRequest, collection: Collection) -> PoolForm:
    """Return the submitted form, or one with default values."""
    submitted = request.POST if request.method == "POST" else request.GET
    name = submitted.get("strategy", ADVISED)
    strategy = STRATEGIES[name if name in STRATEGIES else ADVISED]
    defaults = PoolForm.defaults(collection, strategy)
    if "seed" in submitted or "act" in submitted:
        return PoolForm(submitted, request.FILES or None, initial=defaults, collection=collection, strategy=strategy)
    if defaults["runs"]:
        return PoolForm(defaults, initial=defaults, collection=collection, strategy=strategy)
    return PoolForm(initial=defaults, collection=collection, strategy=strategy)


def _is_large(form: PoolForm) -> bool:
    choice = form.choice
    depth = choice["parameters"].get("depth")
    return pools.is_large(choice["runs"], depth=depth, duplicates=choice["duplicates"])


def _plan(collection: Collection, form: PoolForm, *, whole: bool) -> dict[str, Any]:
    """Return the preview of the form's values; empty if they are not valid."""
    if not form.is_bound or not form.is_valid():
        return {}
    values = {"form_values": form.form_values, "token": uuid4()}
    if _is_large(form):
        job = previews.latest(collection, **form.choice)
        if job is None or job.state != Job.State.DONE or not job.result:
            return {**values, "large": True, "job": job, "pairs_given": form.strategy.name == "list"}
        return {**values, **_preview_context(form, job.result["told"], whole=whole), "as_of": job.finished_at}
    with form.telling():
        return {**values, **_preview_context(form, previews.summarize(collection, **form.choice), whole=whole)}
    return {}


def _preview_context(form: PoolForm, previewed: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    """Return the preview as charts, tables and effort."""
    pairs = previewed["summary"]["pairs"]
    shown = pictures(previewed["summary"])
    groups = duplicates.shown(previewed["groups"], form, whole=whole)
    return {
        **shown,
        **groups,
        "tables": (*shown["tables"], *groups["group_tables"]),
        "pace": form.pace,
        "effort": form.pace.of(pairs, raters=form.raters, ratings_per_pair=form.ratings_per_pair),
        "total": form.choice["total"],
        "deeper": _deeper(form, previewed["summary"]),
        "shallow": _shallow(form, previewed["summary"]),
    }


def _shallow(form: PoolForm, summary: dict[str, Any]) -> dict[str, Any]:
    """Return the warning for a pool that is shallower than the metric's cutoff, with the run it covers least."""
    # Previews of earlier releases have no such fields.
    known = [(share, name) for name, share in summary.get("expected_judged", {}).items() if share is not None]
    if not (summary.get("shallow") and known):
        return {}
    least, name = min(known)
    return {"least": least, "run": name, "deeper": f"?{form.query_with('depth', summary['cutoff'])}"}


def _deeper(form: PoolForm, summary: dict[str, Any]) -> str:
    """Return the URL of the same pool at the advised depth; empty if the pool is deep enough."""
    if not summary.get("advised_depth"):
        return ""
    changed = form.query_with("depth", summary["advised_depth"][0])
    return f"?{changed}"
