"""Raters of a round: invite them, let them join and leave; and the languages that they read."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from assay.core.errors import Conflict, NotAllowed, NotValid
from judgments import hooks
from judgments.events.events import emit
from judgments.models import (
    AuditRow,
    Collection,
    Example,
    Judgment,
    Membership,
    Role,
    Round,
    RoundRater,
    Slot,
    User,
    audit,
)

LONGEST = 35
MOST = 30
TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


def covers(read: str, wanted: str) -> bool:
    """Return whether a reader of one language reads the other: ``pt`` covers ``pt-BR``, but not the reverse."""
    return wanted.lower() == read.lower() or wanted.lower().startswith(f"{read.lower()}-")


def tags(texts: Iterable[str]) -> list[str]:
    """Return the language tags without whitespace and duplicates, in the given order."""
    unique = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    wrong = [text for text in unique if len(text) > LONGEST or not TAG.fullmatch(text)]
    if wrong or len(unique) > MOST:
        hint = f"Enter at most {MOST} language tags such as de or pt-BR."
        raise NotValid(
            f"The languages are not valid: {', '.join(wrong) or f'{len(unique)} tags'}. {hint}", {"languages": hint}
        )
    return unique


RATE = (Role.RATER, Role.LEAD)
STAFF = (Role.LEAD, Role.ENGINEER)


@transaction.atomic
def invite(round_: Round, raters: Sequence[User], *, actor: User) -> None:
    """Add raters to a round. Pseudonyms of current raters do not change; former raters return."""
    locked = Round.objects.select_for_update().get(pk=round_.pk)
    _refuse_who_has_seen(round_, raters)
    present = set(round_.raters.filter(left_at__isnull=True).values_list("user_id", flat=True))
    new = [rater for rater in raters if rater.pk not in present]
    if not new:
        return
    ask(round_, new)
    names = ", ".join(rater.username for rater in new)
    audit.record("rounds.invite", f"{actor} added {names} as raters of {round_}", actor=actor, target=round_)
    if locked.state == Round.State.OPEN:
        notify_of_work(round_, new, actor=actor)


def current_raters(round_: Round) -> list[User]:
    return list(User.objects.filter(invitations__round=round_, invitations__left_at__isnull=True))


def notify_of_work(round_: Round, raters: Sequence[User], *, actor: User) -> None:
    """Notify raters that an open round has work for them."""
    if raters:
        emit(
            "work.waiting",
            round_.collection,
            text=f"Round {round_} of {round_.collection} is open for rating.",
            page=reverse("rate", args=[round_.uuid]),
            data={"round": str(round_.uuid), "name": round_.name},
            raters=raters,
            actor=actor,
        )


@transaction.atomic
def join(round_: Round, *, rater: User) -> RoundRater:
    """Join a round that is open to all suitable raters. Joining twice changes nothing."""
    round_ = Round.objects.select_for_update().get(pk=round_.pk)
    if (there := round_.raters.filter(user=rater, left_at__isnull=True).first()) is not None:
        return there
    if round_.state != Round.State.OPEN:
        raise Conflict(f"Round {round_} is {round_.state}. You can only join open rounds.")
    member = Membership.objects.filter(collection=round_.collection_id, user=rater).first()
    if why := refusal(round_, member):
        raise NotAllowed(why)
    try:
        _refuse_who_has_seen(round_, [rater])
    except NotValid as seen:
        raise Conflict(str(seen)) from None
    ask(round_, [rater])
    audit.record("rounds.join", f"{rater} joined round {round_}", actor=rater, target=round_)
    assignment: RoundRater = round_.raters.get(user=rater)
    return assignment


def refusal(round_: Round, member: Membership | None) -> str:
    """Return why this member may not join the round; empty if they may."""
    if member is None or member.role not in RATE:
        return f"Only raters of the collection can join round {round_}."
    if not round_.walk_in:
        return f"Only invited raters can join round {round_}. Ask the lead for an invitation."
    if round_.qualification and round_.qualification not in member.qualifications:
        return f"Round {round_} requires the qualification {round_.qualification}. Ask a lead to set it for you."
    reads = any(not one or any(covers(tag, one) for tag in member.languages) for one in round_.languages_made)
    if round_.by_language and member.languages and not reads:
        there = ", ".join(sorted(language for language in round_.languages_made if language))
        return f"Round {round_} has queries in {there}, but you read {', '.join(member.languages)}."
    return ""


def joinable(user: Any) -> list[Round]:
    """Return the open rounds that the user may join, oldest first."""
    assignments = RoundRater.objects.filter(user_id=user.pk, left_at__isnull=True)
    rounds = Round.objects.filter(state=Round.State.OPEN, walk_in=True, collection__memberships__user_id=user.pk)
    rounds = rounds.exclude(pk__in=assignments.values("round")).select_related("collection").order_by("opened_at", "pk")
    members = {row.collection_id: row for row in Membership.objects.filter(user_id=user.pk)}
    return [one for one in rounds if not refusal(one, members.get(one.collection_id)) and not _barred(one, [user])]


def may_join(round_: Round, members: Iterable[Membership]) -> list[Membership]:
    """Return the members of the collection who are not in the round and may join it."""
    if not round_.walk_in or round_.state == Round.State.CLOSED:
        return []
    present = {*round_.raters.filter(left_at__isnull=True).values_list("user_id", flat=True)}
    fit = [row for row in members if row.user_id not in present and not refusal(round_, row)]
    seen = _barred(round_, [*User.objects.filter(pk__in=[row.user_id for row in fit])])
    return [row for row in fit if row.user_id not in seen]


@transaction.atomic
def leave(round_: Round, rater: User) -> None:
    """Remove a rater from a round. Their leased pairs become free immediately; their judgments stay."""
    round_.raters.filter(user=rater, left_at__isnull=True).update(left_at=timezone.now())
    Slot.objects.filter(round=round_, rater=rater, filled_by__isnull=True).update(rater=None, lease_until=None)


def leave_all(collection: Collection, rater: User, *, seen_only: bool = False) -> None:
    """Remove a rater from the rounds of a collection that are not closed, or only from those whose grades they saw."""
    assignments = RoundRater.objects.filter(user=rater, left_at__isnull=True, round__collection=collection)
    for row in assignments.exclude(round__state=Round.State.CLOSED).select_related("round"):
        if not seen_only or _has_seen(row.round, [rater]):
            leave(row.round, rater)


def leave_who_has_seen(round_: Round) -> list[User]:
    """Remove the raters of a round who could see its grades, and return them."""
    raters = list(User.objects.filter(invitations__round=round_, invitations__left_at__isnull=True))
    seen = _barred(round_, raters)
    gone = [rater for rater in raters if rater.pk in seen]
    for rater in gone:
        leave(round_, rater)
    return gone


def is_rater(user: Any, round_: Round) -> bool:
    return round_.raters.filter(user_id=user.pk, left_at__isnull=True).exists()


def ask(round_: Round, raters: Sequence[User]) -> None:
    """Create the raters' assignments with pseudonyms, inside the caller's transaction."""
    members = Membership.objects.filter(collection=round_.collection_id, role__in=RATE)
    fit = dict(members.values_list("user_id", "qualifications"))
    _refuse(
        [rater for rater in raters if rater.pk not in fit],
        "Only raters and leads of the collection can rate.",
        "First add these users as members with the role rater",
    )
    _refuse(
        [rater for rater in raters if round_.qualification and round_.qualification not in fit[rater.pk]],
        f"This round requires the qualification {round_.qualification}.",
        "Set it for these users on the Members page, or leave them out",
    )
    saw_lists = _saw_lists(round_, raters)
    _refuse(
        [rater for rater in raters if rater.pk in saw_lists],
        "Users who have compared result lists of this round's queries cannot rate its documents blind.",
        "Leave out these users",
    )
    keys = {rater.pk for rater in raters}
    round_.raters.filter(user__in=keys, left_at__isnull=False).update(left_at=None)
    present = set(round_.raters.values_list("user_id", flat=True))
    new = sorted(keys - present)
    seed = f"{round_.seed} raters {len(present)}" if present else f"{round_.seed} raters"
    random.Random(seed).shuffle(new)  # noqa: S311 - a pseudonym says nothing about names, and can be drawn again
    RoundRater.objects.bulk_create(
        RoundRater(round=round_, user_id=pk, pseudonym=f"r{number:02d}")
        for number, pk in enumerate(new, len(present) + 1)
    )


def _refuse(raters: Sequence[User], problem: str, what_to_do: str) -> None:
    if raters:
        names = ", ".join(sorted(rater.username for rater in raters))
        raise NotValid(problem, {"raters": f"{what_to_do}: {names}."})


def _refuse_who_has_seen(round_: Round, raters: Sequence[User]) -> None:
    """Refuse raters who could see the round's grades as leads or engineers, because they cannot rate blind."""
    present = round_.raters.filter(left_at__isnull=True).values_list("user_id", flat=True)
    known = _has_seen(round_, [rater for rater in raters if rater.pk not in present])
    _refuse(
        [rater for rater in raters if rater.pk in known],
        "Users who were leads or engineers after the first grade could see this round's grades, so they cannot rate "
        "it blind.",
        "Add these users to the next round before its first grade",
    )
    if round_.state != Round.State.DRAFT:
        refuse_readers(round_, raters)


