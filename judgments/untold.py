"""Visibility of grades: pairs of a round that a reader may still have to grade somewhere.

`access.hidden_pairs` covers the round itself. A pair of a closed round, however, may be in an open one again: its
raters there grade it blind, and no page shows them its earlier grades.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from judgments import access, carried, group_labels
from judgments.models import Pair, Round


def untold_pairs(reader: Any, round_: Round) -> QuerySet[Pair]:
    """The pairs of the round whose grades the reader must not be told.

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
    found: Q | None = None
    for open_ in rated:
        hidden = access.hidden_pairs(reader, open_)
        same = hidden.filter(query=OuterRef("query"), document=OuterRef("document"))
        here = Q(pk__in=hidden.values("pk")) if open_.pk == round_.pk else Q(Exists(same))
        here |= Q(pk__in=_by_another_name(round_, hidden))
        found = here if found is None else found | here
    return Pair.objects.none() if found is None else round_.pairs.filter(found)


def may_be_told(reader: Any, pair: Pair) -> bool:
    """Whether the grades of this one pair may be shown to the reader."""
    if not access.may_see_grades(reader, pair):
        return False
    return not untold_pairs(reader, pair.round).filter(pk=pair.pk).exists()


def may_be_told_means(reader: Any, round_: Round) -> bool:
    """Whether numbers made from all labels of the round may be shown: a mean less what is known tells the rest."""
    return not untold_pairs(reader, round_).exists()


def _by_another_name(round_: Round, hidden: QuerySet[Pair]) -> list[int]:
    """Pairs of the round that tell one of the hidden pairs' labels although query or document are others."""
    copies = Pair.objects.filter(round__collection=round_.collection_id, origin__has_key="copies").exists()
    if not copies and not group_labels.sharing(round_.collection):
        return []
    keys = set(hidden.values_list("query__query_id", "document__doc_id"))
    others = carried.told_by(round_.collection, keys) - keys
    rows = round_.pairs.filter(query__query_id__in={query_id for query_id, _ in others})
    pairs = rows.values_list("pk", "query__query_id", "document__doc_id")
    return [pk for pk, query_id, doc_id in pairs if (query_id, doc_id) in others]
