"""Where does a collection stand on the way of the data, and what is the next act?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.urls import NoReverseMatch, reverse

from evaluation.models import Scoring
from judgments.models import Collection, Query, Round, Snapshot
from pooling.models import Pool, Run


@dataclass(frozen=True)
class Step:
    """One step of the way: where it leads, and its state as a key (``done doing todo warn fail``) and in words."""

    key: str
    name: str
    url: str
    state: str
    words: str


# Key, title, the page's name, and the rows that show that the step was reached.
STEPS: tuple[tuple[str, str, str, type[Model] | None], ...] = (
    ("queries", "Queries", "queries", Query),
    ("runs", "Runs", "runs", Run),
    ("pool", "Pool", "pools", Pool),
    ("round", "Round", "rounds", Round),
    ("agreement", "Agreement", "rounds", None),
    ("snapshot", "Snapshot", "snapshots", Snapshot),
    ("scores", "Scores", "scores", Scoring),
    ("freshness", "Freshness", "collection", None),
)


def steps(collection: Collection, user: Any) -> list[Step]:
    """The eight steps of the way, each with its state."""
    return [_step(collection, *declared) for declared in STEPS]


def _step(collection: Collection, key: str, name: str, page: str, rows: type[Model] | None) -> Step:
    reached = rows is not None and rows._default_manager.filter(collection=collection).exists()
    return Step(key, name, _address(page, collection), "done" if reached else "todo", "" if reached else "not reached")


def _address(page: str, collection: Collection) -> str:
    try:
        return reverse(page, args=[collection.slug])
    except NoReverseMatch:
        return reverse("collection", args=[collection.slug])