def refuse_readers(round_: Round, raters: Sequence[User]) -> None:
    """Refuse raters to whom guidelines would reveal a grade of a pair that they may still grade."""
    exposed = _readers(round_, raters)
    names = sorted(rater.username for rater in raters if rater.pk in exposed)
    if names:
        raise NotValid(
            "The guidelines of one round show the grade of a pair that these raters have yet to grade in another "
            "round.",
            {"raters": f"Close the round with the older guidelines first, or leave out {', '.join(names)}."},
        )


def _barred(round_: Round, raters: Sequence[User]) -> set[int]:
    """Return the users who cannot rate the round blind: they could see its grades, or guidelines reveal one."""
    seen = _has_seen(round_, raters) | _saw_lists(round_, raters)
    return seen | (set() if round_.state == Round.State.DRAFT else _readers(round_, raters))


def _saw_lists(round_: Round, raters: Sequence[User]) -> set[int]:
    return {key for saw in hooks.LISTS_SEEN for key in saw(round_, raters)} if raters else set()


def _readers(round_: Round, raters: Sequence[User]) -> set[int]:
    """Return the users with other guidelines, if the newer ones reveal a grade of a pair that they may still grade."""
    if not raters or not Example.objects.filter(collection=round_.collection_id, version__isnull=False).exists():
        return set()
    assignments = RoundRater.objects.filter(user__in=raters, round__collection=round_.collection_id)
    assignments = assignments.exclude(round=round_).exclude(round__state=Round.State.DRAFT)
    exposed = set()
    for row in assignments.select_related("round__guidelines"):
        older, newer = sorted((round_, row.round), key=lambda one: one.guidelines.number)
        if older.state == Round.State.CLOSED or older.guidelines_id == newer.guidelines_id:
            continue
        shown = Example.objects.pairs_read_in(newer.guidelines) - Example.objects.pairs_read_in(older.guidelines)
        keys = older.pairs.filter(query__in={query for query, _ in shown}).values_list("pk", "query", "document")
        pairs = [pk for pk, query, document in keys if (query, document) in shown]
        given = Judgment.objects.current().filter(rater=row.user_id, pair__in=pairs)
        given = set(given.exclude(state=Judgment.State.LATER).values_list("pair", flat=True))
        free = Q(rater=row.user_id) | Q(filled_by__isnull=True)
        if Slot.objects.filter(free, pair__in=set(pairs) - given).exists():
            exposed.add(row.user_id)
    return exposed


def _has_seen(round_: Round, raters: Sequence[User]) -> set[int]:
    """Return the users who could see the round's grades: leads, and leads or engineers since its first grade."""
    counted = Q(state=Judgment.State.GRADED, surplus=False, superseded_by__isnull=True)
    if not raters or not Judgment.objects.filter(counted, pair__round=round_).exists():
        return set()
    members = Membership.objects.filter(collection=round_.collection_id, user__in=raters)
    seen = set(members.filter(role__in=STAFF).values_list("user_id", flat=True))
    graded = Judgment.objects.of_round(round_).filter(state=Judgment.State.GRADED)
    since = graded.order_by("pk").values_list("created_at", flat=True).first()
    acts = AuditRow.objects.filter(collection=round_.collection_id, at__gte=since)
    acts = acts.filter(
        Q(verb="collections.change_role", detail__before__in=STAFF)
        | Q(verb="collections.remove_member", detail__role__in=STAFF)
    )
    before = set(acts.filter(target_uuid__in=[one.uuid for one in raters]).values_list("target_uuid", flat=True))
    return seen | {rater.pk for rater in raters if rater.uuid in before}
