"""Tryout pages: write and try a prompt, and send a provider a test question."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from assay.core.errors import AssayError, NotFound, NotValid
from judgments.machines.prompts import prompts
from judgments.machines.prompts.forms import PromptForm
from judgments.machines.providers.views import reached
from judgments.machines.tryouts import tryouts
from judgments.machines.tryouts.forms import TryForm
from judgments.models import Collection
from judgments.web import access

# Messages for a trial without a valid answer.
FAILED = {
    "unparseable": "The model's answer could not be parsed.",
    "out_of_scale": "The model's answer is not on the scale.",
    "refused": "The model refused to answer.",
    "truncated": "The answer was cut off before it gave a result.",
    "blocked": "The provider withheld the answer.",
    "transport_error": "The provider did not answer.",
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def prompt_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Write a prompt, try it on real pairs, and store it as a version."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    trial = request.method == "POST" and request.POST.get("act") == "try"
    form = PromptForm(request.POST or None, initial=_start(collection, request.GET.get("from", "")))
    # Only a stored prompt needs a name.
    form.fields["name"].required = not trial
    trial_form = TryForm(request.POST if trial else None, collection=collection)
    tried: list[tryouts.Tryout] | None = None
    if request.method == "POST" and form.is_valid() and (not trial or trial_form.is_valid()):
        words = {name: form.cleaned_data[name] for name in ("name", "system", "prompt")}
        words["asking"] = form.cleaned_data["asks"]
        if trial:
            with form.telling():
                tried = tryouts.try_prompt(prompts.check(**words), viewer=request.user, **trial_form.options)
        else:
            with form.telling():
                made = prompts.add_version(collection, actor=request.user, note=form.cleaned_data["note"], **words)
                of_battles = prompts.asks(prompts.template_of(made)) == prompts.BATTLE
                who = "New pairwise comparisons" if of_battles else "New judges"
                messages.success(request, f"{made} created. {who} can use it.")
                return redirect("prompt", made.uuid)
    context: dict[str, Any] = {
        "collection": collection,
        "step": "round",
        "form": form,
        "trial": trial_form,
        "tried": None if tried is None else [(one, FAILED.get(one.outcome.name, "")) for one in tried],
        "places": prompts.FILLED_WITH,
        "can_try": collection.providers.exists() and collection.rounds.exists(),
    }
    return render(
        request, "judgments/machines/tryouts/prompt_new.html", context, status=max(form.status, trial_form.status)
    )


def _start(collection: Collection, named: str) -> dict[str, str]:
    """Return the initial text: that of a stored version or of a built-in prompt."""
    if named and named not in prompts.BUILT_IN:
        try:
            prompt = prompts.find(collection, named, None)
        except NotValid as error:
            raise NotFound("The prompt to start from does not exist.") from error
        words = {"name": prompt.template.name, "system": prompt.template.system, "prompt": prompt.template.prompt}
        return words | {"asks": prompt.asks}
    template = prompts.BUILT_IN[named or "graded"]
    return {"system": template.system, "prompt": template.prompt, "asks": prompts.asks(template) if named else ""}


@login_required
@require_POST
def provider_try(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection, row = reached(request, slug, uuid)
    named = request.POST.get("model", "")
    try:
        reply = tryouts.provider(
            row, named if row.offered(named) else row.models_offered[0]["name"], actor=request.user
        )
        message = f"{reply.model or row} answered in {reply.seconds:.1f} s: “{reply.text[:80].strip() or 'nothing'}”."
        if reply.left_out:
            message += f" It does not support {', '.join(reply.left_out)}, which was not sent."
        messages.success(request, message)
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("provider_change", collection.slug, row.uuid)
