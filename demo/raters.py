"""Grades of the three demo raters.

Each grade starts from a relevance that follows from the query and the product. ``rater1`` follows the guidelines,
``rater2`` is strict, ``rater3`` is lenient, and all three make mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from random import Random
from typing import Any

from demo.asks import Ask, by_text, normalize
from demo.shelf import SHELVES, Shelf

TOP = 3
# The noise of a pair that all raters share, in grades.
UNCLEAR = 0.25
SHELF_OF_CATEGORY = {shelf.category: shelf for shelf in SHELVES.values()}


@dataclass(frozen=True)
class Temper:
    """The grading behavior of one rater."""

    leaning: float
    unsteady: float
    slips: float
    gives_up: float
    seconds: float
    notes: float


TEMPERS = {
    1: Temper(leaning=0.0, unsteady=0.48, slips=0.02, gives_up=0.35, seconds=11.0, notes=0.3),
    2: Temper(leaning=-0.22, unsteady=0.52, slips=0.03, gives_up=0.55, seconds=15.5, notes=0.5),
    3: Temper(leaning=0.18, unsteady=0.58, slips=0.045, gives_up=0.15, seconds=7.5, notes=0.04),
}


def grade(rater: int, query_text: str, document: Mapping[str, Any], seed: int) -> tuple[str, int | None, float]:
    """Return one rater's answer for one pair."""
    temper = TEMPERS[rater]
    query = normalize(query_text)
    pair = f"{seed}:{query}:{document['doc_id']}"
    random = Random(f"{pair}:{rater}")
    meant = relevance(query, document) + Random(pair).gauss(0, UNCLEAR)
    felt = meant + temper.leaning + random.gauss(0, temper.unsteady)
    seconds = _seconds(temper, felt, document, random)
    if random.random() < (temper.gives_up if not document["text"] else 0.004):
        return "unrateable", None, seconds
    if random.random() < temper.slips:
        return "graded", random.randint(0, TOP), seconds
    return "graded", min(TOP, max(0, round(felt))), seconds


def note(rater: int, query_text: str, document: Mapping[str, Any], given: int | None) -> str:
    """Return the rater's note, which is usually empty and otherwise the reason for a grade below the highest."""
    ask = by_text().get(normalize(query_text))
    shelf = SHELF_OF_CATEGORY.get(document["fields"].get("category", ""))
    random = Random(f"note:{normalize(query_text)}:{document['doc_id']}:{rater}")
    if ask is None or shelf is None or given in (None, TOP) or random.random() > TEMPERS[rater].notes:
        return ""
    if ask.shelf and ask.shelf != shelf.key:
        return (
            f"Not the product that the query asks for: {shelf.category.rsplit('>', 1)[-1].strip().lower()}."
            if given < 2
            else ""
        )
    fields = document["fields"]
    missed = [name for name, values in ask.wants.items() if _miss(shelf, name, values, fields.get(name, ""))]
    return "".join(
        f"The query asks for {' or '.join(ask.wants[name])}; this is {fields.get(name, 'not stated')}."
        for name in missed[:1]
    )


def relevance(query: str, document: Mapping[str, Any]) -> float:
    """Return how well a product answers a query, from 0 (not at all) to 3 (exactly)."""
    ask = by_text().get(query)
    shelf = SHELF_OF_CATEGORY.get(document["fields"].get("category", ""))
    if ask is None or shelf is None:
        return _by_words(query, document)
    if ask.shelf and ask.shelf != shelf.key:
        return 0.8 if shelf.key in SHELVES[ask.shelf].near else -0.3
    misses = [_miss(shelf, name, values, document["fields"].get(name, "")) for name, values in ask.wants.items()]
    if not ask.shelf:
        return -0.4 if any(misses) else 3.3
    return max(0.6, 3.2 - _cost(ask, misses))


def _cost(ask: Ask, misses: list[float]) -> float:
    """Return the share of the attributes that the product misses; one missing of one weighs more than one of two."""
    return sum(misses) * (2.0 if len(ask.wants) == 1 else 1.3)


def _miss(shelf: Shelf, name: str, wanted: tuple[str, ...], value: str) -> float:
    if value in wanted:
        return 0.0
    if name == "who" and value == "unisex":
        return 0.5
    scale = shelf.scales.get(name, ())
    if value in scale and any(abs(scale.index(value) - scale.index(want)) == 1 for want in wanted if want in scale):
        return 0.5
    return 1.0


def _by_words(query: str, document: Mapping[str, Any]) -> float:
    """Return the share of the words of an unknown query that the title or text contains."""
    query_words = set(re.findall(r"\w+", query))
    held = set(re.findall(r"\w+", f"{document['title']} {document['text']}".casefold()))
    return TOP * len(query_words & held) / len(query_words) if query_words else 0.0


def _seconds(temper: Temper, felt: float, document: Mapping[str, Any], random: Random) -> float:
    """Return the seconds for a judgment; close calls and long texts take longer, and there are rare interruptions."""
    doubt = 1 - 2 * abs(felt - round(felt)) if 0 < felt < TOP else 0.0
    reading = len(document["text"]) / 220
    pause = 4.0 if random.random() < 0.02 else 1.0
    usual = log(temper.seconds * (0.6 + 0.3 * reading + 0.5 * (1 - doubt) * (0 < felt < TOP)))
    return round(max(1.2, exp(random.gauss(usual, 0.45)) * pause), 1)
