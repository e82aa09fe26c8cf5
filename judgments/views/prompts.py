"""Prompt pages: the versions of a collection's prompts, and the form to write and try a new one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from judgments import access, guidelines, prompts_kept, trying
from judgments.core.errors import NotFound, NotValid
from judgments.judge_forms import PromptForm, TryForm
from judgments.models import Collection, PromptVersion
from judgments.views.lists import Column, Listing, answer, how_many


def _asks(version: PromptVersion) -> str:
    return prompts_kept.asks(prompts_kept.template_of(version))


PROMPTS = Listing(
    name="prompts",
    noun=("version", "versions"),
    columns=(
        Column(
            "name",
            "Prompt",
            order="name",
            head=True,
            style="clip",
            url=lambda row: reverse("prompt", args=[row.uuid]),
        ),
        Column("number", "Version", order="number", numeric=True),
        Column("asks", "Asks for", value=lambda row: prompts_kept.ASKS[_asks(row)]),
        Column("note", "What is new", style="clip"),
        Column("judges", "Judges", order="judge_count", numeric=True, value=lambda row: row.judge_count),
        Column("created_by", "Written by", value=lambda row: str(row.created_by or "")),
        Column("created_at", "When", order="created_at", style="nowrap"),
        Column("sha256", "SHA-256", show=lambda row: f"{row.sha256[:12]}…", style="id"),
    ),
    search=("name", "note"),
    order="-created_at",
)

# What a trial says of an answer that is none.
FAILED = {
    "unparseable": "No answer could be read in what the model wrote.",
    "out_of_scale": "What the model answered is not on the scale.",
    "refused": "The model refused to answer.",
    "truncated": "The answer was cut off before it said anything.",
    "blocked": "The provider held the answer back.",
    "transport_error": "No answer came.",
}


@login_required
@require_safe
def prompt_list(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    rows = collection.prompts.select_related("created_by").annotate(
        judge_count=how_many(collection.judges.all(), "prompt")
    )
    built_in = [(one, prompts_kept.ASKS[prompts_kept.asks(one)]) for one in prompts_kept.BUILT_IN.values()]
    context = {"collection": collection, "step": "round", "built_in": built_in}
    return answer(request, PROMPTS, rows, "judgments/prompts.html", context)


@login_required
@require_safe
def prompt(request: HttpRequest, uuid: str) -> HttpResponse:
    rows = PromptVersion.objects.select_related("collection", "created_by")
    row = access.reach(rows, request.user, access.STAFF, uuid=uuid)
    before = row.collection.prompts.filter(name=row.name, number__lt=row.number).order_by("-number").first()
    context = {
        "collection": row.collection,
        "step": "round",
        "version": row,
        "before": before,
        "difference": guidelines.difference_of_texts(_whole(before), _whole(row)) if before else "",
        "judges": row.judges.order_by("name"),
        "battles": row.battle_runs.select_related("round").defer("drawn").order_by("round__name", "number"),
        "asks": prompts_kept.ASKS[_asks(row)],
        "for_battles": _asks(row) == prompts_kept.BATTLE,
    }
    return render(request, "judgments/prompt.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def prompt_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Words are typed, tried on real pairs as often as one likes, and stored as a version."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    trial = request.method == "POST" and request.POST.get("act") == "try"
    form = PromptForm(request.POST or None, initial=_start(collection, request.GET.get("from", "")))
    # A name is for words that are stored.
    form.fields["name"].required = not trial
    asked = TryForm(request.POST if trial else None, collection=collection)
    tried: list[trying.Tried] | None = None
    if request.method == "POST" and form.is_valid() and (not trial or asked.is_valid()):
        words = {name: form.cleaned_data[name] for name in ("name", "system", "prompt")}
        words["asking"] = form.cleaned_data["asks"]
        if trial:
            with form.telling():
                tried = trying.prompt(prompts_kept.check(**words), viewer=request.user, **asked.asked)
        else:
            with form.telling():
                made = prompts_kept.add_version(collection, actor=request.user, note=form.cleaned_data["note"], **words)
                who = "Battles that are drawn" if _asks(made) == prompts_kept.BATTLE else "Judges that are made"
                messages.success(request, f"{made} is there. {who} from now on can use it.")
                return redirect("prompt", made.uuid)
    context: dict[str, Any] = {
        "collection": collection,
        "step": "round",
        "form": form,
        "trial": asked,
        "tried": None if tried is None else [(one, FAILED.get(one.outcome.name, "")) for one in tried],
        "places": prompts_kept.FILLED_WITH,
        "can_try": collection.providers.exists() and collection.rounds.exists(),
    }
    return render(request, "judgments/prompt_new.html", context, status=max(form.status, asked.status))


def _start(collection: Collection, named: str) -> dict[str, str]:
    """The words that one begins with: those of a version, or of a prompt that comes with Assay."""
    if named and named not in prompts_kept.BUILT_IN:
        try:
            found = prompts_kept.find(collection, named, None)
        except NotValid as error:
            raise NotFound("There is no such prompt to begin with.") from error
        words = {"name": found.template.name, "system": found.template.system, "prompt": found.template.prompt}
        return words | {"asks": found.asks}
    template = prompts_kept.BUILT_IN[named or "graded"]
    return {"system": template.system, "prompt": template.prompt, "asks": prompts_kept.asks(template) if named else ""}


def _whole(version: PromptVersion) -> str:
    return f"{version.system}\n\n{version.prompt}" if version.system else version.prompt
