"""Sanitizing of HTML and Markdown that comes from others, so that pages can show it safely."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

import nh3
from django.utils.safestring import SafeString, mark_safe

# Without <mark>, which is reserved for the words of the query.
PROSE = {
    *("p", "br", "hr", "h2", "h3", "h4", "ul", "ol", "li", "strong", "b", "em", "i", "u", "s", "sub", "sup"),
    *("blockquote", "code", "pre", "kbd", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "a", "span"),
}
ATTRIBUTES = {"a": {"href", "title"}, "th": {"scope", "colspan", "rowspan"}, "td": {"colspan", "rowspan"}}
# A tag cannot extend past the start of the next one; otherwise a text with many starts is scanned once for each.
MARKUP = re.compile(r"<(?i:p|div|br|ul|ol|li|h[1-6]|table|b|strong|em|i|a|span)\b[^<>]*>")
# A text that begins with a tag is markup from the beginning, whatever the tag: a saved page, a single picture.
PAGE = re.compile(
    r"\s*<(?:!--|!doctype\b|\?xml\b|/?(?:html|head|body|title|meta|link|script|style|svg|img|picture|figure|iframe"
    r"|video|audio|object|embed|canvas|form|input|select|textarea|button|section|article|main|header|footer|nav|aside"
    r"|p|div|br|hr|ul|ol|li|dl|dt|dd|h[1-6]|table|thead|tbody|tr|td|th|b|strong|em|i|u|s|a|span|font|center|pre|code"
    r"|blockquote|template|noscript)\b[^<>]*>)",
    re.IGNORECASE,
)
# Content of a page that is not text, with its end. It is removed before the text is cut, so that prose remains.
BALLAST = re.compile(r"<((?i:script\b|style\b|svg\b|!--))|data:[\w/+.-]{0,80};base64,")
ENDS = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in ("script", "style", "svg")}
ENDS |= {"!--": re.compile("-->"), "": re.compile(r"[^A-Za-z0-9+/=]")}
# Markup is scanned several times; only this much text is rendered, and the page says so.
LONGEST = 200_000
# A text with more of them is not a page that a person wrote.
MOST_BALLAST = 5_000
# A browser reopens these elements in every paragraph until they are closed. More than this many open at once are not
# formatting, and the output would repeat them in every paragraph.
FORMATTING = r"a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
FORMATS = re.compile(rf"<(/?)({FORMATTING})(?![^\s/>])", re.IGNORECASE)
FORMATTING_TAG = re.compile(rf"</?(?:{FORMATTING})(?:[\s/][^<>]*)?>", re.IGNORECASE)
MOST_OPEN = 16
# The maximum nesting of all other elements, since a parser checks all open elements at every tag. Elements without an
# end tag, or ended by the next of their kind, do not count.
DEEPEST = 500
NAME = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
FLAT = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"),
    *("p", "li", "dt", "dd", "tr", "td", "th", "option", "optgroup", "thead", "tbody", "tfoot"),
}
# The last word is dropped rather than cut, unless it is longer than this.
LAST_WORD = 200


def clean_html(html: str) -> SafeString:
    """Return HTML without scripts, styles, forms, images, handlers and anything else that is not prose."""
    cleaned = nh3.clean(
        _tame(html),
        tags=PROSE,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(cleaned)  # noqa: S308 - this is the place where it is made safe


def _tame(html: str) -> str:
    """Return the markup, without formatting if that is nested too deeply, or as plain text if that is not enough."""
    if _is_deep(html):
        return str(nh3.clean_text(html))
    if not _is_wild(html):
        return html
    plain = FORMATTING_TAG.sub("", html)
    return str(nh3.clean_text(plain)) if _is_wild(plain) else plain


def _is_wild(html: str) -> bool:
    opened: Counter[str] = Counter()
    for tag in FORMATS.finditer(html):
        name = tag[2].lower()
        opened[name] = max(0, opened[name] + (-1 if tag[1] else 1))
        if not tag[1] and opened.total() > MOST_OPEN:
            return True
    return False


def _is_deep(html: str) -> bool:
    opened: Counter[str] = Counter()  # by name: an end tag closes only elements of its name
    depth = 0
    for tag in NAME.finditer(html):
        name, step = tag[2].lower(), -1 if tag[1] else 1
        if name not in FLAT and opened[name] + step >= 0:
            opened[name] += step
            depth += step
            if depth > DEEPEST:
                return True
    return False


def document_html(text: str) -> SafeString:
    """Return a document's text as safe HTML: its markup, or paragraphs if it has none."""
    shown, _ = capped(text)
    if is_markup(shown):
        return clean_html(shown)
    paragraphs = (part.strip() for part in re.split(r"\n\s*\n", shown))
    escaped = (nh3.clean_text(part) if "<" in part or "&" in part else part for part in paragraphs if part)
    return clean_html("".join(f"<p>{part}</p>" for part in escaped).replace("\n", "<br>"))


def is_markup(text: str) -> bool:
    """Return whether a text is HTML: it contains a common tag or begins with any tag."""
    return PAGE.match(text) is not None or MARKUP.search(text) is not None


def capped(text: str) -> tuple[str, bool]:
    """Return the part of a text that is rendered, and whether there is more. It ends between two words."""
    whole = _without_ballast(text) if is_markup(text[:LONGEST]) else text
    if len(whole) <= LONGEST:
        return whole, False
    shown = whole[:LONGEST]
    opened = shown.rfind("<", LONGEST - LAST_WORD)
    if opened > shown.rfind(">"):
        shown = shown[:opened]
    space = max(shown.rfind(" ", len(shown) - LAST_WORD), shown.rfind("\n", len(shown) - LAST_WORD))
    return (shown[:space] if space > 0 else shown), True


def _without_ballast(text: str) -> str:
    """Return the text without scripts, styles, drawings, comments and inlined data, up to the rendered length."""
    parts: list[str] = []
    at, room = 0, LONGEST + 1
    for _ in range(MOST_BALLAST):
        start = BALLAST.search(text, at, at + room)
        if start is None:
            break
        parts.append(text[at : start.start()])
        room -= len(parts[-1])
        end = ENDS[(start[1] or "").lower()].search(text, start.end())
        # Unterminated content takes the rest with it, as in a browser.
        at = len(text) if end is None else end.end() if start[1] else end.start()
    return "".join([*parts, text[at : at + room]])


@lru_cache(maxsize=256)
def markdown_html(markdown: str) -> SafeString:
    """Return Markdown as safe HTML; headings start at the second level, since the page has the first."""
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    html = renderer.render(markdown)
    html = re.sub(r"<(/?)h([1-6])>", lambda tag: f"<{tag[1]}h{min(int(tag[2]) + 1, 4)}>", html)
    return clean_html(html.replace("<th>", '<th scope="col">'))


def docs_html(html: str) -> SafeString:
    """Return the rendered docs of this version as safe HTML, with pictures and the anchors of headings."""
    headings = {f"h{level}": {"id"} for level in range(2, 7)}
    cleaned = nh3.clean(
        html.replace("<th>", '<th scope="col">'),
        tags=PROSE | {"img", "h5", "h6"},
        attributes={**ATTRIBUTES, **headings, "img": {"src", "alt"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
    # Wide tables and code scroll in their own boxes, also by keyboard.
    box = '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
    cleaned = cleaned.replace("<table>", f"{box}<table>").replace("</table>", "</table></div>")
    cleaned = cleaned.replace("<pre>", '<pre tabindex="0">')
    return mark_safe(cleaned)  # noqa: S308 - this is the place where it is made safe
