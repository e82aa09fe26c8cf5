"""Imported labels that can be used beside human judgments in a snapshot."""

from __future__ import annotations

from collections.abc import Sequence

from judgments.core.amounts import amount
from judgments.core.errors import NotValid
from judgments.models import Collection, ImportedLabel, LabelSource

Key = tuple[str, str]


def chosen_sources(collection: Collection, named: Sequence[str]) -> list[LabelSource]:
    """The sources that are meant, in the order in which a later one wins per pair: clicks, then imports by age.

    Raises
    ------
    NotValid
        One of the names is no source's.
    """
    rows = collection.label_sources.order_by("created_at", "pk")
    if not named:
        return list(rows.filter(kind=LabelSource.Kind.IMPORT))
    found = list(rows.filter(name__in=named))
    if missing := sorted(set(named) - {source.name for source in found}):
        known = ", ".join(rows.values_list("name", flat=True)) or "none"
        raise NotValid(f"There is no label source called {missing[0]}.", {"named": f"Known: {known}."})
    return sorted(found, key=lambda source: source.kind != LabelSource.Kind.CLICKS)


def imported(chosen: Sequence[LabelSource], scale: Sequence[int]) -> dict[Key, int]:
    """The labels of the sources by query and document. What cannot stand in qrels is refused, never rounded or clipped.

    A fraction cannot stand in qrels; with rounds beside them, labels off the rounds' scale cannot either.
    """
    newest: dict[Key, float] = {}
    for source in chosen:
        rows = ImportedLabel.objects.filter(source=source)
        for query_id, doc_id, value in rows.values_list("query__query_id", "document__doc_id", "value"):
            newest[query_id, doc_id] = value
    _refuse("fractions", [key for key, value in newest.items() if value != int(value)])
    off = [key for key, value in newest.items() if scale and int(value) not in scale]
    _refuse(f"off the scale {scale[0]}-{scale[-1]}" if scale else "", off)
    return {key: int(value) for key, value in newest.items()}


def _refuse(what: str, pairs: Sequence[Key]) -> None:
    if pairs:
        query_id, doc_id = pairs[0]
        raise NotValid(
            f"{amount(len(pairs), 'imported label is', 'imported labels are')} {what}, "
            f"the first for query {query_id}, document {doc_id}. "
            "Import the labels again on the scale of the rounds; labels from clicks are made grades on their page.",
            {"sources": "Leave out imported."},
        )
