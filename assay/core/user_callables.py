"""Custom functions and classes, named ``module:name``: load them, and call them with a time limit."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

from assay.core.errors import NotValid

MOST_SHOWN = 300


def is_named(text: str) -> bool:
    """Return whether a text names an object in a module.

    Examples
    --------
    >>> is_named("shop.search:bm25"), is_named("token_overlap"), is_named("http://localhost:80/"), is_named("a b:c")
    (True, False, False, False)
    """
    module, colon, name = text.partition(":")
    parts = [*module.split("."), *name.split(".")]
    return bool(colon) and all(part.isidentifier() for part in parts)


def load(spec: str, what: str) -> Any:
    """Return the object that ``module:name`` names; the current folder is searched first."""
    module, _, name = spec.partition(":")
    if not is_named(spec):
        raise NotValid(f"{what} is {spec!r}; write module:name, such as search:bm25")
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        target: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise NotValid(
                f"{what} is {spec!r}, and the module {error.name} is neither in the working directory nor installed"
            ) from None
        raise NotValid(f"{what} is {spec!r}, and {module} needs the module {error.name}, which is missing") from None
    except Exception as error:
        raise NotValid(f"{what} is {spec!r}, and importing {module} {_raised(error)}") from error
    for part in name.split("."):
        if not hasattr(target, part):
            raise NotValid(f"{what} is {spec!r}, and {module} has no {name}")
        target = getattr(target, part)
    return target


def call(function: Callable[..., Any], *arguments: Any, seconds: float, who: str, about: str, **named: Any) -> Any:
    """Call a function with a time limit.

    Examples
    --------
    >>> call(len, "abc", seconds=5, who="len", about="query q1")
    3
    >>> call({}.pop, "abc", seconds=5, who="shop:grade", about="query q1")
    Traceback (most recent call last):
        ...
    assay.core.errors.NotValid: shop:grade, query q1: raised KeyError: 'abc'
    """
    results: list[Any] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function(*arguments, **named))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise NotValid(f"{who}, {about}: {_raised(failed[0])}") from failed[0]
    if not results:
        raise NotValid(f"{who}, {about}: did not return within {seconds:g} s; raise the limit with --timeout")
    return results[0]


def _raised(error: BaseException) -> str:
    message = " ".join(str(error).split())[:MOST_SHOWN]
    return f"raised {type(error).__name__}" + (f": {message}" if message else "")
