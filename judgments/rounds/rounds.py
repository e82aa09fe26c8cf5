"""Create, open, extend, close and reopen rounds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, Max
from django.urls import reverse
from django.utils import timezone

from assay.core.errors import Closed, Conflict, NotValid
from assay.core.text_rules import amount
from judgments import hooks
from judgments.events.events import emit
from judgments.guidelines.guidelines import latest
from judgments.members.round_raters import (  # noqa: F401
    ask,
    current_raters,
    invite,
    is_rater,
    leave_who_has_seen,
    notify_of_work,
    refuse_readers,
)
from judgments.models import (
    Collection,
    Document,
    Example,
    GuidelinesVersion,
    Judgment,
    Pair,
    Query,
    Role,
    Round,
    Slot,
    User,
    audit,
)
from judgments.models.fields import duplicates_raise
from judgments.rounds.settings import RoundSettings, make_scale

LONGEST_NAME = 120


def newer_guidelines(round_: Round) -> GuidelinesVersion | None:
    """Return the newest version of the guidelines if it is newer than the round's."""
    newest = latest(round_.collection, round_.dimension)
    return newest if newest is not None and newest.number > round_.guidelines.number else None


def judged_again(round_: Round) -> Round | None:
    """Return the round that judges this round's overlap again, unless there are newer guidelines."""
    later = round_.collection.rounds.filter(provenance__judged_again__round=round_.name)
    latest = later.select_related("guidelines").order_by("-created_at", "-pk").first()
    newest = newer_guidelines(round_)
    return latest if latest is not None and (newest is None or newest.number <= latest.guidelines.number) else None


@transaction.atomic
def rejudge_overlap(round_: Round, *, actor: User) -> Round:
    """Create a draft round of the pairs with two or more grades, for the same raters under the newest guidelines."""
    version = newer_guidelines(round_)
    if version is None:
        message = f"{round_} was judged under the newest guidelines, {round_.guidelines}. Write a new version first."
        raise Conflict(message, "guidelines")
    counted = Judgment.objects.counted().of_round(round_).order_by()
    twice = counted.values("pair").annotate(grades=Count("pk")).filter(grades__gte=2)
    pairs = list(round_.pairs.filter(pk__in=twice.values("pair")).select_related("query", "document"))
    if not pairs:
        raise Conflict(f"No pair of {round_} has two grades yet, so there is no overlap to judge again.")
    made = draft_of(
        round_,
        pairs,
        origin={"judged_again": {"round": round_.name}},
        actor=actor,
        suffix="overlap again",
        guidelines=version,
        ratings_per_pair=max(2, round_.ratings_per_pair),
        overlap=1.0,
    )
    sentence = f"{actor} created round {made} to judge {amount(len(pairs), 'overlapping pair')} of {round_} again"
    audit.record("rejudging.rejudge_overlap", sentence, actor=actor, target=made)
    return made


def draft_of(
    round_: Round,
    pairs: Sequence[Pair],
    *,
    origin: Mapping[str, Any],
    actor: User,
    raters: Sequence[User] | None = None,
    suffix: str = "for people",
    **changes: Any,
) -> Round:
    """Create a draft round of some pairs of a round; raters, scale and guidelines are the same unless given."""
    ordered = sorted(pairs, key=lambda pair: pair.position)
    same = {name: getattr(round_, name) for name in ("guidelines", "ratings_per_pair", "overlap", "seed", "dimension")}
    return create_round(
        round_.collection,
        name=_free_name(round_, suffix),
        # The reason for the choice is left out, because it would reveal machine results.
        candidates=[Candidate(pair.query, pair.document, pair.origin) for pair in ordered],
        provenance={**round_.provenance, "pairs": len(ordered), **origin},
        actor=actor,
        grades=list(round_.scale.grades.order_by("value").values_list("value", "label", "cue")),
        relevant_from=round_.scale.relevant_from,
        settings=RoundSettings.of(round_),
        raters=still_raters(round_) if raters is None else raters,
        **{**same, **changes},
    )


