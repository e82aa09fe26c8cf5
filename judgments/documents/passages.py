"""Document view for raters: the full text of a short document, or the best passages of a long one for the query.

Passages are escaped sentences in the document's order, shown as paragraphs without the original markup.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from django.utils.html import escape
from django.utils.safestring import SafeString

from assay.core.sentences import Sentence, chosen, sentences, touch
from judgments.documents.highlight import fitting, highlight, highlight_text, mark, whole_words
from judgments.models import Document
from judgments.web.rich_text import capped, document_html

# Longer texts are collapsed.
COLLAPSED_FROM = 1_200
# The separators of blocks of text, of table cells, and all other tags.
BLOCK = re.compile(r"</?(?:p|br|hr|h[1-6]|ul|ol|li|table|thead|tbody|tr|dl|dt|dd|blockquote|pre)\b[^>]*>")
CELL = re.compile(r"</t[dh]>\s*<t[dh][^>]*>")
TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Shown:
    """A document as a rater of one query sees it, as safe HTML."""

    title: SafeString
    excerpt: SafeString | None
    length: int
    cut: bool
    unreadable: str
    text: str
    query: str

    @cached_property
    def whole(self) -> SafeString:
        """The whole text with its markup and the query's words marked, rendered on first use."""
        return _whole(self.text, self.query)


@dataclass(frozen=True)
class Read:
    """A text as safe HTML and as plain text."""

    html: SafeString
    plain: str  # one block per line
    length: int


def shown(document: Document, query: str) -> Shown:
    """Return the document as a rater of the query sees it."""
    text, cut = capped(document.text)
    read = read_text(text)
    return Shown(
        # The words of a question occur in most answers, so highlighting them does not help.
        title=highlight_text(document.title, "" if document.is_answer else query),
        excerpt=_excerpt(text, query) if read.length > COLLAPSED_FROM else None,
        length=read.length,
        cut=cut,
        unreadable=_unreadable(document, read),
        text=text,
        query=query,
    )


def _unreadable(document: Document, read: Read) -> str:
    if read.length:
        return ""
    if document.stub:
        return "The content of this document has not been imported yet. Only its id is known."
    if document.text.strip():
        return "This document has no text, only markup such as scripts, images or empty tags."
    return "This document has no text."


# The key is the text itself, because equal texts have equal passages.
@lru_cache(maxsize=64)
def read_text(text: str) -> Read:
    """Return a text as safe HTML and as plain blocks."""
    safe = document_html(text)
    with_breaks = BLOCK.sub("\n", CELL.sub(" · ", safe))
    plain = html.unescape(TAG.sub("", with_breaks))
    blocks = [block for line in plain.split("\n") if (block := " ".join(line.split()))]
    return Read(safe, "\n".join(blocks), sum(map(len, blocks)))


@lru_cache(maxsize=256)
def _excerpt(text: str, query: str) -> SafeString:
    plain = read_text(text).plain
    spans = sentences(plain)
    words = fitting(plain, query)
    starts = [start for start, _ in spans]
    hits: dict[int, frozenset[str]] = {}
    for start, word in whole_words(plain, words):
        place = bisect_right(starts, start) - 1
        hits[place] = hits.get(place, frozenset()) | words[word]
    return _paragraphs(plain, spans, chosen(plain, spans, hits), words)


@lru_cache(maxsize=64)
def _whole(text: str, query: str) -> SafeString:
    return highlight(read_text(text).html, query)


def _paragraphs(text: str, spans: Sequence[Sentence], places: list[int], words: Collection[str]) -> SafeString:
    """Return the chosen sentences as paragraphs, with an ellipsis for omitted text."""
    parts: list[list[int]] = []  # first and last position
    for place in places:
        if parts and parts[-1][1] == place - 1 and touch(text, spans[place - 1], spans[place]):
            parts[-1][1] = place
        else:
            parts.append([place, place])
    shown: list[str] = []
    before = -1
    for first, last in parts:
        start, end = spans[first][0], spans[last][1]
        inside = text[end : end + 1] not in ("", "\n")
        closing = " …" if inside or (last == places[-1] and last < len(spans) - 1) else ""
        opening = "… " if first > before + 1 else ""
        shown.append(f'<p dir="auto">{opening}{escape(text[start:end])}{closing}</p>')
        before = last
    return mark(SafeString("".join(shown)), words)
