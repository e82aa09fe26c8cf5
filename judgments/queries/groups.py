"""Query groups: create, merge, rename and dissolve groups of spellings of one need, and share judgments.

A group is a name in the column ``group`` of its queries; its row stores the lead's decisions about it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount, id_fault
from judgments.models import Collection, Query, QueryGroup, RefusedProposal, User, audit


@transaction.atomic
def gather(
    collection: Collection, *, queries: Sequence[Query], actor: User, name: str = "", shares: bool | None = None
) -> QueryGroup:
    """Put queries into one group, new or existing; they leave their earlier groups."""
    _locked(collection)
    if any(query.collection_id != collection.pk for query in queries):
        raise NotValid(
            "Some of these queries belong to another collection.", {"queries": "Choose queries of one collection."}
        )
    rows = list(collection.queries.filter(pk__in=[query.pk for query in queries]).order_by(*_by_traffic()))
    wanted = _named(name.strip() or (rows[0].text[:500] if rows else ""))
    there = collection.queries.filter(group=wanted).exclude(pk__in=[query.pk for query in rows])
    if len(rows) + there.count() < 2:
        raise NotValid("A group needs at least two queries.", {"queries": "Choose at least two queries."})
    left = {query.group for query in rows} - {wanted, ""}
    before = {query.query_id: query.group for query in rows[:100]}
    collection.queries.filter(pk__in=[query.pk for query in rows]).update(group=wanted)
    group, _ = QueryGroup.objects.get_or_create(collection=collection, name=wanted)
    if shares is not None and group.shares != shares:
        group.shares = shares
        group.save(update_fields=["shares"])
    _tidy(collection, left)
    texts = ", ".join(f"“{query.text[:60]}”" for query in rows[:4]) + (" and more" if len(rows) > 4 else "")
    _record("gather", f"{actor} added {texts} to group {wanted}", actor, group, before=before, after=wanted)
    return group


@transaction.atomic
def merge(group: QueryGroup, others: Iterable[QueryGroup], *, actor: User) -> QueryGroup:
    """Move all queries of other groups into this one, and delete those groups."""
    merged = [other for other in others if other.pk != group.pk]
    if any(other.collection_id != group.collection_id for other in merged):
        raise NotValid("These groups belong to different collections.", {"groups": "Choose groups of one collection."})
    queries = group.collection.queries.filter(group__in=[other.name for other in merged])
    return gather(group.collection, queries=list(queries), name=group.name, actor=actor)


@transaction.atomic
def take_out(group: QueryGroup, queries: Sequence[Query], *, actor: User) -> None:
    """Remove queries from a group because they express another need; a group of one query is deleted."""
    _locked(group.collection)
    keys = [query.pk for query in queries]
    number = group.collection.queries.filter(pk__in=keys, group=group.name).update(group="")
    if not number:
        raise NotValid("None of these queries is in the group.", {"queries": "Choose queries of the group."})
    detail = {"before": group.name, "queries": [query.query_id for query in queries][:100]}
    _record(
        "take_out", f"{actor} removed {amount(number, 'query', 'queries')} from group {group}", actor, group, **detail
    )
    _tidy(group.collection, {group.name})


@transaction.atomic
def dissolve(group: QueryGroup, *, actor: User) -> None:
    """Dissolve a group; each of its queries is judged separately again."""
    _locked(group.collection)
    queries = group.collection.queries.filter(group=group.name).values_list("query_id", flat=True)
    detail = {"before": group.name, "queries": [*queries[:100]]}
    _record("dissolve", f"{actor} dissolved group {group}", actor, group, **detail)
    group.collection.queries.filter(group=group.name).update(group="")
    _tidy(group.collection, {group.name})


@transaction.atomic
def rename(group: QueryGroup, *, name: str, actor: User) -> QueryGroup:
    """Rename a group."""
    _locked(group.collection)
    wanted, before = _named(name.strip()), group.name
    if wanted == before:
        return group
    if group.collection.query_groups.filter(name=wanted).exists():
        raise Conflict(f"Another group is already called {wanted}. Merge the two groups, or choose another name.")
    group.collection.queries.filter(group=before).update(group=wanted)
    group.name = wanted
    group.save(update_fields=["name"])
    _record("rename", f"{actor} renamed group {before} to {wanted}", actor, group, before=before, after=wanted)
    return group


@transaction.atomic
def let_share(collection: Collection, groups: Iterable[QueryGroup], *, shares: bool, actor: User) -> int:
    """Turn sharing of judgments on or off for groups; return how many changed. Frozen labels stay as they are."""
    keys = [group.pk for group in groups]
    names = [*collection.query_groups.filter(pk__in=keys).exclude(shares=shares).values_list("name", flat=True)]
    number = collection.query_groups.filter(pk__in=keys).exclude(shares=shares).update(shares=shares)
    if number:
        what = "share their judgments" if shares else "judge each query separately"
        sentence = f"{actor} set {number:,} group{'' if number == 1 else 's'} to {what}"
        detail = {"groups": names[:100], "before": not shares, "after": shares}
        audit.record("query_groups.let_share", sentence, actor=actor, collection=collection, **detail)
    return number


def refuse(collection: Collection, queries: Sequence[Query], *, actor: User) -> None:
    """Reject a proposed group, because its queries express different needs."""
    _, new = RefusedProposal.objects.get_or_create(
        collection=collection, key=proposal_key(query.query_id for query in queries)
    )
    if new:
        texts = ", ".join(f"“{query.text[:60]}”" for query in queries[:4])
        audit.record(
            "query_groups.refuse", f"{actor} rejected the group of {texts}", actor=actor, collection=collection
        )


def proposal_key(query_ids: Iterable[str]) -> str:
    """Return the key of a proposal: a hash of its query ids in sorted order."""
    lines = sorted(f"{query_id}\n".encode() for query_id in query_ids)
    return hashlib.sha256(b"".join(lines)).hexdigest()


def note(collection: Collection) -> None:
    """Create a row for each group that a file named, and delete rows of groups without queries."""
    named = set(collection.queries.exclude(group="").values_list("group", flat=True).distinct())
    there = set(collection.query_groups.values_list("name", flat=True))
    QueryGroup.objects.bulk_create(
        [QueryGroup(collection=collection, name=name) for name in sorted(named - there)], ignore_conflicts=True
    )
    collection.query_groups.filter(name__in=there - named).delete()


def _by_traffic() -> tuple[object, ...]:
    return (F("frequency").desc(nulls_last=True), "query_id")


def _named(name: str) -> str:
    if odd := id_fault(name):
        raise NotValid(f"The name of the group {odd[1]}.", {"name": "Enter a short name such as tents."})
    return name


def _tidy(collection: Collection, names: Iterable[str]) -> None:
    """Delete the groups that have fewer than two queries left."""
    for name in names:
        rows = collection.queries.filter(group=name)
        if rows.count() < 2:
            rows.update(group="")
            collection.query_groups.filter(name=name).delete()


def _locked(collection: Collection) -> None:
    """Lock the collection's groups, because two concurrent changes could leave a query in no group."""
    Collection.objects.select_for_update().get(pk=collection.pk)


def _record(verb: str, sentence: str, actor: User, group: QueryGroup, **detail: Any) -> None:
    audit.record(f"query_groups.{verb}", sentence, actor=actor, target=group, **detail)
