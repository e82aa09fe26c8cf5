"""Prefilled stratum fields for a new category or language, so that a lead can draw its queries."""

from __future__ import annotations

from typing import Any

from django.db.models.fields.json import KeyTextTransform

from assay.staleness.distinctive_words import WORD, telling_words
from evaluation.freshness.freshness import Freshness
from judgments.members import recorded_changes
from judgments.models import Collection
from judgments.snapshots import baselines

# Only the newest documents are read, because a user waits for this; documents of a new category are among them.
MOST_READ = 50_000
ACTION = "new-stratum"


def filled_in(collection: Collection, reading: Freshness) -> dict[str, str]:
    """Return prefilled stratum fields for new values, largest first; a recorded value by its name."""
    one = next((one for one in reading.report.asking if one.signal.action == ACTION), None)
    if one is None:
        return {}
    kind, first = one.signal.name, one.detail[0]
    name = str(first.get(kind) or first.get("note") or "")
    if kind == "language":
        return {"name": name, "language": name}
    return {"name": name, "words": ", ".join(words_for(collection, kind, name))}


def words_for(collection: Collection, kind: str, name: str) -> list[str]:
    """Return words that find queries of a category: its name if it is a single word, and typical words of its
    titles."""
    inside: list[str] = []
    outside: list[str] = []
    for title, value in _titles(collection, recorded_changes.fields_of(collection)[kind]):
        (inside if name in baselines.plain_values(value) else outside).append(title)
    own = [name.casefold()] if WORD.fullmatch(name) else []
    return list(dict.fromkeys([*own, *telling_words(inside, outside)])) or [name]


def _titles(collection: Collection, field: str) -> Any:
    rows = collection.documents.filter(stub=False).exclude(title="").order_by("-pk")
    return rows.values_list("title", KeyTextTransform(field, "fields"))[:MOST_READ].iterator(chunk_size=2_000)
