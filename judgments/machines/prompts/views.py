"""Prompt pages: the versions of a collection's prompts."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from judgments.guidelines import guidelines
from judgments.machines.prompts import prompts
from judgments.models import Collection, PromptVersion
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.lists import Listing, answer, how_many
from judgments.web.pages import get_page


def _asks(version: PromptVersion) -> str:
    return prompts.asks(prompts.template_of(version))


PROMPTS = Listing(
    name="prompts",
    noun=("version", "versions"),
    columns=(
        Column("name", "Prompt", order="name", head=True, style="clip", url=("prompt", "uuid")),
        Column("number", "Version", order="number", numeric=True),
        Column("asks", "Kind of answer", value=lambda row: prompts.ASKS[_asks(row)]),
        Column("note", "Changes", style="clip"),
        Column("judges", "Judges", order="judge_count", numeric=True, value="judge_count"),
        Column("created_by", "Written by", value=lambda row: str(row.created_by or "")),
        Column("created_at", "Created", order="created_at", style="nowrap"),
        Column("sha256", "SHA-256", show=lambda row: f"{row.sha256[:12]}…", style="id"),
    ),
    search=("name", "note"),
    order="-created_at",
)


@get_page.of_collection(access.STAFF)
def prompt_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    rows = collection.prompts.select_related("created_by").annotate(
        judge_count=how_many(collection.judges.all(), "prompt")
    )
    built_in = [(one, prompts.ASKS[prompts.asks(one)]) for one in prompts.BUILT_IN.values()]
    context = {"collection": collection, "step": "round", "built_in": built_in}
    return answer(request, PROMPTS, rows, "judgments/machines/prompts/prompts.html", context)


@get_page
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
        "asks": prompts.ASKS[_asks(row)],
        "for_battles": _asks(row) == prompts.BATTLE,
    }
    return render(request, "judgments/machines/prompts/prompt.html", context)


def _whole(version: PromptVersion) -> str:
    return f"{version.system}\n\n{version.prompt}" if version.system else version.prompt
