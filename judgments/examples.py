"""How does a settled pair become an example that raters read in the next version of the guidelines?

A lead proposes it; until a version is written it waits. The form of the next version begins with the waiting ones
written in, and saving it marks those that it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from judgments import adjudication, audit, untold
from judgments.core.errors import Conflict, NotValid
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