def still_raters(round_: Round) -> list[User]:
    """Return the round's raters who may still rate in it."""
    invited = User.objects.filter(invitations__round=round_, invitations__left_at__isnull=True, is_active=True)
    may = invited.filter(memberships__collection=round_.collection, memberships__role__in=[Role.RATER, Role.LEAD])
    return list(may.order_by("username"))


def _free_name(round_: Round, suffix: str) -> str:
    taken = set(round_.collection.rounds.values_list("name", flat=True))
    stem, number = f"{round_.name[: LONGEST_NAME - 20]}, {suffix}", 1
    while (name := stem if number == 1 else f"{stem} {number}") in taken:
        number += 1
    return name


BATCH = 2_000


class Candidate(NamedTuple):
    """A pair that was chosen for judging, with its origin."""

    query: Query
    document: Document
    origin: dict[str, Any]


def by_query(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return each pair once, grouped by query, with the queries in their original order."""
    queries: dict[int, dict[int, Candidate]] = {}
    for candidate in candidates:
        queries.setdefault(candidate.query.pk, {}).setdefault(candidate.document.pk, candidate)
    return [candidate for documents in queries.values() for candidate in documents.values()]


def add_pairs(round_: Round, chosen: list[Candidate]) -> None:
    """Add pairs to the round after its existing pairs."""
    last = round_.pairs.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    wanted = _ratings_wanted(len(chosen), round_, first)
    for begin in range(0, len(chosen), BATCH):
        pairs = Pair.objects.bulk_create(
            Pair(
                round=round_,
                query=candidate.query,
                document=candidate.document,
                origin=candidate.origin,
                position=first + place,
                ratings_wanted=wanted[place],
            )
            for place, candidate in enumerate(chosen[begin : begin + BATCH], begin)
        )
        Slot.objects.bulk_create(
            Slot(round=round_, pair=pair, position=pair.position, number=number, language=pair.query.language)
            for pair in pairs
            for number in range(1, pair.ratings_wanted + 1)
        )
    languages = Counter(round_.languages_made)
    languages.update(candidate.query.language for candidate in chosen)
    round_.pairs_made, round_.slots_made = round_.pairs_made + len(chosen), round_.slots_made + sum(wanted)
    round_.languages_made = dict(languages)
    round_.save(update_fields=["pairs_made", "slots_made", "languages_made"])


def _ratings_wanted(pairs: int, round_: Round, before: int) -> list[int]:
    """Return the ratings per pair: k for a seeded share of the pairs, one for the rest. Raters cannot see which."""
    overlapping = round((before + pairs) * round_.overlap) - round(before * round_.overlap)
    text = f"{round_.seed} overlap {before}" if before else f"{round_.seed} overlap"
    picked = set(random.Random(text).sample(range(pairs), overlapping))  # noqa: S311
    return [round_.ratings_per_pair if place in picked else 1 for place in range(pairs)]


@transaction.atomic
def create_round(
    collection: Collection,
    *,
    name: str,
    candidates: Iterable[Candidate],
    provenance: dict[str, Any],
    guidelines: GuidelinesVersion,
    actor: User,
    grades: Sequence[tuple[int, str, str]] | None = None,
    relevant_from: int | None = None,
    ratings_per_pair: int | None = None,
    overlap: float | None = None,
    settings: RoundSettings | None = None,
    raters: Sequence[User] = (),
    seed: int = 1,
    most_pairs: int | None = None,
    dimension: str = "",
) -> Round:
    """Create a draft round from chosen pairs, with its slots and raters."""
    taken = _check_name(collection, name.strip())
    given = {"ratings_per_pair": ratings_per_pair, "overlap": overlap}
    settings = replace(settings or RoundSettings(), **{one: value for one, value in given.items() if value is not None})
    scale = make_scale(collection, grades, relevant_from=relevant_from)
    settings.check(scale.values())
    whole = by_query(candidates)
    chosen = _unread(whole, guidelines)
    if not chosen:
        message = "The guidelines show the grades of all of these pairs as examples." if whole else ""
        raise NotValid("A round needs at least one pair.", {"pool": message or "This pool is empty."})
    if len(chosen) < len(whole):
        provenance = {**provenance, "examples_left_out": len(whole) - len(chosen)}
    if most_pairs is not None and most_pairs <= len(chosen):
        message = (
            f"The round already has {amount(len(chosen), 'pair')}. Enter a larger number, or leave the field empty."
        )
        raise NotValid(message, "most_pairs")
    with duplicates_raise(taken):
        round_ = Round.objects.create(
            collection=collection,
            name=name.strip(),
            dimension=dimension,
            scale=scale,
            guidelines=guidelines,
            seed=seed,
            provenance=provenance,
            most_pairs=most_pairs,
            growing=most_pairs is not None,
            created_by=actor,
            **settings.as_dict(),
        )
    add_pairs(round_, chosen)
    ask(round_, raters)
    left_out = len(whole) - len(chosen)
    more = f", without {amount(left_out, 'pair')} that its guidelines show as examples" if left_out else ""
    sentence = f"{actor} created round {round_} with {amount(len(chosen), 'pair')}{more}"
    audit.record("rounds.create_round", sentence, actor=actor, target=round_, seed=seed)
    return round_


@transaction.atomic
def open_round(round_: Round, *, actor: User) -> Round:
    """Open a draft, so that raters can start. A closed round cannot be opened."""
    round_ = Round.objects.select_for_update().get(pk=round_.pk)
    if round_.state != Round.State.DRAFT:
        raise Conflict(f"Round {round_} is {round_.state}; only a draft can be opened.")
    if not round_.raters.exists() and not round_.invite_links.exists():
        raise NotValid(
            "The round has no raters.", {"raters": "Invite at least one rater; measuring agreement needs two."}
        )
    refuse_readers(round_, [*User.objects.filter(invitations__round=round_, invitations__left_at__isnull=True)])
    round_.state, round_.opened_at = Round.State.OPEN, timezone.now()
    round_.save(update_fields=["state", "opened_at"])
    audit.record("rounds.open_round", f"{actor} opened round {round_}", actor=actor, target=round_)
    notify_of_work(round_, current_raters(round_), actor=actor)
    hooks.notify_choosers(round_)
    return round_


@transaction.atomic
def append_pairs(round_: Round, *, candidates: Iterable[Candidate]) -> int:
    """Add pairs to a growing round after its existing pairs, by the round's rules for slots and overlap."""
    round_ = Round.objects.select_for_update().get(pk=round_.pk)
    if round_.state == Round.State.CLOSED:
        raise Closed(f"Round {round_} is closed and accepts no more pairs.")
    if not round_.growing or round_.most_pairs is None:
        raise Conflict(f"The pairs of round {round_} are fixed. Create a new round for other pairs.")
    chosen = _unread(by_query(candidates), round_.guidelines)
    pairs = round_.pairs.filter(query__in={one.query.pk for one in chosen})
    present = set(pairs.values_list("query_id", "document_id"))
    new = [one for one in chosen if (one.query.pk, one.document.pk) not in present]
    has = round_.pairs.count()
    if has + len(new) > round_.most_pairs:
        raise Conflict(
            f"Round {round_} has {has:,} of at most {amount(round_.most_pairs, 'pair')}; "
            f"{amount(len(new), 'more pair exceeds', 'more pairs exceed')} this limit."
        )
    if not new:
        return 0
    add_pairs(round_, new)
    if "pairs" in round_.provenance:
        round_.provenance["pairs"] = has + len(new)
        round_.save(update_fields=["provenance"])
    sentence = f"The server added {amount(len(new), 'pair')} to round {round_}, {has + len(new):,} in total"
    audit.record("rounds.append_pairs", sentence, actor=None, target=round_)
    return len(new)


@transaction.atomic
def stop_growing(round_: Round, *, why: str, actor: User | None) -> Round:
    """Mark the pairs of a growing round as complete; raters can still rate them. A repeated call has no effect."""
    round_ = Round.objects.select_for_update().get(pk=round_.pk)
    if round_.growing:
        round_.growing = False
        round_.save(update_fields=["growing"])
        sentence = f"The pairs of round {round_} are complete: {why}"
        audit.record("rounds.stop_growing", sentence, actor=actor, target=round_)
    return round_


@transaction.atomic
def close_round(round_: Round, *, actor: User) -> Round:
    """Close a round after answers that are being written; these lock their pairs and come first."""
    list(Pair.objects.select_for_update(no_key=True).filter(round=round_).order_by("pk").values_list("pk"))
    round_ = Round.objects.select_for_update().get(pk=round_.pk)
    if round_.state != Round.State.OPEN:
        raise Conflict(f"Round {round_} is {round_.state}; only an open round can be closed.")
    round_.state, round_.closed_at, round_.growing = Round.State.CLOSED, timezone.now(), False
    round_.save(update_fields=["state", "closed_at", "growing"])
    audit.record("rounds.close_round", f"{actor} closed round {round_}", actor=actor, target=round_)
    emit(
        "round.closed",
        round_.collection,
        text=f"Round {round_} was closed.",
        page=reverse("round", args=[round_.uuid]),
        data={"round": str(round_.uuid), "name": round_.name},
        raters=current_raters(round_),
        rater_page=reverse("home"),
        actor=actor,
    )
    return round_


@transaction.atomic
def reopen_round(round_: Round, *, reason: str, actor: User) -> Round:
    """Reopen a closed round whose labels are in no snapshot."""
    round_ = Round.objects.select_for_update(of=("self",)).select_related("collection").get(pk=round_.pk)
    if not reason.strip():
        raise NotValid(
            "Reopening a round needs a reason.", {"reason": "Enter the reason. It is recorded in the audit trail."}
        )
    if round_.state != Round.State.CLOSED:
        raise Conflict(f"Round {round_} is {round_.state}; only a closed round can be reopened.")
    if round_.archived_at is not None:
        raise Conflict(f"Round {round_} is archived. Restore it first.")
    if (snapshot := round_.snapshots.first()) is not None:
        raise Conflict(
            f"Round {round_} cannot be reopened because snapshot {snapshot} contains its labels. Create a new round."
        )
    before = round_.closed_at
    round_.state, round_.closed_at = Round.State.OPEN, None
    round_.save(update_fields=["state", "closed_at"])
    left = leave_who_has_seen(round_)
    audit.record(
        "rounds.reopen_round",
        f"{actor} reopened round {round_}: {reason.strip()}",
        actor=actor,
        target=round_,
        before={"state": "closed", "closed_at": before.isoformat() if before else None},
        after={"state": "open"},
        reason=reason.strip(),
        raters_left=[rater.username for rater in left],
    )
    notify_of_work(round_, current_raters(round_), actor=actor)
    return round_


@transaction.atomic
def rename(round_: Round, *, name: str, actor: User) -> Round:
    """Rename a round; snapshots refer to it by its content."""
    wanted = name.strip()
    if wanted == round_.name:
        return round_
    taken = _check_name(round_.collection, wanted)
    before, round_.name = round_.name, wanted
    with duplicates_raise(taken):
        round_.save(update_fields=["name"])
    sentence = f"{actor} renamed round {before} to {wanted}"
    names = {"before": before, "after": wanted}
    audit.record("rounds.rename", sentence, actor=actor, target=round_, **names)
    return round_


def _unread(candidates: Sequence[Candidate], guidelines: GuidelinesVersion) -> list[Candidate]:
    """Return the candidates that the guidelines do not show as examples, because raters would know their grades."""
    read = Example.objects.pairs_read_in(guidelines)
    return [one for one in candidates if (one.query.pk, one.document.pk) not in read]


def _check_name(collection: Collection, name: str) -> Conflict:
    """Check the name of a round, and return the error for the case that a concurrent request takes it."""
    if not name:
        raise NotValid("The name of the round is missing.", {"name": "Enter a name, for example Round 1."})
    taken = Conflict(f"Another round is already called {name}. Choose another name.")
    if collection.rounds.filter(name=name).exists():
        raise taken
    return taken
