"""Pages of decisions: start one in two steps, follow it, and report its verdict."""

from __future__ import annotations

import re
import uuid as uuid_module
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.text import slugify
from django.views.decorators.cache import never_cache

from assay.core.errors import NotValid
from evaluation.decisions import decisions, estimate, findings, list_preferences, systems
from evaluation.decisions.forms import PlanForm, SystemsForm
from evaluation.models import Decision, ListJudge
from judgments.charts.charts import FORMS, picture
from judgments.members import collections, invite_links
from judgments.models import Collection, Query
from judgments.queries import narratives
from judgments.rounds.rounds import close_round
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import attachment
from judgments.web.figures import state
from judgments.web.lists import Listing, answer
from judgments.web.middleware import takes_files
from judgments.web.pages import errors_as_messages, form_page, get_page, post_action
from judgments.web.posted_values import uuid_of
from pooling.connectors import fetching
from pooling.models import Fetch, Run
from pooling.pools.effort import pace
from pooling.queries import needs_form
from pooling.queries.titles import first_titles
from pooling.rounds import quick_start


@takes_files
@form_page
def compare(request: HttpRequest) -> HttpResponse:
    """Compare two systems in a new collection."""
    access.check_may_create_collections(request.user)
    return _systems_page(request, None)


@takes_files
@form_page
def systems_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose the systems of a decision in a collection."""
    return _systems_page(request, access.collection_for(request.user, slug, access.LEADS))


def _systems_page(request: HttpRequest, collection: Collection | None) -> HttpResponse:
    form = SystemsForm(
        request.POST or None, request.FILES or None, collection=collection, initial=_usual_systems(collection)
    )
    if request.method == "POST" and form.is_valid():
        with form.telling():
            return redirect(_store(request, collection, form))
    context = {"collection": collection, "form": form, "step": "scores"}
    return render(request, "evaluation/decisions/systems.html", context, status=form.status)


def _usual_systems(collection: Collection | None) -> dict[str, Any]:
    if collection is None:
        return {"name": "Search comparison"}
    usual = collection.runs.active().filter(baseline=True).first()
    return {"baseline": usual.uuid} if usual else {}


@transaction.atomic
def _store(request: HttpRequest, collection: Collection | None, form: SystemsForm) -> str:
    """Store the systems and return the address of the next step."""
    actor: Any = request.user
    if collection is None:
        name = form.cleaned_data["name"]
        collection = collections.create_collection(actor=actor, slug=_free_slug(name), name=name)
    if form.engines:
        return _fetch(collection, form, actor)
    baseline, candidates = systems.store(collection, actor=actor, **form.given, **form.texts)
    narratives.draft_missing(collection, actor=actor, titles=partial(first_titles, collection))
    return _plan_address(collection, baseline, candidates)


def _plan_address(collection: Collection, baseline: Run, candidates: Sequence[Run]) -> str:
    chosen = [("baseline", str(baseline.uuid)), *(("candidate", str(run.uuid)) for run in candidates)]
    return f"{reverse('decision_plan', args=[collection.slug])}?{urlencode(chosen)}"


def _fetch(collection: Collection, form: SystemsForm, actor: Any) -> str:
    """Start to fetch the results of the chosen engines; the systems given otherwise are stored now."""
    address = []
    systems.store_texts(collection, actor=actor, **form.texts)
    if not collection.queries.exists():
        raise NotValid("Engines need queries. Type some, choose a file, or draw them from a query log first.", "typed")
    for role, engine, files, runs in form.by_role:
        if engine is not None:
            name = quick_start.free_name(collection.runs, engine.name)
            fetched = fetching.start(engine, actor=actor, run_name=name, depth=FETCHED)
            address.append((f"{role}_fetch", str(fetched.uuid)))
            continue
        field = "baseline_file" if role == "baseline" else "candidate_files"
        stored = [systems.store_run(collection, file, actor=actor, field=field) for file in files]
        if not [*stored, *runs]:
            raise NotValid(f"The {role} is missing.", {f"{role}_engine": f"Choose the {role}."})
        address += [(role, str(run.uuid)) for run in [*stored, *runs]]
    return f"{reverse('decision_fetching', args=[collection.slug])}?{urlencode(address)}"


FETCHED = 20
FIRST_NEEDS = 10


def _free_slug(name: str) -> str:
    stem = re.sub(r"[^-a-z0-9_]", "", slugify(name))[:50] or "search"
    taken = set(Collection.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    taken |= set(collections.TAKEN_SLUGS)
    return next(slug for slug in (stem, *(f"{stem}-{number}" for number in range(2, 99_999))) if slug not in taken)


@get_page
def fetching_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Wait for the engines' results, then continue with the plan."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    fetches = Fetch.objects.filter(connector__collection=collection).select_related("connector", "job", "run")
    rows = [(role, _rows(fetches, request, f"{role}_fetch")) for role in ("baseline", "candidate")]
    runs = {role: [one.run for one in of] + _rows(collection.runs.all(), request, role) for role, of in rows}
    if not runs["baseline"] or not runs["candidate"]:
        raise Http404
    if all(run is not None for of in runs.values() for run in of):
        return redirect(_plan_address(collection, runs["baseline"][0], runs["candidate"]))
    waiting = [fetched for _, of in rows for fetched in of]
    context = {
        "collection": collection,
        "step": "scores",
        "fetches": waiting,
        "running": any(fetched.run is None and not fetched.waits for fetched in waiting),
    }
    return render(request, "evaluation/decisions/fetching.html", context)


def _rows(rows: Any, request: HttpRequest, name: str) -> list[Any]:
    return [row for uuid in request.GET.getlist(name) if (row := _row(rows, uuid))]


def _row(rows: Any, uuid: str) -> Any:
    known = uuid_of(uuid)
    return rows.filter(uuid=known).first() if known else None


@never_cache
@form_page
def plan_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose people and settings, see the effort, and start."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    runs = collection.runs.active()
    baseline, candidates = _row(runs, request.GET.get("baseline", "")), _rows(runs, request, "candidate")
    if baseline is None or (request.GET.getlist("candidate") and not candidates):
        return redirect("decision_new", collection.slug)
    act = request.POST.get("act", "") if request.method == "POST" else None
    form = PlanForm(
        None if act in (None, "needs") else request.POST,
        collection=collection,
        actor=request.user,
        candidates=candidates,
        initial=_usual_plan(collection, baseline, candidates),
    )
    if act == "start" and form.is_valid():
        with form.telling():
            return _begin(request, collection, baseline, candidates, form)
    refused = needs_form.save(request, collection)[0] if act == "needs" else {}
    context = {
        "collection": collection,
        "step": "scores",
        "form": form,
        "baseline": baseline,
        "candidates": candidates,
        **_estimate(collection, baseline, candidates, form),
    }
    if "plan" in context:
        context["needs"] = _needs(request, collection, context["plan"].order, refused)
    status = 409 if refused else form.status if act == "start" else 200
    return render(request, "evaluation/decisions/plan.html", context, status=status)


def _needs(
    request: HttpRequest, collection: Collection, order: Sequence[str], refused: needs_form.Refused
) -> dict[str, Any]:
    """Return the needs of the first queries in the order of the plan, each with its field."""
    known = {query.query_id: query for query in collection.queries.filter(query_id__in=order[:FIRST_NEEDS])}
    held = needs_form.held(collection)
    return {
        "progress": narratives.progress(collection),
        "first": [
            (known[one], needs_form.cell(request, known[one], refused, held, lead=True))
            for one in order[:FIRST_NEEDS]
            if one in known
        ],
        "saved": request.POST.get("act") == "needs",
        "editable": any(query.pk not in held for query in known.values()),
        "more": max(0, len(order) - FIRST_NEEDS),
    }


def _usual_plan(collection: Collection, baseline: Run, candidates: Sequence[Run]) -> dict[str, Any]:
    if not candidates:
        # All that was pasted is rated.
        return {"metric": f"nDCG@{min(max(baseline.depth, 10), decisions.DEEPEST)}"}
    last = collection.decisions.first()
    return {} if last is None else {"metric": last.metric, "delta": last.delta, "method": last.method}


def _estimate(collection: Collection, baseline: Run, candidates: Sequence[Run], form: PlanForm) -> dict[str, Any]:
    """Return the plan with its effort for the form's values, or why there is no plan."""
    settings, raters, query_ids = decisions.Settings(), 1, None
    if form.is_bound and form.is_valid():
        settings, raters, query_ids = form.settings, form.expected_raters, form.query_ids
    elif form.is_bound:
        return {"no_plan": "Correct the values to see the effort."}
    else:
        settings = decisions.Settings(**_usual_plan(collection, baseline, candidates))
    try:
        planned = decisions.plan(baseline, candidates, settings, query_ids=query_ids)
    except NotValid as error:
        return {"no_plan": next(iter(error.fields.values()), str(error))}
    speed = pace(collection)
    documents = {doc_id for of_query in planned.pairs.values() for doc_id in of_query}
    known = collection.documents.filter(stub=False)
    scenarios = estimate.scenarios(planned, speed, raters) if candidates else []
    return {
        "plan": planned,
        "scenarios": scenarios,
        "all_undecided": all(one.verdict == "undecided" for one in scenarios),
        "pace": speed,
        "total": speed.cost(planned.pair_count * (1 + settings.overlap * (settings.ratings_per_pair - 1))),
        "raters": raters,
        "hours_a_day": estimate.HOURS_A_DAY,
        "textless": len(documents) - known.filter(doc_id__in=documents).count() if len(documents) < 5_000 else 0,
    }


