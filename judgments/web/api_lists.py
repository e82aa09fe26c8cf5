"""The convention of all API lists: ``page``, ``page_size``, ``ordering`` and filters, as each list declares them.

A list refuses a parameter that it does not know, so that a misspelled filter does not return everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import F, Field, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.filters import BaseFilterBackend
from rest_framework.mixins import ListModelMixin
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from assay.core.errors import NotValid
from judgments.models.fields import Archivable

ARCHIVED = "archived"
BOOLEANS = {"true": True, "false": False}


class Pages(PageNumberPagination):
    """Pages of 100, up to 1,000 by ``?page_size=``; ``results``, ``next``, ``previous``, ``count``."""

    page_size = 100
    max_page_size = 1000
    page_size_query_param = "page_size"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.page_query_param, self.page_size_query_param)

    def get_page_size(self, request: Request) -> int:
        """Return the page size, reduced to the limit if it is larger."""
        text = request.query_params.get(self.page_size_query_param)
        if text is None:
            return self.page_size
        if not (text.isascii() and text.isdigit() and int(text[:9]) > 0):
            message = f"Enter a whole number from 1 to {self.max_page_size:,}."
            raise NotValid("Invalid value of `page_size`.", {self.page_size_query_param: message})
        return min(int(text[:9]), self.max_page_size)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        page = {"type": "integer", "minimum": 1}
        size = {**page, "maximum": self.max_page_size, "default": self.page_size}
        return [
            _in_query("page", page, "The number of the page; 404 beyond the last one."),
            _in_query("page_size", size, f"Rows per page; larger values are reduced to {self.max_page_size}."),
        ]

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        address = {"type": ["string", "null"], "format": "uri"}
        properties = {"count": {"type": "integer"}, "next": address, "previous": address, "results": schema}
        return {"type": "object", "required": list(properties), "properties": properties}


class ArrayPages(Pages):
    """Pages of a short list, which is an array: all rows unless the caller asks for a page."""

    def get_page_size(self, request: Request) -> int:
        requested = any(name in request.query_params for name in self.names)
        return super().get_page_size(request) if requested else 2**31

    def get_paginated_response(self, data: Any) -> Response:
        """Return the rows as an array; the headers have the number of rows and the other pages."""
        pages = {"next": self.get_next_link(), "prev": self.get_previous_link()}
        links = ", ".join(f'<{address}>; rel="{name}"' for name, address in pages.items() if address)
        count = {"Total-Count": str(self.page.paginator.count)}
        return Response(data, headers=count | ({"Link": links} if links else {}))

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return schema


def _in_query(name: str, schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": description}


class DeclaredFilters(BaseFilterBackend):
    """Filters by the view's ``filters``: names of parameters with the columns that must equal their values."""

    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:
        check_known(request, view)
        wanted = {}
        for name, column in view.filters.items():
            value = request.query_params.get(name)
            if value is None:
                continue
            if "\0" in value:
                return queryset.none()  # No column contains a NUL, and PostgreSQL rejects it even in a query.
            wanted[column] = _checked(name, value, _field(queryset.model, column))
        return queryset.filter(**wanted) if wanted else queryset

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Describe the filters; each special parameter of a view describes itself in ``parameters``."""
        described = [_in_query(name, *_described(view, column)) for name, column in view.filters.items()]
        if is_archivable(view):
            archived = {"type": "boolean", "default": False}
            described.append(_in_query(ARCHIVED, archived, "Return the archived rows instead of the others."))
        return described


def _described(view: Any, column: str) -> tuple[dict[str, Any], str]:
    field = _field(view.queryset.model, column)
    choices = _choices(field)
    return {"type": "string", **({"enum": choices} if choices else {})}, "Return only rows with this value."


def _field(model: Any, column: str) -> Field[Any, Any]:
    *relations, last = column.split("__")
    for name in relations:
        model = model._meta.get_field(name).related_model
    return model._meta.get_field(last)


def _checked(name: str, value: str, field: Field[Any, Any]) -> str:
    choices = _choices(field)
    if choices and value not in choices:
        raise _not_a_choice(name, choices)
    return value


def _not_a_choice(name: str, choices: Iterable[str]) -> NotValid:
    return NotValid(f"Invalid value of `{name}`.", {name: f"Choose from {', '.join(filter(None, choices))}."})


def _choices(field: Field[Any, Any]) -> list[str]:
    choices = [str(value) for value, _ in field.flatchoices]
    return sorted([*choices, ""] if choices and field.blank else choices)


class DeclaredOrdering(BaseFilterBackend):
    """Order by the view's ``ordering``, which maps the names in ``?ordering=`` to columns or attributes."""

    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:
        text = request.query_params.get("ordering")
        if not text:
            return queryset
        wanted = [(name.lstrip("-"), name.startswith("-")) for name in text.split(",")]
        if strange := [name for name, _ in wanted if name not in view.ordering]:
            known = ", ".join(view.ordering)
            message = f"Unknown field {', '.join(strange)}. Known fields: {known}. Put - before a field to reverse it."
            raise NotValid("Invalid value of `ordering`.", {"ordering": message})
        if len({name for name, _ in wanted}) < len(wanted):
            raise NotValid("Invalid value of `ordering`.", {"ordering": "Name each field once."})
        return ordered(queryset, [(view.ordering[name], reverse) for name, reverse in wanted])

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        if not view.ordering:
            return []
        one = f"-?({'|'.join(view.ordering)})"
        schema = {"type": "string", "pattern": f"^{one}(,{one})*$"}
        text = (
            f"Fields to order by, separated by commas: {', '.join(view.ordering)}. Put - before a field to reverse it."
        )
        return [_in_query("ordering", schema, text)]


