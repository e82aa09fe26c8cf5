"""Request templates: safe insertion of a query.

A template is parsed as JSON first and filled afterward, so that no query can close a quote and add to the request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from assay.core.errors import NotValid

QUERY, DEPTH = "{query}", "{depth}"
# The number of hits requested before, and the number of this request for the query, from 1.
OFFSET, PAGE = "{offset}", "{page}"


def parsed(name: str, text: str) -> Any:
    """Return a template as JSON."""
    try:
        template = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"{name} is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        hint = '; write "{query}" and "{depth}" in quotes' if DEPTH in text or QUERY in text else ""
        raise NotValid(message + hint, name) from None
    except RecursionError:
        raise NotValid(f"{name} is nested too deeply. Use fewer levels.", name) from None
    if not isinstance(template, dict):
        raise NotValid(f"{name} is not a JSON object. Write {{...}}.", name)
    return template


def filled(template: Any, query: str, depth: int, offset: int = 0) -> Any:
    """Return the template with the query and numbers inserted.

    Examples
    --------
    >>> filled({"size": "{depth}", "q": ["{query}", "never {query}"]}, 'rain "jacket"', 10)
    {'size': 10, 'q': ['rain "jacket"', 'never rain "jacket"']}
    >>> filled({"from": "{offset}", "page": "{page}"}, "rain", 250, offset=500)
    {'from': 500, 'page': 3}
    """
    if isinstance(template, dict):
        return {key: filled(value, query, depth, offset) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, query, depth, offset) for value in template]
    if not isinstance(template, str):
        return template
    numbers = _numbers(depth, offset)
    return numbers[template] if template in numbers else _in_text(template, query, numbers)


def filled_address(address: str, query: str, depth: int, offset: int = 0) -> str:
    """Return an address with the query inserted and escaped.

    Examples
    --------
    >>> filled_address("https://example.com/find/{query}?n={depth}", "a/b&c", 5)
    'https://example.com/find/a%2Fb%26c?n=5'
    """
    return _in_text(address, quote(query, safe=""), _numbers(depth, offset))


def asks(*templates: Any) -> bool:
    """Return whether any of the templates contains the query."""
    return any(QUERY in json.dumps(template, ensure_ascii=False) for template in templates)


def pages(*templates: str) -> bool:
    """Return whether any of the templates contains the offset or page."""
    return any(word in template for word in (OFFSET, PAGE) for template in templates)


def _numbers(depth: int, offset: int) -> dict[str, int]:
    return {DEPTH: depth, OFFSET: offset, PAGE: offset // depth + 1 if depth else 1}


def _in_text(text: str, query: str, numbers: Mapping[str, int]) -> str:
    # Insert the numbers first: a query may contain the text "{depth}", which must stay as typed.
    parts = text.split(QUERY)
    for word, number in numbers.items():
        parts = [part.replace(word, str(number)) for part in parts]
    return query.join(parts)
