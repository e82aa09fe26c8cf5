"""Help: the pages of the docs, rendered for the browser, and the part of them that belongs to a page."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString

from assay.core.errors import NotFound
from judgments.hooks import PAGES
from judgments.web.rich_text import docs_html

DOCS: Path = settings.WEB_DIR / "docs"
PAGE = re.compile(r"(?:[a-z0-9-]+/)?[a-z0-9-]+")
FILE = re.compile(r"(?:[a-z0-9-]+/)?[a-z0-9-]+\.(?:svg|png|ipynb|csv)")
FALLBACK = "index"


class HelpPage(NamedTuple):
    title: str
    html: SafeString
    anchors: frozenset[str]


def part_for(route: str) -> str:
    """Return the page of the docs, perhaps with an anchor, for the page of the route."""
    while (page := PAGES.get(route)) is not None:
        if page.help:
            return page.help
        route = page.parent
    return FALLBACK


def address_of(part: str) -> str:
    """Return the address of a page of the docs, perhaps with an anchor."""
    name, hash_, anchor = part.partition("#")
    url = reverse("help") if name == FALLBACK else reverse("help_page", args=[name])
    return f"{url}{hash_}{anchor}"


def page_of(name: str) -> HelpPage:
    """Return the rendered page of the docs."""
    path = DOCS / f"{name}.md"
    if not PAGE.fullmatch(name) or not path.is_file():
        raise NotFound(f"The docs have no page “{name}”. Help lists all pages.")
    return _rendered(name, path, path.stat().st_mtime_ns)


def file_of(name: str) -> Path:
    """Return the path of a picture or an example file of the docs."""
    path = DOCS / name
    if not FILE.fullmatch(name) or not path.is_file():
        raise NotFound("The docs have no such file.")
    return path


@lru_cache(maxsize=64)
def _rendered(name: str, path: Path, changed: int) -> HelpPage:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens: list[Any] = reader.parse(path.read_text(encoding="utf-8"))
    seen: Counter[str] = Counter()
    title = ""
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            text = "".join(part.content for part in content.children if part.type in ("text", "code_inline"))
            title = title or text
            token.attrSet("id", anchor_of(text, seen))
    for token in tokens:
        for part in token.children or ():
            if part.type == "link_open":
                part.attrSet("href", _address(name, str(part.attrGet("href"))))
            elif part.type == "image":
                part.attrSet("src", _address(name, str(part.attrGet("src"))))
    html = reader.renderer.render(tokens[3:], reader.options, {})
    # The first heading is the title, which the page shows itself.
    anchors = frozenset(str(token.attrGet("id")) for token in tokens[3:] if token.attrGet("id"))
    return HelpPage(title, docs_html(html), anchors)


def anchor_of(heading: str, seen: Counter[str]) -> str:
    """Return the anchor of a heading, the same as on the site that MkDocs builds."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    anchor = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
    seen[anchor] += 1
    return anchor if seen[anchor] == 1 else f"{anchor}_{seen[anchor] - 1}"


def _address(name: str, href: str) -> str:
    """Return the address of a link or picture on a page; pages and files of the docs have addresses of this server."""
    target, hash_, anchor = href.partition("#")
    if ":" in href or not target:
        return href
    place = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
    if FILE.fullmatch(place):
        return reverse("help_file", args=[place])
    place = place.removesuffix(".md")
    return address_of(f"{place}{hash_}{anchor}") if PAGE.fullmatch(place) else href
