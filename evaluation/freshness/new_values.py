"""Prefilled stratum fields for a new category or language, so that a lead can draw its queries."""

from __future__ import annotations

from typing import Any

from django.db.models.fields.json import KeyTextTransform

from assay.staleness.distinctive_words import WORD, telling_words
from evaluation.freshness.freshness import Freshness
from judgments.members import recorded_changes
from judgments.models import Collection
from judgments.snapshots import baselines

# The newest ones, among which those of a new category are: who clicks waits for them.
MOST_READ = 50_000
ACTION = "new-stratum"


def filled_in(collection: Collection, reading: Freshness) -> dict[str, str]:
    """The fields of a stratum for what is new, the largest first; a declared one by its name.

    Parameters
    ----------
    collection : Collection
        Whose documents are read.
    reading : Freshness
        What the signals say; nothing is filled in where none of them asks for a stratum.
    """
    one = next((one for one in reading.report.asking if one.signal.action == ACTION), None)
    if one is None:
        return {}
    kind, first = one.signal.name, one.detail[0]
    name = str(first.get(kind) or first.get("note") or "")
    if kind == "language":
        return {"name": name, "language": name}
    return {"name": name, "words": ", ".join(words_for(collection, kind, name))}


def words_for(collection: Collection, kind: str, name: str) -> list[str]:
    """The words by which queries of a category are found: its name if that is a word, and what its titles tell.

    A query seldom holds a category's name, and never one of several parts such as ``Camping > Sleeping``.
    """
    inside: list[str] = []
    outside: list[str] = []
    for title, value in _titles(collection, recorded_changes.fields_of(collection)[kind]):
        (inside if name in baselines.plain_values(value) else outside).append(title)
    own = [name.casefold()] if WORD.fullmatch(name) else []
    return list(dict.fromkeys([*own, *telling_words(inside, outside)])) or [name]


def _titles(collection: Collection, field: str) -> Any:
    rows = collection.documents.filter(stub=False).exclude(title="").order_by("-pk")
    return rows.values_list("title", KeyTextTransform(field, "fields"))[:MOST_READ].iterator(chunk_size=2_000)
