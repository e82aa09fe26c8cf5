"""Examples for guidelines: resolved pairs that a lead proposes for the next version.

A proposed example is pending until a version contains it. The form of the next version starts with the pending examples
inserted, and saving it marks those that it contains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from assay.core.errors import Conflict, NotAllowed, NotValid
from judgments.labels import grade_visibility
from judgments.models import Adjudication, Collection, Example, GuidelinesVersion, Round, User, audit
from judgments.web import access

LONGEST_TITLE = 500


@transaction.atomic
def propose(settled: Adjudication, *, actor: User) -> Example:
    """Propose a resolved pair as an example for the next version. Proposing it twice changes nothing."""
    pair = settled.pair
    if Adjudication.objects.filter(supersedes=settled).exists():
        raise Conflict("This pair has a newer resolution. Propose the newer one.")
    there = Example.objects.filter(adjudication=settled).first()
    if there is not None:
        return there
    collection = pair.round.collection
    pending_examples(collection).filter(adjudication__pair=pair).delete()
    labels = dict(pair.round.scale.grades.values_list("value", "label"))
    made = Example.objects.create(
        collection=collection,
        adjudication=settled,
        query_text=pair.query.text,
        document_text=str(pair.document)[:LONGEST_TITLE],
        grade=settled.grade,
        label=labels.get(settled.grade, ""),
        # The lead's text, or the text of the cause.
        reason=settled.reason_parts[1] or settled.reason,
        created_by=actor,
    )
    # The sentence omits the grade, because its reader may still grade the pair.
    sentence = f"{actor} proposed “{pair.query}” x {pair.document} as an example"
    audit.record("examples.propose", sentence, actor=actor, collection=collection, target=made)
    return made


def readable(user: User, collection: Collection) -> QuerySet[GuidelinesVersion]:
    """Return the versions that a member may read without seeing a grade of a pair they may still grade."""
    mine = Round.objects.filter(collection=collection, raters__user=user).exclude(state=Round.State.DRAFT)
    numbers = mine.values_list("guidelines__number", flat=True)
    own = Q(number__in=[*numbers])
    if access.role_in(user, collection) not in access.STAFF:
        open_ = Round.objects.open_to(user).filter(collection=collection)
        oldest = min(open_.values_list("guidelines__number", flat=True), default=max(numbers, default=0))
        return collection.guidelines.filter(own | Q(number__lte=oldest))
    if not Round.objects.open_to(user).filter(collection=collection).exists():
        return collection.guidelines.all()
    written = Example.objects.filter(collection=collection, version__isnull=False, adjudication__isnull=False)
    rows = written.select_related("version", "adjudication__pair__round__collection")
    # The versions with an example that is still hidden from a lead who rates.
    hidden = [one.version.number for one in rows if not grade_visibility.grades_visible(user, one.adjudication.pair)]
    if not hidden:
        return collection.guidelines.all()
    return collection.guidelines.filter(own | Q(number__lt=min(hidden)))


def check_readable(user: User, version: GuidelinesVersion | None) -> None:
    """Refuse a version that the user may not read yet."""
    if version is not None and not readable(user, version.collection).filter(pk=version.pk).exists():
        raise NotAllowed(
            f"You can't read guidelines {version} yet. They may show grades of pairs that you may still grade. You "
            "can read them after your round is closed, or when you rate in a round that uses them."
        )


@transaction.atomic
def remove(example: Example, *, actor: User) -> None:
    """Withdraw a pending example; the resolution stays."""
    example = Example.objects.select_for_update().get(pk=example.pk)
    if example.version_id is not None:
        raise Conflict(
            f"This example is in guidelines {example.version}, which cannot change. Leave it out of the next version."
        )
    sentence = f"{actor} withdrew the example “{example.query_text}” x {example.document_text}"
    audit.record("examples.remove", sentence, actor=actor, target=example)
    example.delete()


def pending_examples(collection: Collection) -> QuerySet[Example]:
    """Return the examples that are not in a version yet, in the order in which they were proposed."""
    return Example.objects.filter(collection=collection, version__isnull=True)


def visible_examples(reader: Any, collection: Collection) -> list[Example]:
    """Return the pending examples, without pairs that the reader may still grade in any round."""
    rows = list(_with_scales(pending_examples(collection)).select_related("adjudication__pair__round__collection"))
    if not Round.objects.open_to(reader).filter(collection=collection).exists():
        return rows
    return [
        one
        for one in rows
        if one.adjudication is None or grade_visibility.grades_visible(reader, one.adjudication.pair)
    ]


def written_in(version: GuidelinesVersion) -> QuerySet[Example]:
    """Return the examples of this version, with the scales of their resolutions."""
    return _with_scales(version.examples.all())


def _with_scales(rows: QuerySet[Example]) -> QuerySet[Example]:
    rows = rows.select_related("adjudication__pair__round__scale")
    return rows.prefetch_related("adjudication__pair__round__scale__grades")


def mark(examples: Sequence[Example], version: GuidelinesVersion) -> None:
    """Mark the examples as part of the version; `guidelines.add_version` calls this inside its transaction."""
    known = pending_examples(version.collection).filter(pk__in=[one.pk for one in examples])
    if known.update(version=version) != len(set(examples)):
        raise NotValid(
            "One of the examples is no longer pending.", {"examples": "Reload the page and select the examples again."}
        )
