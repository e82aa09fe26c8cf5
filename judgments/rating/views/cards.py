"""Station cards: the query with its need, the document, and the rater's position.

The page without JavaScript and the fragments that the station prefetches use the same two templates. Nothing here
knows rank, system, score, or other raters' grades.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string

from judgments.documents.passages import Shown, shown
from judgments.models import Pair, Round, User
from judgments.rating.keyboard_shortcuts import labels
from judgments.rating.rater_progress import RaterPosition, own_part, rater_position

MOST_SEGMENTS = 60


@dataclass(frozen=True)
class Card:
    """One pair as shown on the screen, and the rater's position."""

    pair: Pair
    where: RaterPosition

    @cached_property
    def shown(self) -> Shown:
        return shown(self.pair.document, self.pair.query.text)

    @cached_property
    def facts(self) -> list[tuple[str, str]]:
        return facts(self.pair.document.fields)

    @cached_property
    def line(self) -> list[tuple[str, float, float]]:
        return line(self.where)

    @property
    def text_kind(self) -> str:
        return "short" if self.shown.excerpt is None else "excerpt"

    @property
    def script_data(self) -> dict[str, Any]:
        """The data of the card for the script."""
        document = self.pair.document
        return {
            "pair": str(self.pair.uuid),
            "query": str(self.pair.query.uuid),
            "text": self.pair.query.text,
            "need": self.pair.query.narrative,
            "title": document.title or document.doc_id,
            "place": f"{self.where.document} of {self.where.documents}",
            "kind": self.text_kind,
        }


def cards(round_: Round, rater: User, pairs: Sequence[Pair], *, after: Sequence[Pair] = ()) -> list[Card]:
    """Return the pairs as cards, each with the rater's position after all pairs before it are answered."""
    here: dict[int, RaterPosition] = {}
    before = Counter(pair.query.pk for pair in after)
    order = list(dict.fromkeys(pair.query.pk for pair in (*after, *pairs)))
    made: list[Card] = []
    part = own_part(round_, rater) if pairs else None
    for place, pair in enumerate(pairs, len(after)):
        query = pair.query.pk
        if query not in here:
            here[query] = rater_position(round_, rater, pair, part=part)
        where = here[query]
        where = replace(
            where,
            document=min(where.document + before[query], where.documents),
            query=min(where.query + order.index(query), where.queries),
            answered=where.answered + place,
            left=max(where.left - place, 0),
        )
        before[query] += 1
        made.append(Card(pair, where))
    return made


def card_again(round_: Round, rater: User, pair: Pair, *, answered: bool) -> Card:
    """Return the card of one of the rater's own answers, opened again."""
    return Card(pair, rater_position(round_, rater, pair, answered=answered))


def fragments(request: HttpRequest, round_: Round, card: Card) -> dict[str, Any]:
    """Return a card for the script: the two parts of the page that change, and the script's data."""
    # The full text of a long document is inserted only when the rater opens it, which is rare.
    long = card.shown.excerpt is not None
    context = {"card": card, "round": round_, "later": long, "label": labels(request.user)}
    return {
        **card.script_data,
        "whole": card.shown.whole if long else "",
        "ask": render_to_string("judgments/rating/_station_ask.html", context, request),
        "document": render_to_string("judgments/rating/_station_document.html", context, request),
    }


def facts(fields: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the fields of a document as name and text; lists in one line, without nested and empty ones."""
    rows = []
    for name, value in fields.items():
        values = value if isinstance(value, list) else [value]
        words = [str(one) for one in values if isinstance(one, str | int | float) and str(one).strip()]
        if words and len(words) == len(values):
            rows.append((name, ", ".join(words)))
    return rows


def line(where: RaterPosition) -> list[tuple[str, float, float]]:
    """Return the progress line as (class, start, width) on a line of 1,000: a segment per query, or one bar for many."""
    share = (where.document - 1) / where.documents
    if where.queries > MOST_SEGMENTS or not where.queries:
        all_ = where.answered + where.left
        return [("open", 0.0, 1000.0), ("done", 0.0, round(1000 * where.answered / max(all_, 1), 1))]
    step = 1000 / max(where.queries, 1)
    width = round(step - 4, 1)
    segments = [
        ("done" if place < where.query - 1 else "open", round(place * step, 1), width) for place in range(where.queries)
    ]
    return [*segments, ("here", round((where.query - 1) * step, 1), round(width * share, 1))]
