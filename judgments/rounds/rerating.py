"""Draft round that judges the overlap of a round again under newer guidelines."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Count

from assay.core.counted_nouns import amount
from assay.core.errors import Conflict
from judgments.guidelines import guidelines
from judgments.models import GuidelinesVersion, Judgment, Pair, Role, Round, User, audit
from judgments.rounds import rounds
from judgments.rounds.settings import RoundSettings

LONGEST_NAME = 120


def newer_guidelines(round_: Round) -> GuidelinesVersion | None:
    """Return the newest version of the guidelines if it is newer than the round's."""
    newest = guidelines.latest(round_.collection, round_.dimension)
    return newest if newest is not None and newest.number > round_.guidelines.number else None


def judged_again(round_: Round) -> Round | None:
    """Return the round that judges this round's overlap again, unless there are newer guidelines."""
    later = round_.collection.rounds.filter(provenance__judged_again__round=round_.name)
    latest = later.select_related("guidelines").order_by("-created_at", "-pk").first()
    newest = newer_guidelines(round_)
    return latest if latest is not None and (newest is None or newest.number <= latest.guidelines.number) else None


@transaction.atomic
def rejudge_overlap(round_: Round, *, actor: User) -> Round:
    """Create a draft round of the pairs that two or more raters graded, under the newest guidelines, with the same
    raters."""
    version = newer_guidelines(round_)
    if version is None:
        message = f"{round_} was judged under the newest guidelines, {round_.guidelines}. Write a new version first."
        raise Conflict(message, "guidelines")
    pairs = list(_overlapping(round_))
    if not pairs:
        raise Conflict(f"No pair of {round_} has two grades yet, so there is no overlap to judge again.")
    made = rounds.create_round(
        round_.collection,
        name=_free_name(round_),
        candidates=[rounds.Candidate(pair.query, pair.document, pair.origin) for pair in pairs],
        provenance={**round_.provenance, "pairs": len(pairs), "judged_again": {"round": round_.name}},
        guidelines=version,
        actor=actor,
        grades=list(round_.scale.grades.order_by("value").values_list("value", "label", "cue")),
        relevant_from=round_.scale.relevant_from,
        settings=RoundSettings.of(round_),
        ratings_per_pair=max(2, round_.ratings_per_pair),
        overlap=1.0,
        raters=still_raters(round_),
        seed=round_.seed,
        dimension=round_.dimension,
    )
    sentence = f"{actor} created round {made} to judge {amount(len(pairs), 'overlapping pair')} of {round_} again"
    audit.record("rejudging.rejudge_overlap", sentence, actor=actor, collection=round_.collection, target=made)
    return made


def _overlapping(round_: Round) -> list[Pair]:
    counted = Judgment.objects.counted().of_round(round_).order_by()
    twice = counted.values("pair").annotate(grades=Count("pk")).filter(grades__gte=2)
    rows = round_.pairs.filter(pk__in=twice.values("pair")).select_related("query", "document")
    return list(rows.order_by("position"))


def still_raters(round_: Round) -> list[User]:
    """Return the round's raters who may still rate in it."""
    invited = User.objects.filter(invitations__round=round_, invitations__left_at__isnull=True, is_active=True)
    may = invited.filter(memberships__collection=round_.collection, memberships__role__in=[Role.RATER, Role.LEAD])
    return list(may.order_by("username"))


def _free_name(round_: Round) -> str:
    taken = set(round_.collection.rounds.values_list("name", flat=True))
    stem, number = f"{round_.name[: LONGEST_NAME - 20]}, overlap again", 1
    while (name := stem if number == 1 else f"{stem} {number}") in taken:
        number += 1
    return name