def _begin(
    request: HttpRequest, collection: Collection, baseline: Run, candidates: Sequence[Run], form: PlanForm
) -> HttpResponse:
    actor: Any = request.user
    how: dict[str, Any] = {
        "actor": actor,
        "name": form.cleaned_data["name"],
        "settings": form.settings,
        "query_ids": form.query_ids,
        "raters": form.selected_raters,
        "people": form.invited,
        "role": form.cleaned_data.get("role") or "rater",
    }
    decision: Decision | None = None
    if candidates:
        decision, links = decisions.start(baseline, candidates, **how)
        made = decision.round
        page = reverse("decision", args=[collection.slug, decision.uuid])
    else:
        made, links = decisions.rate_one(baseline, **how)
        page = reverse("round_progress", args=[made.uuid])
    rates = actor in form.selected_raters and made is not None
    if links:
        # Shown only in the response to the POST: not stored in the session, not shown again after a reload.
        invited = invite_links.deliver(links, page=request.build_absolute_uri(reverse("invite")))
        context = {
            "collection": collection,
            "step": "scores" if decision else "round",
            "name": form.cleaned_data["name"],
            "round": made,
            "page": page,
            "invited": invited,
            "rates": rates,
        }
        return render(request, "evaluation/decisions/started.html", context)
    if rates and made is not None:
        return redirect("rate", made.uuid)
    messages.success(request, f"{form.cleaned_data['name']} has started.")
    return redirect(page)


