"""How does a query get into a request without changing anything but its place?

A template is read as JSON first and filled afterwards, so that no query can close a quote and add to the request.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from judgments.core.errors import NotValid

QUERY, DEPTH = "{query}", "{depth}"


def parsed(name: str, text: str) -> Any:
    """Return a template as JSON.

    Parameters
    ----------
    name : str
        The setting, for messages.
    text : str
        JSON in which ``{query}`` and ``{depth}`` stand inside of texts.

    Raises
    ------
    NotValid
        When it is no JSON object; the text names line and column.
    """
    try:
        template = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"{name} is no JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        hint = '; write "{query}" and "{depth}" in quotes' if DEPTH in text or QUERY in text else ""
        raise NotValid(message + hint, {name: message + hint}) from None
    except RecursionError:
        message = f"{name} is nested too deeply"
        raise NotValid(message, {name: message}) from None
    if not isinstance(template, dict):
        message = f"{name} is no JSON object; write {{...}}"
        raise NotValid(message, {name: message})
    return template


def filled(template: Any, query: str, depth: int) -> Any:
    """Return the template with the query and the depth in their places.

    Examples
    --------
    >>> filled({"size": "{depth}", "q": ["{query}", "never {query}"]}, 'rain "jacket"', 10)
    {'size': 10, 'q': ['rain "jacket"', 'never rain "jacket"']}
    """
    if isinstance(template, dict):
        return {key: filled(value, query, depth) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, query, depth) for value in template]
    if template == DEPTH:
        return depth
    return _in_text(template, query, depth) if isinstance(template, str) else template


def filled_address(address: str, query: str, depth: int) -> str:
    """Return an address with the query in its place, escaped so that it stays one part of it.

    Examples
    --------
    >>> filled_address("https://example.com/find/{query}?n={depth}", "a/b&c", 5)
    'https://example.com/find/a%2Fb%26c?n=5'
    """
    return _in_text(address, quote(query, safe=""), depth)


def asks(*templates: Any) -> bool:
    """Whether the query stands in any of the templates."""
    return any(QUERY in json.dumps(template, ensure_ascii=False) for template in templates)


def _in_text(text: str, query: str, depth: int) -> str:
    # The depth first: a query may hold the word "{depth}", and stays as it was typed.
    return query.join(part.replace(DEPTH, str(depth)) for part in text.split(QUERY))
