"""Small tables next to a chart, on the page and as a file.

A page with one long list may also have several small tables. They are declared as a `Listing` like any other, but
have neither sorting nor pages: ``?table=tiers`` returns one of them as CSV.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse

from judgments.web.columns import Column
from judgments.web.lists import Listing, Page, download

ALL = 100_000


def small(name: str, noun: tuple[str, str], columns: tuple[Column, ...], rows: Sequence[Any]) -> Page:
    """Return the whole table on one page, in the order of the rows."""
    return Listing(name=name, noun=noun, columns=columns, order="", page_size=ALL).read({}, rows)


def file_of(request: HttpRequest, tables: Sequence[Page], context: Mapping[str, Any]) -> StreamingHttpResponse | None:
    """Return the requested table as a file, if it is one of these."""
    wanted = request.GET.get("table")
    chosen = next((page for page in tables if page.listing.name == wanted), None)
    return download(chosen, context) if chosen else None