def ordered(rows: Any, columns: Sequence[tuple[str, bool]]) -> Any:
    """Return the rows in this order; rows without a value come last."""
    if isinstance(rows, QuerySet):
        by = [F(name).desc(nulls_last=True) if reverse else F(name).asc(nulls_last=True) for name, reverse in columns]
        return rows.order_by(*by, "pk")
    rows = list(rows)
    for name, reverse in reversed(columns):
        valued = [(row, _value(row, name)) for row in rows]
        present = sorted((pair for pair in valued if pair[1] is not None), key=lambda pair: pair[1], reverse=reverse)
        rows = [row for row, _ in present] + [row for row, value in valued if value is None]
    return rows


def _value(row: Any, name: str) -> Any:
    for part in name.split("."):
        row = row[part] if isinstance(row, Mapping) else getattr(row, part)
    return row


def check_known(request: Request, view: Any) -> None:
    """Refuse parameters that the list does not know."""
    known = known_names(view)
    if strange := [
        name for name in request.query_params if name not in known and name != api_settings.URL_FORMAT_OVERRIDE
    ]:
        message = f"Unknown parameter. Known parameters: {', '.join(known)}."
        raise NotValid("The request has unknown parameters.", dict.fromkeys(strange, message))
    for parameter in view.parameters:
        value = request.query_params.get(parameter.name)
        if parameter.enum and value and value not in parameter.enum:
            raise _not_a_choice(parameter.name, parameter.enum)


def known_names(view: Any) -> list[str]:
    """Return the names of the parameters that the list takes."""
    names = [*view.filters, *(parameter.name for parameter in view.parameters)]
    names += [ARCHIVED] if is_archivable(view) else []
    return [*names, *(["ordering"] if view.ordering else []), *Pages().names]


def is_archivable(view: Any) -> bool:
    return view.queryset is not None and issubclass(view.queryset.model, Archivable)


def wants_archived(request: Request) -> bool:
    """Return whether the caller asks for the archived rows."""
    text = request.query_params.get(ARCHIVED, "false")
    if text not in BOOLEANS:
        raise NotValid(f"Invalid value of `{ARCHIVED}`.", {ARCHIVED: "Enter true or false."})
    return BOOLEANS[text]


class Listed(ListModelMixin):
    """Mixin of endpoints whose GET returns the pages of ``rows``.

    ``parameters`` are the ones that the view reads itself.
    """

    filter_backends = [DeclaredFilters, DeclaredOrdering]
    filters: Mapping[str, str] = {}
    ordering: Mapping[str, str] = {}
    parameters: Sequence[OpenApiParameter] = ()

    def rows(self) -> Any:
        """Return the rows that the caller may see."""
        return super().get_queryset()  # type: ignore[misc]

    def get_queryset(self) -> Any:
        return self.queryset if getattr(self, "swagger_fake_view", False) else self.rows()  # type: ignore[attr-defined]

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.list(request, *args, **kwargs)


class ListedAsArray(Listed):
    """Mixin of endpoints whose GET returns a short list as an array."""

    queryset = None
    pagination_class = ArrayPages
