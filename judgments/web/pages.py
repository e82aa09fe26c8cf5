"""Decorators of page views: who may request them with which methods, and errors shown as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assay.core.errors import AssayError

View = Callable[..., Any]


def get_page(view: View) -> View:
    """Require a login, and allow only requests that change nothing."""
    return login_required(require_safe(view))


def form_page(view: View) -> View:
    """Require a login, and allow requests that show a form and that submit it."""
    return login_required(require_http_methods(["GET", "HEAD", "POST"])(view))


def post_action(view: View) -> View:
    """Require a login, and allow only POST."""
    return login_required(require_POST(view))


@contextmanager
def errors_as_messages(request: HttpRequest) -> Iterator[None]:
    """Show the error of an action as a message on the next page."""
    try:
        yield
    except AssayError as error:
        messages.error(request, str(error))
