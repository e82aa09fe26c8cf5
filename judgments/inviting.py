"""Raters of a round: invite them, let them join, and let them leave."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from judgments import audit, examples
from judgments.core.errors import Conflict, NotAllowed, NotValid
from judgments.languages import covers
from judgments.models import AuditRow, Collection, Example, Judgment, Membership, Role, Round, RoundRater, Slot, User

RATE = (Role.RATER, Role.LEAD)
STAFF = (Role.LEAD, Role.ENGINEER)


@transaction.atomic
def invite(round_: Round, raters: Sequence[User], *, actor: User) -> None:
    """Ask more people to rate; the pseudonyms of those who are in stay as they are. Who had left is in again.

    Raises
    ------
    NotValid
        Somebody is no rater or lead of the collection, lacks the round's qualification, or could have read grades of
        the round already.
    """
    Round.objects.select_for_update().get(pk=round_.pk)
    _refuse_who_has_seen(round_, raters)
    present = set(round_.raters.filter(left_at__isnull=True).values_list("user_id", flat=True))
    new = [rater for rater in raters if rater.pk not in present]
    if not new:
        return
    ask(round_, new)
    names = ", ".join(rater.username for rater in new)
    sentence = f"{actor} asked {names} to rate in {round_}"
    audit.record("rounds.invite", sentence, actor=actor, collection=round_.collection, target=round_)


@transaction.atomic
def join(round_: Round, *, rater: User) -> RoundRater:
    """Come by a round that takes whoever fits. Joining twice is joining once.

    Raises
    ------
    NotAllowed
        The round asks its raters, or this one does not fit: the sentence says why.
    Conflict
        The round is not open, or whoever leads could have read its grades already.
    """
    round_ = Round.objects.select_for_update().get(pk=round_.pk)
    if (there := round_.raters.filter(user=rater, left_at__isnull=True).first()) is not None:
        return there
    if round_.state != Round.State.OPEN:
        raise Conflict(f"Round {round_} is {round_.state}: there is nothing to join.")
    member = Membership.objects.filter(collection=round_.collection_id, user=rater).first()
    if why := refusal(round_, member):
        raise NotAllowed(why)
    try:
        _refuse_who_has_seen(round_, [rater])
    except NotValid as seen:
        raise Conflict(str(seen)) from None
    ask(round_, [rater])
    sentence = f"{rater} joined round {round_}"
    audit.record("rounds.join", sentence, actor=rater, collection=round_.collection, target=round_)
    found: RoundRater = round_.raters.get(user=rater)
    return found


def refusal(round_: Round, member: Membership | None) -> str:
    """Why this member may not come by the round; empty where they may."""
    if member is None or member.role not in RATE:
        return f"Raters of the collection can join round {round_}; you are none."
    if not round_.walk_in:
        return f"Round {round_} takes those whom the lead asked. Ask the lead."
    if round_.qualification and round_.qualification not in member.qualifications:
        return (
            f"Round {round_} is for raters with the qualification {round_.qualification}. A lead can note it for you."
        )
    if round_.by_language and member.languages and not _reads_any(round_, member):
        there = ", ".join(sorted(language for language in round_.languages_made if language))
        return f"Round {round_} has queries in {there}; you read {', '.join(member.languages)}."
    return ""


def joinable(user: Any) -> list[Round]:
    """The open rounds that the user was not asked to rate in and may come by, the oldest first."""
    asked = RoundRater.objects.filter(user_id=user.pk, left_at__isnull=True)
    rounds = Round.objects.filter(state=Round.State.OPEN, walk_in=True, collection__memberships__user_id=user.pk)
    rounds = rounds.exclude(pk__in=asked.values("round")).select_related("collection").order_by("opened_at", "pk")
    members = {row.collection_id: row for row in Membership.objects.filter(user_id=user.pk)}
    return [one for one in rounds if not refusal(one, members.get(one.collection_id)) and not _barred(one, [user])]


def may_join(round_: Round, members: Iterable[Membership]) -> list[Membership]:
    """Those of the collection's members who take no part in the round and may still come by."""
    if not round_.walk_in or round_.state == Round.State.CLOSED:
        return []
    present = {*round_.raters.filter(left_at__isnull=True).values_list("user_id", flat=True)}
    fit = [row for row in members if row.user_id not in present and not refusal(round_, row)]
    seen = _barred(round_, [*User.objects.filter(pk__in=[row.user_id for row in fit])])
    return [row for row in fit if row.user_id not in seen]


@transaction.atomic
def leave(round_: Round, rater: User) -> None:
    """End a rater's part in a round. What they have in hand goes to others at once, and what they answered stays."""
    round_.raters.filter(user=rater, left_at__isnull=True).update(left_at=timezone.now())
    Slot.objects.filter(round=round_, rater=rater, filled_by__isnull=True).update(rater=None, lease_until=None)


def leave_all(collection: Collection, rater: User) -> None:
    """End a rater's part in every round of a collection that is not over."""
    for round_ in _asked_in(collection, rater):
        leave(round_, rater)


def leave_seen(collection: Collection, rater: User) -> None:
    """End the part of who is staff no more in the rounds whose grades they could read: they rate them blind no more."""
    for round_ in _asked_in(collection, rater):
        if _has_seen(round_, [rater]):
            leave(round_, rater)