def _verdict(decision: Decision, hidden: bool) -> SafeString:
    if hidden:
        return state("todo", "hidden while you rate")
    verdicts = [one.verdict for one in decision.candidates.all()]
    return format_html_join(" ", "{}", [[state(findings.SHAPES[one], one)] for one in verdicts])


@get_page
def decision_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.decisions.select_related("baseline", "round").prefetch_related("candidates__run")
    hidden = findings.hidden(request.user, collection)
    listing = Listing(
        name="decisions",
        noun=("decision", "decisions"),
        columns=(
            Column(
                "name",
                "Decision",
                order="name",
                head=True,
                style="clip",
                url=lambda row: reverse("decision", args=[collection.slug, row.uuid]),
            ),
            Column(
                "verdict",
                "Verdict",
                value=lambda row: "" if row.pk in hidden else ", ".join(one.verdict for one in row.candidates.all()),
                show=lambda row: _verdict(row, row.pk in hidden),
            ),
            Column(
                "candidates", "Candidates", style="clip", value=lambda row: ", ".join(map(str, row.candidates.all()))
            ),
            Column("baseline", "Baseline", order="baseline__name", style="clip", value=lambda row: row.baseline.name),
            Column("metric", "Metric", order="metric"),
            Column("created_at", "Started", order="created_at", style="nowrap"),
        ),
        search=("name", "baseline__name", "metric"),
        order="-created_at",
    )
    lead = access.role_in(request.user, collection) in access.LEADS
    context = {"collection": collection, "step": "scores", "lead": lead}
    return answer(request, listing, rows, "evaluation/decisions/decisions.html", context)


