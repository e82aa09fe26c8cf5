"""Visibility of grades: pairs of a round that a reader may still have to grade somewhere.

`access.hidden_pairs` covers the round itself. A pair of a closed round, however, may be in an open one again: its
raters there grade it blind, and no page shows them its earlier grades.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from judgments.labels import carried_labels, group_labels
from judgments.models import Collection, Pair, Round, User
from judgments.web import access


def pairs_with_hidden_grades(reader: Any, round_: Round) -> QuerySet[Pair]:
    """Return the pairs of the round whose grades the reader may not see.

    Parameters
    ----------
    reader : User
        Who would see them; most rate in no open round, and then nothing is asked of the pairs.
    round_ : Round
        Whose pages they read, open or closed.

    Returns
    -------
    QuerySet of Pair
        Those that the reader may still be handed, in this round or another open one of the collection, and those whose
        label would tell such a pair's: spellings of the same need, documents that say the same.
    """
    rated = Round.objects.open_to(reader).filter(collection=round_.collection_id)
    matches: Q | None = None
    for open_ in rated:
        hidden = access.hidden_pairs(reader, open_)
        same = hidden.filter(query=OuterRef("query"), document=OuterRef("document"))
        here = Q(pk__in=hidden.values("pk")) if open_.pk == round_.pk else Q(Exists(same))
        here |= Q(pk__in=_by_another_name(round_, hidden))
        matches = here if matches is None else matches | here
    return Pair.objects.none() if matches is None else round_.pairs.filter(matches)


def grades_visible(reader: Any, pair: Pair) -> bool:
    """Return whether the reader may see the grades of this pair."""
    if not access.may_see_grades(reader, pair):
        return False
    return not pairs_with_hidden_grades(reader, pair.round).filter(pk=pair.pk).exists()


def means_visible(reader: Any, round_: Round) -> bool:
    """Return whether the reader may see numbers over all labels of the round, which could reveal a hidden one."""
    return not pairs_with_hidden_grades(reader, round_).exists()


def may_read_hashes(collection: Collection, reader: User) -> bool:
    """Return whether the reader may see hashes over labels. A few unknown labels could be found by trying hashes."""
    rated = Round.objects.open_to(reader).filter(collection=collection)
    return not any(access.hidden_pairs(reader, round_).exists() for round_ in rated)


def _by_another_name(round_: Round, hidden: QuerySet[Pair]) -> list[int]:
    """Return pairs of the round that share a label with a hidden pair although query or document differ."""
    copies = Pair.objects.filter(round__collection=round_.collection_id, origin__has_key="copies").exists()
    if not copies and not group_labels.sharing(round_.collection):
        return []
    keys = set(hidden.values_list("query__query_id", "document__doc_id"))
    others = carried_labels.linked_pairs(round_.collection, keys) - keys
    rows = round_.pairs.filter(query__query_id__in={query_id for query_id, _ in others})
    pairs = rows.values_list("pk", "query__query_id", "document__doc_id")
    return [pk for pk, query_id, doc_id in pairs if (query_id, doc_id) in others]
