"""Imported labels that a snapshot can use in addition to human judgments."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.counted_nouns import amount
from assay.core.errors import NotValid
from judgments.models import Collection, ImportedLabel, LabelSource

Key = tuple[str, str]


def chosen_sources(collection: Collection, named: Sequence[str]) -> list[LabelSource]:
    """Return the chosen sources in rising precedence: clicks, then imports by age."""
    rows = collection.label_sources.order_by("created_at", "pk")
    if not named:
        return list(rows.filter(kind=LabelSource.Kind.IMPORT))
    sources = list(rows.filter(name__in=named))
    if missing := sorted(set(named) - {source.name for source in sources}):
        known = ", ".join(rows.values_list("name", flat=True)) or "none"
        raise NotValid(f"Unknown label source {missing[0]}.", {"named": f"Known label sources: {known}."})
    return sorted(sources, key=lambda source: source.kind != LabelSource.Kind.CLICKS)


def imported(chosen: Sequence[LabelSource], scale: Sequence[int]) -> dict[Key, int]:
    """Return the labels of the sources by query and document. Invalid labels are refused, never rounded or clipped."""
    newest: dict[Key, float] = {}
    for source in chosen:
        rows = ImportedLabel.objects.filter(source=source)
        for query_id, doc_id, value in rows.values_list("query__query_id", "document__doc_id", "value"):
            newest[query_id, doc_id] = value
    _refuse("fractions", [key for key, value in newest.items() if value != int(value)])
    off = [key for key, value in newest.items() if scale and int(value) not in scale]
    _refuse(f"outside the scale {scale[0]}-{scale[-1]}" if scale else "", off)
    return {key: int(value) for key, value in newest.items()}


def _refuse(what: str, pairs: Sequence[Key]) -> None:
    if pairs:
        query_id, doc_id = pairs[0]
        raise NotValid(
            f"{amount(len(pairs), 'imported label is', 'imported labels are')} {what}, the first for query "
            f"{query_id}, document {doc_id}. Import the labels again on the scale of the rounds. For labels from "
            "clicks, make grades on their page.",
            {"sources": "Remove `imported`."},
        )