def leave_who_has_seen(round_: Round) -> list[User]:
    """End the part of those raters of a round who could read its grades, and return them."""
    raters = list(User.objects.filter(invitations__round=round_, invitations__left_at__isnull=True))
    seen = _barred(round_, raters)
    gone = [rater for rater in raters if rater.pk in seen]
    for rater in gone:
        leave(round_, rater)
    return gone


def _asked_in(collection: Collection, rater: User) -> list[Round]:
    asked = RoundRater.objects.filter(user=rater, left_at__isnull=True, round__collection=collection)
    return [row.round for row in asked.exclude(round__state=Round.State.CLOSED).select_related("round")]


def is_rater(user: Any, round_: Round) -> bool:
    """Whether the user was asked to rate in this round and has not left."""
    return round_.raters.filter(user_id=user.pk, left_at__isnull=True).exists()


def ask(round_: Round, raters: Sequence[User]) -> None:
    """Write down that these may rate, each under a pseudonym; inside the caller's transaction.

    Raises
    ------
    NotValid
        Somebody is no rater or lead of the collection, or lacks the round's qualification.
    """
    members = Membership.objects.filter(collection=round_.collection_id, role__in=RATE)
    fit = dict(members.values_list("user_id", "qualifications"))
    _refuse(
        [rater for rater in raters if rater.pk not in fit],
        "Only raters and leads of the collection can rate.",
        "Add these as members with the role rater first",
    )
    _refuse(
        [rater for rater in raters if round_.qualification and round_.qualification not in fit[rater.pk]],
        f"This round is for raters with the qualification {round_.qualification}.",
        "Note it for these on the members page, or leave them out",
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


def _refuse(raters: Sequence[User], said: str, what_to_do: str) -> None:
    if raters:
        names = ", ".join(sorted(rater.username for rater in raters))
        raise NotValid(said, {"raters": f"{what_to_do}: {names}."})


def _refuse_who_has_seen(round_: Round, raters: Sequence[User]) -> None:
    """Staff see the grades of a round that they do not rate in; whoever has seen them cannot rate blind."""
    present = round_.raters.filter(left_at__isnull=True).values_list("user_id", flat=True)
    known = _has_seen(round_, [rater for rater in raters if rater.pk not in present])
    seen = sorted(rater.username for rater in raters if rater.pk in known)
    if seen:
        raise NotValid(
            "Whoever leads, or did since the first grade, could read this round's grades and cannot rate it blind.",
            {"raters": f"Ask these in the next round, before its first grade: {', '.join(seen)}."},
        )
    if not _draft(round_):
        refuse_who_reads(round_, raters)


def refuse_who_reads(round_: Round, raters: Sequence[User]) -> None:
    """Refuse raters to whom guidelines would tell a grade that they may still have to give.

    Raises
    ------
    NotValid
        The round's guidelines show a pair of another open round of theirs, or another round's show one of this round.
    """
    told = _told(round_, raters)
    names = sorted(rater.username for rater in raters if rater.pk in told)
    if names:
        raise NotValid(
            "The guidelines of one of the two rounds show the grade of a pair that is still to be graded in the other.",
            {"raters": f"Close the round with the older guidelines first, or leave these out: {', '.join(names)}."},
        )


def _barred(round_: Round, raters: Sequence[User]) -> set[int]:
    """Those who cannot rate the round blind: they could read its grades, or guidelines tell them one."""
    return _has_seen(round_, raters) | (set() if _draft(round_) else _told(round_, raters))


def _draft(round_: Round) -> bool:
    return round_.state == Round.State.DRAFT


def _told(round_: Round, raters: Sequence[User]) -> set[int]:
    """Those who rate, or rated, under other guidelines, where the newer ones tell a grade that they may still give."""
    if not raters or not Example.objects.filter(collection=round_.collection_id, version__isnull=False).exists():
        return set()
    asked = RoundRater.objects.filter(user__in=raters, round__collection=round_.collection_id)
    asked = asked.exclude(round=round_).exclude(round__state=Round.State.DRAFT)
    found = set()
    for row in asked.select_related("round__guidelines"):
        older, newer = sorted((round_, row.round), key=lambda one: one.guidelines.number)
        if older.state == Round.State.CLOSED or older.guidelines_id == newer.guidelines_id:
            continue
        shown = examples.told_between(older.guidelines, newer.guidelines)
        keys = older.pairs.filter(query__in={query for query, _ in shown}).values_list("pk", "query", "document")
        pairs = [pk for pk, query, document in keys if (query, document) in shown]
        given = Judgment.objects.current().filter(rater=row.user_id, pair__in=pairs)
        given = set(given.exclude(state=Judgment.State.LATER).values_list("pair", flat=True))
        free = Q(rater=row.user_id) | Q(filled_by__isnull=True)
        if Slot.objects.filter(free, pair__in=set(pairs) - given).exists():
            found.add(row.user_id)
    return found


def _has_seen(round_: Round, raters: Sequence[User]) -> set[int]:
    """Those of them who could read grades of the round: leads, and who was lead or engineer after its first grade."""
    if not raters or not _begun(round_):
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


def _begun(round_: Round) -> bool:
    counted = Q(state=Judgment.State.GRADED, surplus=False, superseded_by__isnull=True)
    return Judgment.objects.filter(counted, pair__round=round_).exists()


def _reads_any(round_: Round, member: Membership) -> bool:
    return any(not one or any(covers(tag, one) for tag in member.languages) for one in round_.languages_made)
