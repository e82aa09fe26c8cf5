"""The critic of a sample set: estimate, caps, progress."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assay.core.errors import NotFound
from evaluation.models import RagCriticRun, RagSampleSet
from evaluation.rag import critics, scorecards
from evaluation.rag.critic_ledger import critic_of
from evaluation.rag.forms import CriticForm
from evaluation.rag.sample_sets import sample_set_of
from judgments.machines.caps_form import GoOnForm
from judgments.machines.judge_runs.views.judges import dollars, in_dollars, run_context, start_or_estimate
from judgments.web import access
from judgments.web.pages import form_page, post_action


@form_page
def critic(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Show the critic of a set, estimate its cost, and start a new critic."""
    row = sample_set_of(request, slug, uuid, access.LEADS)
    form = CriticForm(row.collection, request.POST if request.method == "POST" else None)
    run, estimate = start_or_estimate(
        request,
        form,
        lambda choice, caps: critics.start(row, choice, **caps, actor=request.user),  # type: ignore[arg-type]
        lambda choice, _: critics.look(row, choice),
    )
    if run is not None:
        messages.success(request, f"The {run} is running. You can leave this page.")
        return redirect("rag_critic", slug, row.uuid)
    context = {
        "collection": row.collection,
        "sample_set": row,
        "form": form,
        "estimate": estimate,
        "money": in_dollars(estimate),
        "providers": row.collection.providers.exists(),
        **_current(row, request.user),
    }
    return render(request, "evaluation/rag/critic.html", context, status=form.status)


def _current(row: RagSampleSet, reader: Any, go_on: GoOnForm | None = None) -> dict[str, object]:
    """Return the critic of the set with its progress."""
    run = critic_of(row)
    if run is None:
        return {}
    return {
        **run_context(run),
        "go_on": go_on or GoOnForm.of(run),
        "spent": dollars(run.spent_usd),
        "critic_hidden": scorecards.hides_critics(row, reader),
    }


def _run(request: HttpRequest, slug: str, uuid: str) -> RagCriticRun:
    run = critic_of(sample_set_of(request, slug, uuid, access.LEADS))
    if run is None:
        raise NotFound("This sample set has no critic.")
    return run


@post_action
def pause(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Stop the critic after the calls in progress have returned."""
    critics.pause(_run(request, slug, uuid), actor=request.user)  # type: ignore[arg-type]
    return redirect("rag_critic", slug, uuid)


@post_action
def go_on(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Send the unanswered questions, within new caps if they are given."""
    run = _run(request, slug, uuid)
    form = GoOnForm(request.POST)
    if form.is_valid():
        with form.telling():
            critics.go_on(run, **form.cleaned_data, actor=request.user)  # type: ignore[arg-type]
            messages.success(request, f"The {run} is running. You can leave this page.")
            return redirect("rag_critic", slug, uuid)
    row = run.sample_set
    context = {
        "collection": row.collection,
        "sample_set": row,
        "form": CriticForm(row.collection),
        "providers": True,
        **_current(row, request.user, form),
    }
    return render(request, "evaluation/rag/critic.html", context, status=form.status)
