"""Examples for guidelines: resolved pairs that a lead proposes for the next version.

A proposed example waits until a version is written. The form of the next version starts with the waiting examples
inserted, and saving it marks those that it contains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from judgments import access, adjudication, audit, untold
from judgments.core.errors import Conflict, NotAllowed, NotValid
from judgments.models import Adjudication, Collection, Example, GuidelinesVersion, Round, User

LONGEST_TITLE = 500


@transaction.atomic
def propose(settled: Adjudication, *, actor: User) -> Example:
    """Let the settlement of a pair wait for the next version; proposing it twice is proposing it once.

    A pair has one example that waits: that of an earlier settlement gives way.

    Raises
    ------
    Conflict
        The settlement was superseded by another one.
    """
    pair = settled.pair
    if Adjudication.objects.filter(supersedes=settled).exists():
        raise Conflict("This pair was settled anew since. Propose the newer settlement.")
    there = Example.objects.filter(adjudication=settled).first()
    if there is not None:
        return there
    collection = pair.round.collection
    waiting(collection).filter(adjudication__pair=pair).delete()
    labels = dict(pair.round.scale.grades.values_list("value", "label"))
    made = Example.objects.create(
        collection=collection,
        adjudication=settled,
        query_text=pair.query.text,
        document_text=str(pair.document)[:LONGEST_TITLE],
        grade=settled.grade,
        label=labels.get(settled.grade, ""),
        reason=_reason(settled),
        created_by=actor,
    )
    # Not as what: who reads this may still have to grade the pair.
    sentence = f"{actor} proposed “{pair.query}” x {pair.document} as an example"
    audit.record("examples.propose", sentence, actor=actor, collection=collection, target=made)
    return made


def read_in(guidelines: GuidelinesVersion) -> set[tuple[int, int]]:
    """The pairs, as keys of query and document, whose grade was written into these guidelines or a version before."""
    written = Example.objects.filter(
        collection=guidelines.collection_id, adjudication__isnull=False, version__number__lte=guidelines.number
    )
    return set(written.values_list("adjudication__pair__query", "adjudication__pair__document"))


def told_between(older: GuidelinesVersion, newer: GuidelinesVersion) -> set[tuple[int, int]]:
    """The pairs whose grade the newer of two versions shows and the older does not."""
    return read_in(newer) - read_in(older)


def readable(user: User, collection: Collection) -> QuerySet[GuidelinesVersion]:
    """The versions that a member may read: none that tells a grade which they may still have to give.

    A rater reads those up to their round's, of several open rounds up to the oldest one's. A lead who rates reads those
    before the first one with an example that is hidden from them. Their own rounds' guidelines can always be read.
    """
    mine = Round.objects.filter(collection=collection, raters__user=user).exclude(state=Round.State.DRAFT)
    numbers = mine.values_list("guidelines__number", flat=True)
    own = Q(number__in=[*numbers])
    if access.role_in(user, collection) not in access.STAFF:
        open_ = Round.objects.open_to(user).filter(collection=collection)
        oldest = min(open_.values_list("guidelines__number", flat=True), default=max(numbers, default=0))
        return collection.guidelines.filter(own | Q(number__lte=oldest))
    hidden = _hidden_from(user, collection)
    if not hidden:
        return collection.guidelines.all()
    return collection.guidelines.filter(own | Q(number__lt=min(hidden)))


def check_readable(user: User, version: GuidelinesVersion | None) -> None:
    """Refuse a version that the user may not read yet.

    Raises
    ------
    NotAllowed
        It is newer than the rater's round, or shows the grade of a pair that a lead who rates may still have to give.
    """
    if version is not None and not readable(user, version.collection).filter(pk=version.pk).exists():
        raise NotAllowed(
            f"You can't read guidelines {version} yet. They may show grades of pairs that you still have to grade. "
            "You can read them once your round is closed, or when you rate in a round that uses them."
        )


def _hidden_from(user: User, collection: Collection) -> set[int]:
    """The numbers of the versions with an example whose grade is still hidden from a lead who rates."""
    if not Round.objects.open_to(user).filter(collection=collection).exists():
        return set()
    written = Example.objects.filter(collection=collection, version__isnull=False, adjudication__isnull=False)
    rows = written.select_related("version", "adjudication__pair__round__collection")
    return {one.version.number for one in rows if not untold.may_be_told(user, one.adjudication.pair)}


def _reason(settled: Adjudication) -> str:
    """What a rater learns from: the words of the lead, or the cause where there are no others."""
    _, written = adjudication.parts(settled.reason)
    return written or settled.reason


@transaction.atomic
def remove(example: Example, *, actor: User) -> None:
    """Let a waiting example go; the settlement stays.

    Raises
    ------
    Conflict
        It is written into a version, which never changes.
    """
    example = Example.objects.select_for_update().get(pk=example.pk)
    if example.version_id is not None:
        raise Conflict(
            f"This example is in guidelines {example.version}, which stays as it is. Leave it out of the next."
        )
    sentence = f"{actor} took back the example “{example.query_text}” x {example.document_text}"
    audit.record("examples.remove", sentence, actor=actor, collection=example.collection, target=example)
    example.delete()


def waiting(collection: Collection) -> QuerySet[Example]:
    """Those that no version holds yet, in the order in which they were proposed."""
    return Example.objects.filter(collection=collection, version__isnull=True)


def shown_to(reader: Any, collection: Collection) -> list[Example]:
    """The waiting ones without those of pairs that the reader may still have to grade somewhere."""
    rows = list(_with_scales(waiting(collection)).select_related("adjudication__pair__round__collection"))
    if not Round.objects.open_to(reader).filter(collection=collection).exists():
        return rows
    return [one for one in rows if one.adjudication is None or untold.may_be_told(reader, one.adjudication.pair)]


def written_in(version: GuidelinesVersion) -> QuerySet[Example]:
    """Those that this version holds, with the scales that they were settled on."""
    return _with_scales(version.examples.all())


def _with_scales(rows: QuerySet[Example]) -> QuerySet[Example]:
    rows = rows.select_related("adjudication__pair__round__scale")
    return rows.prefetch_related("adjudication__pair__round__scale__grades")


def mark(examples: Sequence[Example], version: GuidelinesVersion) -> None:
    """That the version holds these. Called by `guidelines.add_version`, in its transaction.

    Raises
    ------
    NotValid
        One of them is in another version, or in another collection.
    """
    known = waiting(version.collection).filter(pk__in=[one.pk for one in examples])
    if known.update(version=version) != len(set(examples)):
        raise NotValid("One of the examples does not wait any more.", {"examples": "Load the page again."})
