"""Conditional API requests: ETags of responses, ``If-None-Match`` for reading, and ``If-Match`` for changing."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable
from typing import Any

from django.db import connection, transaction
from django.http.response import HttpResponseBase
from django.utils.cache import set_response_etag
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import Changed

CHANGING = ("PATCH", "PUT", "DELETE")


def check_unchanged(view: Any, handler: Callable[..., Response], *args: Any, **kwargs: Any) -> Response:
    """Call the handler of a change only if the object still has the ETag of ``If-Match``."""
    with transaction.atomic():
        _lock(view.request.path)
        wanted = parse_etags(view.request.headers["If-Match"])
        if (current := _current_etag(view.request, type(view), view.kwargs)) is None:
            raise Changed("This address has no ETag. Send the request without If-Match.")
        if wanted != ["*"] and current not in wanted:
            raise Changed("The object changed after you read it. Read it again, and send the change with its new ETag.")
        return handler(*args, **kwargs)


def _lock(path: str) -> None:
    """Let concurrent changes with ``If-Match`` wait for each other; on SQLite the transaction does that already."""
    if connection.vendor == "postgresql":
        key = int.from_bytes(hashlib.sha256(path.encode()).digest()[:8], signed=True)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])


def _current_etag(request: Request, view: Any, kwargs: dict[str, Any]) -> str | None:
    """Return the ETag that the caller would now get from this address."""
    again: Any = copy.copy(request._request)
    again.method = "GET"
    again.META = {**request.META, "REQUEST_METHOD": "GET", "CONTENT_LENGTH": "0", "QUERY_STRING": ""}
    again.reads_etag = True  # not counted for the rate limit
    again._force_auth_user, again._force_auth_token = request.user, request.auth
    response: HttpResponseBase = view.as_view()(again, **kwargs)
    if response.status_code != 200 or response.streaming:
        return None
    rendered: Any = response
    if isinstance(rendered, Response):
        rendered.render()
    return str(set_response_etag(rendered).headers["ETag"])
