"""Table columns: how one value appears on a page and in a downloaded file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from assay.core.csv_cells import escape
from judgments.web.figures import number


@dataclass(frozen=True)
class Column:
    """One column, declared once for the page and the file.

    ``value`` is a function or a path such as ``pair.query.text``, by default the key; ``url`` is a function, or the
    name of a route with the paths of its arguments.
    """

    key: str
    title: str
    order: str = ""
    numeric: bool = False
    value: Callable[[Any], Any] | str = ""
    show: Callable[[Any], Any] | None = None
    url: Callable[[Any], str] | tuple[str, ...] = ()
    head: bool = False
    style: str = ""
    digits: int = 3

    def plain(self, row: Any) -> Any:
        """Return the value for the file."""
        return self.value(row) if callable(self.value) else _at(row, self.value or self.key)

    def in_file(self, row: Any) -> str:
        """Return the value as the text of a CSV cell, escaped so that a spreadsheet does not run it."""
        value = self.plain(row)
        if value is None:
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int | float):
            return str(value)
        return value.isoformat() if isinstance(value, datetime) else escape(str(value))

    def cell(self, row: Any) -> Cell:
        shown = _shown(self.show(row) if self.show is not None else self.plain(row), self.digits)
        url = self.url(row) if callable(self.url) else self._route(row)
        return Cell(format_html('<a href="{}">{}</a>', url, shown) if url and shown else shown, self)

    def _route(self, row: Any) -> str:
        return reverse(self.url[0], args=[_at(row, path) for path in self.url[1:]]) if self.url else ""


def _at(row: Any, path: str) -> Any:
    for part in path.split("."):
        row = row.get(part) if isinstance(row, Mapping) else getattr(row, part)
    return row() if callable(row) else row


@dataclass(frozen=True)
class Cell:
    """One cell of the table."""

    shown: str
    column: Column

    @property
    def classes(self) -> str:
        return " ".join(filter(None, ["num" if self.column.numeric else "", self.column.style]))


def _shown(value: Any, digits: int) -> str:
    if isinstance(value, SafeString):
        return value
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return number(value)
    if isinstance(value, float):
        return number(value, digits)
    if isinstance(value, datetime):
        return format_html('<time datetime="{}">{}</time>', value.isoformat(), f"{value.day} {value:%b %Y, %H:%M}")
    return str(value)


# The query of rows that belong to one.
QUERY_COLUMN = Column("query", "Query", order="query__text", value="query.text", head=True, style="clip")
