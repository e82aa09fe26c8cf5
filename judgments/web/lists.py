"""Lists: tables that can be sorted, filtered, paged and downloaded, with an address that can be shared.

A list is declared once, next to its view, which reads it with the request's parameters::

    RUNS = Listing(
        name="runs",
        noun=("run", "runs"),
        columns=(
            Column("name", "Run", order="name", head=True, url=lambda run: reverse("run", args=[run.uuid])),
            Column("rows", "Rows", order="rows", numeric=True),
            Column("state", "State", show=lambda run: state("done", "read")),  # SafeString: not escaped again
        ),
        search=("name", "description"),
        choices=(ChoiceFilter("mine", "Made by", "created_by__username", [("lead", "lead"), ("nightly", "nightly")]),),
        order="-rows",
    )

    def run_list(request, slug):
        collection = access.collection_for(request.user, slug, access.STAFF)
        return answer(request, RUNS, collection.runs.all(), "pooling/runs/runs.html", {"collection": collection})

The template shows the list or an empty state with ``{% listed %}``. Rows are a QuerySet, or a list of anything (dicts,
dataclasses) for computed rows. The address carries ``q``, ``sort=-rows``, ``page`` and one parameter per choice;
``format=csv`` returns the whole filtered list as a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.text import slugify

from assay.core.csv_cells import csv_row, escape
from judgments.models import audit
from judgments.web.answer_words import Subject, worded
from judgments.web.columns import Cell, Column
from judgments.web.downloads import streamed

PAGE_SIZE = 50


@dataclass(frozen=True)
class ChoiceFilter:
    """A filter with named options above the table. ``options`` are (value, title); the empty value means all."""

    key: str
    title: str
    field: str | Callable[[Any, str], Any]
    options: Sequence[tuple[str, str]]

    def narrow(self, rows: Any, value: str) -> Any:
        """Filter the rows by the value; an unknown value filters nothing."""
        if value not in dict(self.options):
            return rows
        if callable(self.field):
            return self.field(rows, value)
        if isinstance(rows, QuerySet):
            return rows.filter(**{self.field: value})
        column = Column(self.field.replace("__", "."), "")
        return [row for row in rows if str(column.plain(row)) == value]


@dataclass(frozen=True)
class Listing:
    """The declaration of a list. ``order`` is a column's key, with ``-`` for descending."""

    name: str
    noun: tuple[str, str]
    columns: tuple[Column, ...]
    order: str
    search: tuple[str, ...] = ()
    choices: tuple[ChoiceFilter, ...] = ()
    mark: Callable[[Any], str] | None = None
    page_size: int = PAGE_SIZE
    stacked: bool = False
    given: Mapping[str, str] = field(default_factory=dict)

    def read(self, params: Mapping[str, str], rows: Any, many: int | None = None) -> Page:
        """Return the rows that the parameters select; invalid parameters are ignored."""
        filters = {key: params.get(key, "").strip() for key in ("q", "sort", *(choice.key for choice in self.choices))}
        matches = self._filtered(rows, filters)
        sort = filters["sort"] if self._column(filters["sort"]) else self.order
        count = many if many is not None and matches is rows else _count(matches)
        pages = max(1, -(-count // self.page_size))
        wanted = params.get("page", "1")
        page = min(max(int(wanted), 1), pages) if wanted.isascii() and wanted.isdigit() and len(wanted) < 10 else 1
        filters = {key: value for key, value in filters.items() if value and key != "sort"}
        return Page(self, rows, self._sorted(matches, sort), filters, sort, count, page, pages)

    def without(self, *keys: str) -> Listing:
        """Return the list without these columns, which are not searched either."""
        columns = tuple(column for column in self.columns if column.key not in keys)
        return replace(self, columns=columns, search=tuple(name for name in self.search if name not in keys))

    def worded_for(self, subject: Subject | None) -> Listing:
        """Return the list with headings in the words of what is graded; column keys do not change."""
        columns = tuple(replace(column, title=worded(column.title, subject)) for column in self.columns)
        return replace(self, columns=columns)

    def _column(self, sort: str) -> Column | None:
        return next((column for column in self.columns if column.order and column.key == sort.removeprefix("-")), None)

    def _filtered(self, rows: Any, filters: Mapping[str, str]) -> Any:
        for choice in self.choices:
            rows = choice.narrow(rows, filters[choice.key])
        words = filters["q"].replace("\0", "")
        if not words or not self.search:
            return rows
        if isinstance(rows, QuerySet):
            matches = Q()
            for name in self.search:
                matches |= Q(**{f"{name}__icontains": words})
            return rows.filter(matches)
        columns = [Column(name.replace("__", "."), "") for name in self.search]
        return [row for row in rows if any(words.casefold() in str(column.plain(row)).casefold() for column in columns)]

    def _sorted(self, rows: Any, sort: str) -> Any:
        column = self._column(sort)
        if column is None:
            return rows
        down = sort.startswith("-")
        if isinstance(rows, QuerySet):
            field_ = F(column.order)
            # Rows without a value come last in both orders; the key at the end keeps pages from overlapping.
            return rows.order_by(field_.desc(nulls_last=True) if down else field_.asc(nulls_last=True), "pk")
        known = [row for row in rows if column.plain(row) is not None]
        unknown = [row for row in rows if column.plain(row) is None]
        return sorted(known, key=column.plain, reverse=down) + unknown


@dataclass(frozen=True)
class Page:
    """One page of a list, as the templates ``_list.html``, ``_table.html`` and ``_pager.html`` read it."""

    listing: Listing
    unfiltered: Any
    matches: Any
    filters: dict[str, str]
    sort: str
    count: int
    page: int
    pages: int
    rows: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        start = (self.page - 1) * self.listing.page_size
        object.__setattr__(self, "rows", list(self.matches[start : start + self.listing.page_size]))

    @property
    def nothing(self) -> bool:
        """Whether there are no rows even without a filter, so that the page shows its empty state."""
        if self.count:
            return False
        return not (self.unfiltered.exists() if isinstance(self.unfiltered, QuerySet) else self.unfiltered)

    @property
    def q(self) -> str:
        return self.filters.get("q", "")

    @property
    def choices(self) -> list[tuple[ChoiceFilter, list[tuple[str, str]], str]]:
        return [
            (choice, [("", "all"), *choice.options], self.filters.get(choice.key, ""))
            for choice in self.listing.choices
        ]

    @property
    def words(self) -> str:
        """The range and the count: ``51–100 of 1,234 queries``."""
        noun = self.listing.noun[0 if self.count == 1 else 1]
        if self.pages == 1:
            return f"{self.count:,} {noun}"
        first = (self.page - 1) * self.listing.page_size + 1
        return f"{first:,}–{first + len(self.rows) - 1:,} of {self.count:,} {noun}"

    @property
    def heads(self) -> list[tuple[Column, str, str]]:
        """The columns with their sort addresses and ``aria-sort``."""
        return [(column, self._sort_address(column), self._sorted_by(column)) for column in self.listing.columns]

    def _sorted_by(self, column: Column) -> str:
        if not column.order or self.sort.removeprefix("-") != column.key:
            return ""
        return "descending" if self.sort.startswith("-") else "ascending"

    def _sort_address(self, column: Column) -> str:
        if not column.order:
            return ""
        now = self._sorted_by(column)
        down = now == "ascending" if now else column.numeric
        return self.address(sort=f"-{column.key}" if down else column.key)

    @property
    def table(self) -> list[tuple[str, list[Cell]]]:
        """The rows as cells, each row with its mark."""
        mark = self.listing.mark
        return [(mark(row) if mark else "", [column.cell(row) for column in self.listing.columns]) for row in self.rows]

    @property
    def previous(self) -> str:
        return self.address(sort=self._own_sort, page=str(self.page - 1)) if self.page > 1 else ""

    @property
    def next(self) -> str:
        return self.address(sort=self._own_sort, page=str(self.page + 1)) if self.page < self.pages else ""

    @property
    def csv(self) -> str:
        return self.address(sort=self._own_sort, format="csv")

    @property
    def _own_sort(self) -> str:
        return "" if self.sort == self.listing.order else self.sort

    def address(self, **more: str) -> str:
        """Return the query string of this list with other parameters."""
        return "?" + urlencode(
            {key: value for key, value in {**self.listing.given, **self.filters, **more}.items() if value}
        )

    @property
    def everything(self) -> str:
        """The address of the whole list, without filter and sort order."""
        return "?" + urlencode(dict(self.listing.given))

    def csv_lines(self) -> Iterator[str]:
        """Yield the whole filtered list as CSV; text that a spreadsheet would run is escaped."""
        yield csv_row([escape(column.key) for column in self.listing.columns])
        rows: Iterable[Any] = self.matches
        if isinstance(self.matches, QuerySet):
            rows = self.matches.iterator(chunk_size=2000)
        for row in rows:
            yield csv_row([column.in_file(row) for column in self.listing.columns])


def _count(rows: Any) -> int:
    return rows.count() if isinstance(rows, QuerySet) else len(rows)


def answer(
    request: HttpRequest,
    listing: Listing,
    rows: Any,
    template: str,
    context: Mapping[str, Any],
    status: int = 200,
    many: int | None = None,
) -> HttpResponse | StreamingHttpResponse:
    """Return the list as a page, as the table for htmx, or as a file for ``?format=csv``."""
    page = listing.read(request.GET, rows, many)
    if request.GET.get("format") == "csv":
        on_record(request, f"the list {listing.name}", context.get("collection"))
        return download(page, context)
    fragment = request.htmx and request.htmx.target == listing.name  # type: ignore[attr-defined]
    response = render(request, "_table.html" if fragment else template, {**context, "listing": page}, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def on_record(request: HttpRequest, what: str, collection: Any) -> None:
    """Record the download of a file that may contain labels, even if the form was invalid."""
    if request.method != "HEAD" and collection is not None:
        message = f"{request.user} downloaded {what} as a file"
        audit.record("lists.download", message, actor=request.user, collection=collection, address=request.path)


def download(page: Page, context: Mapping[str, Any]) -> StreamingHttpResponse:
    """Return the list as a CSV file named after the collection."""
    slug = getattr(context.get("collection"), "slug", "")
    return streamed(f"{slugify(f'{slug} {page.listing.name}')}.csv", page.csv_lines())


def how_many(rows: QuerySet[Any], field_: str, to: str = "pk") -> Coalesce:
    """Return an expression for ``annotate`` that counts, per row of the page, the rows whose field equals ``to``."""
    counts = rows.filter(**{field_: OuterRef(to)}).order_by().values(field_).annotate(many=Count("pk"))
    return Coalesce(Subquery(counts.values("many")), 0)


ALL = 100_000


def small_table(name: str, noun: tuple[str, str], columns: tuple[Column, ...], rows: Sequence[Any]) -> Page:
    """Return the whole table on one page, in the order of the rows."""
    return Listing(name=name, noun=noun, columns=columns, order="", page_size=ALL).read({}, rows)


def requested_table(
    request: HttpRequest, tables: Sequence[Page], context: Mapping[str, Any]
) -> StreamingHttpResponse | None:
    """Return the requested table as a file, if it is one of these."""
    wanted = request.GET.get("table")
    chosen = next((page for page in tables if page.listing.name == wanted), None)
    return download(chosen, context) if chosen else None
