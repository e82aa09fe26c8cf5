"""Visibility of grades: which grades a reader may see. Every page, file and API response uses this module.

A reader who may still grade a pair must not see its grades, neither directly nor in a number that reveals them. This
applies across rounds: a pair of a closed round can be in an open round again, where its raters grade it blind.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, TypeVar

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from judgments.labels import carried_labels, group_labels
from judgments.models import Collection, CollectionEvent, Judgment, Pair, Round, Slot
from judgments.web.access import STAFF, role_in

Key = tuple[str, str]
Row = TypeVar("Row", bound=Model)

# Below this number of pairs, a reader could compute a hidden grade from an agreement coefficient, even a rounded one.
LEAST_PAIRS = 1_000


def hidden_pairs(reader: Any, round_: Round) -> QuerySet[Pair]:
    """Return the pairs of an open round that the reader rates in, may still get, and has not answered."""
    if round_.state != Round.State.OPEN or not round_.raters.filter(user=reader, left_at__isnull=True).exists():
        return Pair.objects.none()
    mine_or_free = Q(rater=reader) | Q(filled_by__isnull=True)
    answered = Judgment.objects.current().filter(rater=reader, pair=OuterRef("pk")).exclude(state=Judgment.State.LATER)
    slots = Slot.objects.filter(mine_or_free, pair=OuterRef("pk"))
    return round_.pairs.filter(Exists(slots), ~Exists(answered))


def pairs_with_hidden_grades(reader: Any, round_: Round) -> QuerySet[Pair]:
    """Return the pairs of a round, open or closed, whose grades the reader may not see."""
    matches: Q | None = None
    for open_ in _rated(reader, round_.collection_id):
        hidden = hidden_pairs(reader, open_)
        same = hidden.filter(query=OuterRef("query"), document=OuterRef("document"))
        here = Q(pk__in=hidden.values("pk")) if open_.pk == round_.pk else Q(Exists(same))
        here |= Q(pk__in=_by_another_name(round_, hidden))
        matches = here if matches is None else matches | here
    return Pair.objects.none() if matches is None else round_.pairs.filter(matches)


def without_hidden(rows: QuerySet[Row], reader: Any, round_: Round) -> QuerySet[Row]:
    """Return the rows about those pairs of a round whose grades the reader may see."""
    return rows.exclude(pair__in=pairs_with_hidden_grades(reader, round_).values("pk"))


def grades_visible(reader: Any, pair: Pair) -> bool:
    """Return whether the reader may see other raters' and machines' grades of this pair."""
    if role_in(reader, pair.round.collection) not in STAFF:
        return False
    return not pairs_with_hidden_grades(reader, pair.round).filter(pk=pair.pk).exists()


def means_visible(reader: Any, round_: Round) -> bool:
    """Return whether the reader may see numbers over all labels of the round, which could reveal a hidden label."""
    return not pairs_with_hidden_grades(reader, round_).exists()


def event_visible(user: Any, event: CollectionEvent) -> bool:
    """Return whether the user may see an event's result over all labels of its round."""
    round_ = event.collection.rounds.filter(uuid=event.data["round"]).first()
    return round_ is None or means_visible(user, round_)


def too_few_pairs(pairs: int) -> bool:
    """Return whether a coefficient over this many pairs could reveal one of their grades."""
    return 0 < pairs < LEAST_PAIRS


def may_read_hashes(reader: Any, collection: Collection) -> bool:
    """Return whether the reader may see hashes over labels. A few unknown labels can be found by trying hashes."""
    return not any(hidden_pairs(reader, round_).exists() for round_ in _rated(reader, collection.pk))


def hidden_keys(reader: Any, collection: Collection, query_id: str = "") -> set[Key]:
    """Return the ids of query and document of all pairs with hidden grades, of one query if its id is given."""
    groups = group_labels.sharing(collection).values() if query_id else ()
    spellings = next((group for group in groups if query_id in group), [query_id])
    hidden: set[Key] = set()
    for round_ in _rated(reader, collection.pk):
        pairs = hidden_pairs(reader, round_)
        pairs = pairs.filter(query__query_id__in=spellings) if query_id else pairs
        hidden.update(pairs.values_list("query__query_id", "document__doc_id"))
    keys = carried_labels.linked_pairs(collection, hidden)
    return {key for key in keys if key[0] == query_id} if query_id else keys


def hidden_keys_of_round(reader: Any, round_: Round) -> set[Key]:
    """Return the ids of query and document of the round's pairs whose grades the reader may not see."""
    return _keys(pairs_with_hidden_grades(reader, round_))


def hiding_round(
    reader: Any, collection: Collection, labels: Callable[[], Mapping[str, Container[str]]]
) -> Round | None:
    """Return the first open round that hides one of these labels from a reader who rates in it."""
    for round_ in _rated(reader, collection.pk):
        if withheld_queries(carried_labels.linked_pairs(collection, _keys(hidden_pairs(reader, round_))), labels):
            return round_
    return None


def withheld_queries(keys: set[Key], labels: Callable[[], Mapping[str, Container[str]]]) -> frozenset[str]:
    """Return the queries with a hidden label, given `hidden_keys`; `labels` as in `hiding_round`."""
    if not keys:
        return frozenset()
    labeled = labels()
    return frozenset(query_id for query_id, doc_id in keys if doc_id in labeled.get(query_id, ()))


def _rated(reader: Any, collection: int) -> QuerySet[Round]:
    return Round.objects.open_to(reader).filter(collection=collection)


def _keys(pairs: QuerySet[Pair]) -> set[Key]:
    return set(pairs.values_list("query__query_id", "document__doc_id"))


def _by_another_name(round_: Round, hidden: QuerySet[Pair]) -> list[int]:
    """Return pairs of the round that share a label with a hidden pair although query or document differ."""
    copies = Pair.objects.filter(round__collection=round_.collection_id, origin__has_key="copies").exists()
    if not copies and not group_labels.sharing(round_.collection):
        return []
    keys = _keys(hidden)
    others = carried_labels.linked_pairs(round_.collection, keys) - keys
    rows = round_.pairs.filter(query__query_id__in={query_id for query_id, _ in others})
    pairs = rows.values_list("pk", "query__query_id", "document__doc_id")
    return [pk for pk, query_id, doc_id in pairs if (query_id, doc_id) in others]
