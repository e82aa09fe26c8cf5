"""Home page: the user's collections and open rating work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from judgments.agreement import resolutions
from judgments.members import invitations, round_raters
from judgments.models import Membership, Query, Round, Snapshot
from judgments.rating import slot_search
from judgments.rating.rater_progress import own_part
from judgments.rating.views.station_data import outbox_data
from judgments.web import access
from judgments.web.lists import how_many
from judgments.web.pages import get_page


@dataclass(frozen=True)
class Work:
    """One open round with the reader's progress and the remaining work (`judgments.rating.rater_progress`)."""

    round: Round
    graded: int
    left: int
    part: int = 0
    held: bool = False

    @property
    def more(self) -> bool:
        """Whether there is something to rate now, or more may come."""
        return self.left > 0 or self.round.growing

    @property
    def all(self) -> int:
        return self.graded + self.part


@get_page
def home(request: HttpRequest) -> HttpResponse:
    memberships = (
        Membership.objects.filter(user_id=request.user.pk, collection__archived_at__isnull=True)
        .select_related("collection")
        .annotate(
            queries=how_many(Query.objects, "collection", to="collection"),
            open_rounds=how_many(Round.objects.filter(state=Round.State.OPEN), "collection", to="collection"),
            snapshots=how_many(Snapshot.objects, "collection", to="collection"),
        )
        .order_by("collection__name", "collection__slug")
    )
    staff = [membership for membership in memberships if membership.role in access.STAFF]
    context = {
        "memberships": memberships,
        "staff": staff,
        "may_create": access.may_create_collections(request.user),
        "work": open_work(request.user),
        "invitations": invitations.waiting_for(request.user),
        "joinable": round_raters.joinable(request.user),
        "settled": resolutions.rounds_with_resolutions(request.user),
        "data": outbox_data(request),
    }
    return render(request, "judgments/home/home.html", context)


def open_work(user: Any) -> list[Work]:
    """Return the open rounds in which the user rates, unfinished ones first."""
    rounds = Round.objects.open_to(user).filter(collection__memberships__user_id=user.pk).select_related("collection")
    work = []
    for round_ in rounds:
        part = own_part(round_, user)
        held = slot_search.leased(round_, timezone.now()).filter(rater=user).exists()
        work.append(Work(round_, part.answered, part.most, part.left, held))
    return sorted(work, key=lambda one: (not one.more, one.left == 0, one.round.opened_at or one.round.created_at))