def _decision(request: HttpRequest, slug: str, uuid: uuid_module.UUID, roles: tuple[str, ...]) -> Decision:
    return decisions.decision_for(access.collection_for(request.user, slug, roles), uuid)


@get_page
def decision(request: HttpRequest, slug: str, uuid: uuid_module.UUID) -> HttpResponse:
    """The state of a decision: live while raters work, then the verdict with its reasons."""
    row = _decision(request, slug, uuid, access.STAFF)
    context = {
        "collection": row.collection,
        "step": "scores",
        "decision": row,
        "lead": access.role_in(request.user, row.collection) in access.LEADS,
        "hidden": not findings.visible(request.user, row),
    }
    if not context["hidden"]:
        decisions.look(row)
        if row.round is not None:
            row.round.refresh_from_db()
        context |= findings.page(row)
        if (form := request.GET.get("format", "")) in FORMS:
            number = request.GET.get("candidate", "0")
            parts = context["parts"]
            part = parts[int(number)] if number.isdigit() and int(number) < len(parts) else parts[0]
            return picture(part.chart, f"{row.name} {part.run}", form)
    return render(request, "evaluation/decisions/decision.html", context)


@get_page
def report(request: HttpRequest, slug: str, uuid: uuid_module.UUID) -> HttpResponse:
    """Download the decision as one HTML file without references to other files."""
    row = _decision(request, slug, uuid, access.STAFF)
    if not findings.visible(request.user, row):
        return redirect("decision", slug, uuid)
    decisions.look(row)
    html = findings.report(row)
    return attachment(f"{slugify(row.name)}.html", html)


@post_action
def close(request: HttpRequest, slug: str, uuid: uuid_module.UUID) -> HttpResponse:
    """Close the round of a decision before the verdict."""
    row = _decision(request, slug, uuid, access.LEADS)
    with errors_as_messages(request):
        if row.round is None:
            raise NotValid("This decision has no round.")
        close_round(row.round, actor=request.user)  # type: ignore[arg-type]
        messages.success(request, "The round is closed.")
    return redirect("decision", slug, uuid)


@never_cache
@form_page
def lists_page(request: HttpRequest, slug: str, uuid: uuid_module.UUID) -> HttpResponse:
    """Compare whole lists, one query after the other, without the systems' names."""
    row = _decision(request, slug, uuid, access.EVERYBODY)
    user: Any = request.user
    judge = row.list_judges.select_related("decision__collection", "decision__baseline").filter(user=user).first()
    if request.method == "POST":
        with errors_as_messages(request):
            _answer_lists(request, row, judge)
        return redirect("decision_lists", slug, uuid)
    context = {
        "collection": row.collection,
        "step": "scores",
        "decision": row,
        "staff": access.role_in(user, row.collection) in access.STAFF,
        **list_preferences.page_context(judge),
    }
    return render(request, "evaluation/decisions/lists.html", context)


def _answer_lists(request: HttpRequest, row: Decision, judge: ListJudge | None) -> None:
    if judge is None or "begin" in request.POST:
        list_preferences.join(row, request.user)  # type: ignore[arg-type]
    elif "undo" in request.POST:
        list_preferences.undo(judge)
    else:
        queries = Query.objects.filter(collection=row.collection)
        query = access.existing(queries.filter(uuid=uuid_of(request.POST.get("query", ""))), "There is no such query.")
        candidates = row.candidates.filter(run__uuid=uuid_of(request.POST.get("candidate", "")))
        candidate = access.existing(candidates, "There is no such candidate.")
        list_preferences.prefer(judge, candidate, query, side=request.POST.get("side", ""))
