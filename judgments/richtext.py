"""How does text of others get into a page without bringing anything along?"""

from __future__ import annotations

import re
from functools import lru_cache

import nh3
from django.utils.safestring import SafeString, mark_safe

PROSE = {
    *("p", "br", "hr", "h2", "h3", "h4", "ul", "ol", "li", "strong", "b", "em", "i", "u", "s", "sub", "sup", "mark"),
    *("blockquote", "code", "pre", "kbd", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "a", "span"),
}
ATTRIBUTES = {"a": {"href", "title"}, "th": {"scope", "colspan", "rowspan"}, "td": {"colspan", "rowspan"}}
# No tag reaches over the next one's beginning: else a text of many beginnings is walked once for each of them.
MARKUP = re.compile(r"<(?:p|div|br|ul|ol|li|h[1-6]|table|b|strong|em|i|a|span)\b[^<>]*>", re.IGNORECASE)
# Markup is walked more than once; text beyond this is cut from what is rendered, and the page says so.
LONGEST = 200_000


def clean_html(html: str) -> SafeString:
    """HTML from outside with everything removed that is not prose: no scripts, styles, forms, images or handlers."""
    cleaned = nh3.clean(
        html,
        tags=PROSE,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(cleaned)  # noqa: S308 - this is the place where it is made safe


def document_html(text: str) -> SafeString:
    """A document's text for the rater: markup kept where there is some, paragraphs made where there is none."""
    shown = text[:LONGEST]
    if MARKUP.search(shown):
        return clean_html(shown)
    paragraphs = (part.strip() for part in re.split(r"\n\s*\n", shown))
    escaped = (nh3.clean_text(part) if "<" in part or "&" in part else part for part in paragraphs if part)
    return clean_html("".join(f"<p>{part}</p>" for part in escaped).replace("\n", "<br>"))


@lru_cache(maxsize=256)
def markdown_html(markdown: str) -> SafeString:
    """Markdown as safe HTML; headings start at the second level, since the page has the first."""
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    html = renderer.render(markdown)
    html = re.sub(r"<(/?)h([1-6])>", lambda found: f"<{found[1]}h{min(int(found[2]) + 1, 4)}>", html)
    return clean_html(html.replace("<th>", '<th scope="col">'))
