"""Narratives: write, draft and confirm the description of a query's need that its raters see.

A person writes a narrative, or confirms a draft; raters see only confirmed narratives. While a round is open, the
narratives of its queries cannot change, so that all raters judge by the same text. Later they may change; the earlier
text is in the audit trail and in every snapshot.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from assay.core.errors import Conflict, NotValid
from judgments.models import Collection, Judgment, Query, Round, User, audit
from judgments.queries.drafting import DRAFTERS
from judgments.queries.drafting.drafter import Need, unfinished

LONGEST = 5_000
BY_HAND = "a person"

Titles = Callable[[Sequence[Query]], Mapping[str, Sequence[str]]]


@dataclass(frozen=True)
class Progress:
    """How many of a collection's queries have a narrative, and how many have only a draft."""

    written: int
    drafts: int
    queries: int

    @property
    def without(self) -> int:
        return self.queries - self.written


def progress(collection: Collection) -> Progress:
    """Count the narratives and drafts of a collection."""
    rows = collection.queries
    drafts = rows.filter(narrative="").exclude(draft="").count()
    return Progress(rows.exclude(narrative="").count(), drafts, rows.count())


@transaction.atomic
def write(query: Query, *, text: str, actor: User, seen: str | None = None) -> Query:
    """Set a query's narrative and delete its draft."""
    text = _checked(text)
    query = Query.of_any_kind.select_for_update().get(pk=query.pk)
    if seen is not None and seen != version(query):
        now = query.narrative or query.draft or "nothing"
        raise Conflict(f"Another lead changed this narrative to “{now[:300]}”. Save again to replace it.")
    before = query.narrative
    if text != before:
        _refuse_while_open(query)
    query.narrative, query.draft, query.drafted_by = text, "", ""
    query.save(update_fields=["narrative", "draft", "drafted_by"])
    if text != before:
        sentence = f"{actor} {'wrote' if text else 'removed'} the narrative of “{query.text[:80]}”"
        audit.record(
            "narratives.write",
            sentence,
            actor=actor,
            target=query,
            before=before,
            after=text,
        )
    return query


def version(query: Query) -> str:
    """Return the version of the query's text, to detect that another lead has saved it in the meantime."""
    return version_of(query.narrative or query.draft)


def version_of(text: str) -> str:
    """Return the version of a narrative or draft with this text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def confirm(query: Query, *, actor: User) -> Query:
    """Confirm a draft as the narrative."""
    if not query.draft:
        raise NotValid(f"“{query.text[:80]}” has no draft.", {"draft": "Write a narrative, or create a draft first."})
    return write(query, text=query.draft, actor=actor)


@transaction.atomic
def save_draft(query: Query, *, text: str, actor: User) -> Query:
    """Save an unfinished draft; raters do not see it."""
    before = query.draft
    query.draft, query.drafted_by = _checked(text, finished=False), BY_HAND if text.strip() else ""
    query.save(update_fields=["draft", "drafted_by"])
    sentence = f"{actor} drafted the narrative of “{query.text[:80]}”"
    detail = {"by": BY_HAND, "before": before, "after": query.draft}
    audit.record("narratives.save_draft", sentence, actor=actor, target=query, **detail)
    return query


@transaction.atomic
def draft_missing(
    collection: Collection, *, actor: User, titles: Titles, drafter: str = "template", queries: Iterable[Query] = ()
) -> int:
    """Draft a narrative for each query that has neither a narrative nor a draft; return their number."""
    member = DRAFTERS[drafter]
    rows = collection.queries.filter(Q(narrative=""), Q(draft="")).order_by("pk")
    only = [query.pk for query in queries]
    missing = list(rows.filter(pk__in=only) if only else rows)
    named = titles(missing)
    spellings = _spellings(collection)
    for query in missing:
        others = tuple(text for text in spellings.get(query.group, ()) if text != query.text) if query.group else ()
        query.draft = member.draft(Need(query.text, others, tuple(named.get(query.query_id, ()))))
        query.drafted_by = drafter
    Query.objects.bulk_update(missing, ["draft", "drafted_by"], batch_size=500)
    if missing:
        sentence = f"{actor} created {len(missing):,} narrative draft{'' if len(missing) == 1 else 's'} ({drafter})"
        audit.record("narratives.draft_missing", sentence, actor=actor, collection=collection, drafter=drafter)
    return len(missing)


def open_rounds(query: Query) -> QuerySet[Round]:
    """Return the open rounds that contain the query."""
    return Round.objects.filter(pk__in=query.pairs.values("round"), state=Round.State.OPEN)


def judged_before(query: Query) -> int:
    """Return how many judgments the query's documents have so far, under any narrative."""
    return Judgment.objects.counted().filter(pair__query=query).count()


def _spellings(collection: Collection) -> dict[str, list[str]]:
    spellings: dict[str, list[str]] = {}
    rows = collection.queries.exclude(group="").order_by("-frequency", "query_id")
    for group, text in rows.values_list("group", "text"):
        spellings.setdefault(group, []).append(text)
    return spellings


def _checked(text: str, *, finished: bool = True) -> str:
    text = text.replace("\r\n", "\n").strip()
    if len(text) > LONGEST:
        raise NotValid(f"This narrative has {len(text):,} characters. Shorten it to at most {LONGEST:,}.", "narrative")
    if "\0" in text:
        raise NotValid("The narrative contains a NUL character.", {"narrative": "Remove the NUL character."})
    if finished and unfinished(text):
        raise NotValid("The draft still has placeholders. Fill in the text in brackets, or remove it.", "narrative")
    return text


def _refuse_while_open(query: Query) -> None:
    # Lock the rounds, including drafts, so that opening a round and changing a narrative wait for each other.
    rounds = Round.objects.select_for_update().filter(pk__in=query.pairs.values("round")).exclude(state="closed")
    name = next((str(round_) for round_ in rounds.order_by("pk") if round_.state == Round.State.OPEN), None)
    if name is not None:
        raise Conflict(
            f"Raters of the open round {name} are using the narrative of “{query.text[:80]}”. To change it, close the "
            "round first."
        )
