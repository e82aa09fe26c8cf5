"""Decorators of page views: who may request them with which methods, and errors shown as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assay.core.errors import AssayError
from judgments.web import access

View = Callable[..., Any]


class PageView:
    """A decorator of page views, which require a login and allow only some methods."""

    def __init__(self, methods: Callable[[View], View]) -> None:
        self.methods = methods

    def __call__(self, view: View) -> View:
        return login_required(self.methods(view))

    def of_collection(self, roles: tuple[str, ...]) -> Callable[[View], View]:
        """Pass the view the collection in the address, for members in one of the roles."""
        return self._reaching(access.collection_for, "slug", roles)

    def of_round(self, roles: tuple[str, ...]) -> Callable[[View], View]:
        """Pass the view the round in the address, for members of its collection in one of the roles."""
        return self._reaching(access.round_for, "uuid", roles)

    def _reaching(self, getter: Callable[..., Any], name: str, roles: tuple[str, ...]) -> Callable[[View], View]:
        def decorate(view: View) -> View:
            @wraps(view)
            def reach(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
                return view(request, getter(request.user, kwargs.pop(name), roles), *args, **kwargs)

            return self(reach)

        return decorate


get_page = PageView(require_safe)
form_page = PageView(require_http_methods(["GET", "HEAD", "POST"]))
post_action = PageView(require_POST)


def finish(request: HttpRequest, message: str, to: Any, *args: Any) -> HttpResponse:
    """Show a message about a successful action on the page that follows."""
    messages.success(request, message)
    return redirect(to, *args)


@contextmanager
def errors_as_messages(request: HttpRequest) -> Iterator[None]:
    """Show the error of an action, with what it says about fields, as a message on the next page."""
    try:
        yield
    except AssayError as error:
        hints = [text for text in getattr(error, "fields", {}).values() if text not in str(error)]
        messages.error(request, " ".join([str(error), *hints]))
