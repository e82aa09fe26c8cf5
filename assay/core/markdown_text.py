"""Untrusted text in Markdown: code spans and escaped text for table cells."""

from __future__ import annotations

import html
import re


def code(text: str) -> str:
    """Return a code span for a table cell; bars are escaped and the fence is longer than any run of backticks.

    Examples
    --------
    >>> code("a|b"), code("`x`")
    ('`a\\\\|b`', '`` `x` ``')
    """
    escaped = " ".join(text.split()).replace("|", r"\|")
    fence = "`" * (max(map(len, re.findall("`+", escaped)), default=0) + 1)
    return f"{fence} {escaped} {fence}" if len(fence) > 1 else f"{fence}{escaped}{fence}"


def plain(text: str) -> str:
    """Return text with markup, HTML and cell ends escaped.

    Examples
    --------
    >>> plain("<b>*x*</b>")
    '&lt;b&gt;\\\\*x\\\\*&lt;/b&gt;'
    """
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", html.escape(" ".join(text.split()), quote=False))
