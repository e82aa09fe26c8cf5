"""Which collections are mine, and what is there for me to rate?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from judgments import access
from judgments.models import Judgment, Membership, Round, Slot


@dataclass(frozen=True)
class Work:
    """One open round with how much the reader has done in it and how much could still be handed to them."""

    round: Round
    graded: int
    left: int

    @property
    def all(self) -> int:
        return self.graded + self.left


@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    memberships = (
        Membership.objects.filter(user_id=request.user.pk)
        .select_related("collection")
        .annotate(
            queries=Count("collection__queries", distinct=True),
            open_rounds=Count(
                "collection__rounds", filter=Q(collection__rounds__state=Round.State.OPEN), distinct=True
            ),
            snapshots=Count("collection__snapshots", distinct=True),
        )
        .order_by("collection__name", "collection__slug")
    )
    staff = [membership for membership in memberships if membership.role in access.STAFF]
    context = {"memberships": memberships, "staff": staff, "work": open_work(request.user)}
    return render(request, "judgments/home.html", context)


def open_work(user: Any) -> list[Work]:
    """The open rounds that ask the user for ratings, the unfinished ones first."""
    rounds = Round.objects.open_to(user).filter(collection__memberships__user_id=user.pk).select_related("collection")
    work = [Work(round_, _graded(round_, user), _left(round_, user)) for round_ in rounds]
    return sorted(work, key=lambda one: (one.left == 0, one.round.opened_at or one.round.created_at))


def _answers(round_: Round, user: Any) -> Any:
    return Judgment.objects.current().filter(pair__round=round_, rater_id=user.pk)


def _graded(round_: Round, user: Any) -> int:
    return _answers(round_, user).exclude(state=Judgment.State.LATER).count()


def _left(round_: Round, user: Any) -> int:
    """Pairs with a free or own place that the user has not answered for good."""
    settled = _answers(round_, user).exclude(state=Judgment.State.LATER).filter(pair=OuterRef("pair"))
    places = Slot.objects.filter(round=round_, filled_by__isnull=True).filter(Q(rater__isnull=True) | Q(rater=user.pk))
    return places.exclude(Exists(settled)).values("pair").distinct().count()
