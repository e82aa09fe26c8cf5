"""List of a pool's pairs, with the reason for each pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from django.urls import reverse

from judgments.web.figures import number
from judgments.web.lists import Choice, Column, Listing
from pooling.models import Pool, PoolEntry

# Maximum number of names in one cell of a list; the file has all names.
MOST_NAMES = 3


def some_of(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Return the first names, and the number of others."""
    more = len(names) - most
    return ", ".join(names) if more < 1 else f"{', '.join(names[:most])} and {more:,} more"


def _returned_by(rows: Any, name: str) -> Any:
    return rows.filter(origin__runs__has_key=name)


def pairs_of(row: Pool) -> Listing:
    """Return the definition of the list; the filter uses the names that the runs had when the pool was created."""
    names = [system["name"] for system in row.summary.get("systems", ())]
    choices = [Choice("tier", "Tier", "query__tier", [(tier, tier) for tier in ("head", "torso", "tail")])]
    if names:
        choices.append(Choice("run", "Returned by", _returned_by, [(name, name) for name in names]))
    if row.summary.get("residual"):
        kinds = [("chosen", "chosen"), ("residual", "residual")]
        choices.append(Choice("why", "Reason", _by_reason, kinds))
    return Listing(
        name="pairs",
        noun=("pair", "pairs"),
        columns=ENTRY_COLUMNS,
        search=("query__query_id", "query__text", "document__doc_id", "document__title"),
        choices=tuple(choices),
        order="position",
    )


def _by_reason(rows: Any, value: str) -> Any:
    residual = Q(origin__why="residual")
    return rows.filter(residual) if value == "residual" else rows.exclude(residual)


def _document(entry: PoolEntry) -> str:
    return entry.document.title or ("no title stored" if entry.document.stub else entry.document.doc_id)


ENTRY_COLUMNS = (
    Column("position", "Position", order="position", numeric=True, value=lambda entry: entry.position + 1),
    Column("query", "Query", order="query__text", head=True, style="clip", value=lambda entry: entry.query.text),
    Column("rank", "Best rank", order="best_rank", numeric=True, value=lambda entry: entry.best_rank),
    Column(
        "title",
        "Document",
        order="document__title",
        style="clip",
        value=_document,
        url=lambda entry: reverse("document", args=[entry.pool.collection.slug, entry.document.uuid]),
    ),
    Column(
        "runs",
        "Returned by, at rank",
        value=lambda entry: ", ".join(finders(entry.origin)),
        show=lambda entry: some_of(finders(entry.origin)),
        style="clip",
    ),
    Column("why", "Reason", value=lambda entry: str(entry.origin.get("why", ""))),
    Column(
        "probability",
        "Inclusion probability",
        numeric=True,
        value=lambda entry: entry.origin.get("probability"),
        show=lambda entry: chance(entry.origin.get("probability")),
    ),
    Column(
        "copies",
        "Duplicates",
        value=lambda entry: ", ".join(copies_of(entry.origin)),
        show=lambda entry: some_of(copies_of(entry.origin)),
        style="clip",
    ),
    Column("query_id", "Query id", order="query__query_id", style="id clip", value=lambda entry: entry.query.query_id),
    Column("doc_id", "Document id", order="document__doc_id", style="id clip", value=lambda e: e.document.doc_id),
)


def finders(origin: dict[str, Any]) -> list[str]:
    """Return the runs of a pair's provenance with their ranks, best first."""
    ranked = sorted((rank, name) for name, rank in origin.get("runs", {}).items())
    return [f"{name} {rank}" for rank, name in ranked]


def copies_of(origin: dict[str, Any]) -> list[str]:
    """Return the ids of the documents that are judged through this pair."""
    return [copy["doc_id"] for copy in origin.get("copies", ())]


def chance(probability: float | None) -> str:
    """Return the inclusion probability of a pair as text; empty for pairs chosen by a strategy."""
    return "certain" if probability == 1 else number(probability)
