"""List of the grades of a query's documents, with their sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from evaluation.scoring.grade_history import Event, History
from judgments.web.figures import grade
from judgments.web.lists import Choice, Column, Listing

SHOWN = [
    ("judged", "with a label"),
    ("holes", "without a label"),
    ("differ", "raters differ"),
    ("settled", "settled"),
]


def listing(params: Mapping[str, Any], histories: Sequence[History], top: int) -> Listing:
    """Return the definition of the list, without columns that would be empty."""

    def chips(events: Sequence[Event], *, named: bool = True) -> SafeString:
        parts = ((_chip(event, top), event.who if named else "") for event in events)
        return format_html_join(" ", '<span class="nowrap">{} <span class="mono muted">{}</span></span>', parts)

    def opening(one: History) -> str:
        return f"?{urlencode({**params, 'document': one.doc_id}, doseq=True)}#history"

    several = {
        "frozen": ("In all snapshots", any(len(one.frozen) > 1 for one in histories)),
        "raters": ("Raters", any(one.raters for one in histories)),
        "machines": ("Machines", any(one.machines for one in histories)),
        "imports": ("Imported", any(one.imports for one in histories)),
    }
    return Listing(
        name="grades",
        noun=("document", "documents"),
        columns=(
            Column("title", "Document", order="title", head=True, style="clip", url=opening),
            Column("label", "Label", order="label", show=lambda one: _label(one, top)),
            *(
                Column(
                    key,
                    title,
                    value=lambda one, key=key: _written(getattr(one, key)),
                    show=lambda one, key=key: chips(getattr(one, key)),
                )
                for key, (title, there) in several.items()
                if there
            ),
            *(
                [
                    Column(
                        "settled",
                        "Resolved",
                        value=lambda one: one.settled.grade if one.settled else None,
                        show=lambda one: chips([one.settled] if one.settled else [], named=False),
                    )
                ]
                if any(one.settled for one in histories)
                else []
            ),
            Column("doc_id", "Id", order="doc_id", style="id"),
        ),
        search=("title", "doc_id"),
        choices=(Choice("shown", "Show", _narrowed, SHOWN),),
        order="-label",
        page_size=25,
        given=params,
    )


def _narrowed(rows: Sequence[History], value: str) -> list[History]:
    keep = {
        "judged": lambda one: one.label is not None,
        "holes": lambda one: one.label is None and not one.hidden,
        "differ": lambda one: one.spread > 0,
        "settled": lambda one: one.settled is not None,
    }[value]
    return [one for one in rows if keep(one)]


def _label(one: History, top: int) -> SafeString:
    return format_html('<span class="badge">{}</span>', "yours to grade") if one.hidden else grade(one.label, top)


def _chip(event: Event, top: int) -> SafeString:
    """Format a grade of the scale as a chip; imported labels may be fractions, which are shown as numbers."""
    value = event.grade
    if value is None or value != int(value):
        return format_html("{}", "" if value is None else f"{value:g}")
    return grade(int(value), top)


def _written(events: Sequence[Event]) -> str:
    """Return the grades for the file: ``r01:2 r02:3``."""
    return " ".join(f"{event.who}:{event.grade:g}" for event in events if event.grade is not None)
