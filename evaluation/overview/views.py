"""Overview page of a collection, with the team's next action."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation.overview import method_checklist, stages
from evaluation.overview.cards import Card, cards
from evaluation.overview.collection_state import Standing
from evaluation.overview.next_step import Look, Next, next_act, waits_for_lead
from judgments.models import AuditRow, Role
from judgments.web import access
from judgments.web.pages import get_page

LATEST = 6


@get_page
def collection_page(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    role = access.role_in(request.user, collection)
    standing = Standing(collection, request.user)
    look = Look(standing, request.user, role)
    context = {"collection": collection, "lead": role == Role.LEAD}
    if standing.nothing:
        context["ahead"] = [replace(card, act=None) for card in _cards(look, None) if card.step.key in AHEAD]
        return render(request, "evaluation/overview/empty.html", context)
    due, checks = next_act(look), method_checklist.checks(collection, standing)
    context |= {"next": due, "waits": waits_for_lead(look), "cards": _cards(look, due)}
    context |= {
        "checks": checks,
        "passed": method_checklist.count_passed(checks),
        "activity": list(AuditRow.objects.filter(collection=collection)[:LATEST]),
    }
    return render(request, "evaluation/overview/collection.html", context)


# Introduction of the steps on the page of an empty collection.
AHEAD = ("runs", "pool", "round", "snapshot")


def _cards(look: Look, due: Next | None) -> list[Card]:
    return cards(look, stages.refresh(look.standing), due)
