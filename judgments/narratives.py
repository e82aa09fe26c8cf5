"""Narratives: write, draft and confirm what a query means, in words that all of its raters see.

A narrative is written by a person, or drafted and then confirmed by a person; raters see only confirmed ones. While a
round is open, the narratives of its queries cannot change: all of its raters judge under the same words. Afterwards
they may change; the earlier text is in the audit trail and in every snapshot.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from judgments import audit
from judgments.core.errors import AssayError, Conflict, NotValid
from judgments.drafting import DRAFTERS
from judgments.drafting.drafter import Need, unfinished
from judgments.models import Collection, Judgment, Query, Round, User

LONGEST = 5_000
BY_HAND = "a person"

Titles = Callable[[Sequence[Query]], Mapping[str, Sequence[str]]]


@dataclass(frozen=True)
class Progress:
    """How many of a collection's queries have a narrative, and how many a draft instead."""

    written: int
    drafts: int
    queries: int

    @property
    def without(self) -> int:
        return self.queries - self.written


def progress(collection: Collection) -> Progress:
    """How far the writing is."""
    rows = collection.queries
    drafts = rows.filter(narrative="").exclude(draft="").count()
    return Progress(rows.exclude(narrative="").count(), drafts, rows.count())


@transaction.atomic
def write(query: Query, *, text: str, actor: User, seen: str | None = None) -> Query:
    """Give a query its narrative; a draft that it had is gone.

    Parameters
    ----------
    query : Query
        Whose need it is.
    text : str
        The narrative; nothing takes it away.
    actor : User
        The lead who stands for it.
    seen : str, optional
        The :func:`version` that the lead had before them.

    Raises
    ------
    NotValid
        Too long, with a NUL in it, or with a gap that a drafter left.
    Conflict
        A round that is open holds the query, or somebody else wrote meanwhile.
    """
    text = _checked(text)
    query = Query.of_any_kind.select_for_update().get(pk=query.pk)
    if seen is not None and seen != version(query):
        now = query.narrative or query.draft or "nothing"
        raise Conflict(f"Somebody else wrote this need meanwhile; there stands now: “{now[:300]}”. Save yours again.")
    before = query.narrative
    if text != before:
        _refuse_while_open(query)
    query.narrative, query.draft, query.drafted_by = text, "", ""
    query.save(update_fields=["narrative", "draft", "drafted_by"])
    if text != before:
        said = f"{actor} {'wrote' if text else 'took away'} the narrative of “{query.text[:80]}”"
        audit.record(
            "narratives.write", said, actor=actor, collection=query.collection, target=query, before=before, after=text
        )
    return query


def version(query: Query) -> str:
    """What tells the text that a lead sees from one that is written meanwhile."""
    return version_of(query.narrative or query.draft)


def version_of(text: str) -> str:
    """The version that a query with this narrative or draft has."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def confirm(query: Query, *, actor: User) -> Query:
    """Make a draft the narrative, as it stands.

    Raises
    ------
    NotValid
        There is no draft, or it has a gap.
    Conflict
        A round that is open holds the query.
    """
    if not query.draft:
        raise NotValid(f"“{query.text[:80]}” has no draft.", {"draft": "Write a narrative, or draft one first."})
    return write(query, text=query.draft, actor=actor)


@transaction.atomic
def save_draft(query: Query, *, text: str, actor: User, by: str = BY_HAND) -> Query:
    """Keep what is not finished yet; raters do not see it."""
    before = query.draft
    query.draft, query.drafted_by = _checked(text, finished=False), by if text.strip() else ""
    query.save(update_fields=["draft", "drafted_by"])
    said = f"{actor} drafted the narrative of “{query.text[:80]}”"
    told = {"by": by, "before": before, "after": query.draft}
    audit.record("narratives.save_draft", said, actor=actor, collection=query.collection, target=query, **told)
    return query


@transaction.atomic
def draft_missing(
    collection: Collection, *, actor: User, titles: Titles, drafter: str = "template", queries: Iterable[Query] = ()
) -> int:
    """Draft a narrative for each query that has neither one nor a draft; answers for how many.

    Parameters
    ----------
    collection : Collection
        Whose queries.
    actor : User
        The lead who asks.
    titles : callable
        Answers what documents are called that systems return first, for each id of the queries that it is given.
    drafter : str
        A member of ``judgments.drafting.DRAFTERS``.
    queries : iterable of Query
        Only these; all by default.
    """
    member = DRAFTERS[drafter]
    rows = _bare(collection)
    only = [query.pk for query in queries]
    found = list(rows.filter(pk__in=only) if only else rows)
    named = titles(found)
    spellings = _spellings(collection)
    for query in found:
        others = tuple(text for text in spellings.get(query.group, ()) if text != query.text) if query.group else ()
        query.draft = member.draft(Need(query.text, others, tuple(named.get(query.query_id, ()))))
        query.drafted_by = drafter
    Query.objects.bulk_update(found, ["draft", "drafted_by"], batch_size=500)
    if found:
        said = f"{actor} had {len(found):,} narrative{'' if len(found) == 1 else 's'} drafted ({drafter})"
        audit.record("narratives.draft_missing", said, actor=actor, collection=collection, drafter=drafter)
    return len(found)


def write_many(texts: Iterable[tuple[Query, str]], *, actor: User) -> tuple[int, dict[str, str]]:
    """Write each narrative that changed, each on its own; answers how many, and why others were refused, by id."""
    written, refused = 0, {}
    for query, text in texts:
        if text.replace("\r\n", "\n").strip() == query.narrative:
            continue
        try:
            write(query, text=text, actor=actor)
            written += 1
        except AssayError as error:
            refused[query.query_id] = str(error)
    return written, refused


def open_rounds(query: Query) -> QuerySet[Round]:
    """The open rounds in which the query's pairs are judged."""
    return Round.objects.filter(pk__in=query.pairs.values("round"), state=Round.State.OPEN)


def judged_before(query: Query) -> int:
    """How many judgments were made of the query's documents so far: under whatever narrative it had then."""
    return Judgment.objects.counted().filter(pair__query=query).count()


def _bare(collection: Collection) -> QuerySet[Query]:
    return collection.queries.filter(Q(narrative=""), Q(draft="")).order_by("pk")


def _spellings(collection: Collection) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    rows = collection.queries.exclude(group="").order_by("-frequency", "query_id")
    for group, text in rows.values_list("group", "text"):
        found.setdefault(group, []).append(text)
    return found


def _checked(text: str, *, finished: bool = True) -> str:
    text = text.replace("\r\n", "\n").strip()
    if len(text) > LONGEST:
        said = (
            f"This narrative has {len(text):,} characters; {LONGEST:,} are the most that a rater can be asked to read."
        )
        raise NotValid(said, {"narrative": said})
    if "\0" in text:
        raise NotValid("A narrative holds no NUL character.", {"narrative": "Take it out."})
    if finished and unfinished(text):
        said = "The draft still has a gap: fill in what stands in brackets, or take it out."
        raise NotValid(said, {"narrative": said})
    return text


def _refuse_while_open(query: Query) -> None:
    # The rows are locked, drafts too: a round that is being opened waits for the narrative, or this for the round.
    rounds = Round.objects.select_for_update().filter(pk__in=query.pairs.values("round")).exclude(state="closed")
    name = next((str(round_) for round_ in rounds.order_by("pk") if round_.state == Round.State.OPEN), None)
    if name is not None:
        raise Conflict(
            f"Round {name} is open and holds “{query.text[:80]}”: all of its raters read the same narrative. Close the "
            "round first."
        )
