"""Document view for raters: the full text of a short document, or the best passages of a long one for the query.

Passages are escaped sentences in the document's order, shown as paragraphs without the original markup.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from assay.core.sentences import Sentence, chosen, sentences, touch
from judgments.models import Document
from judgments.web.rich_text import capped, document_html

WORD = re.compile(r"[\w\u0300-\u036f]+")
# A complete tag with its quoted values, or a complete character reference. Neither is searched.
PASSED_OVER = r"""<[^>"]*(?:"[^"]*"[^>"]*)*>|&#?\w+;"""
# Words that differ only by an ending of at most this many letters count as equal; shorter words must be identical.
ENDING = 2
STEM = 4
LEAST = 2
# The last part of a compound names its kind: a Regenjacke is a Jacke. Both parts must have a minimum length.
HEAD = 5
FRONT = 3
# Longer sequences of letters are not words; their patterns would take longer than all others together.
LONGEST_WORD = 200
# A text with more distinct words than this is searched word by word, because the cost is their product.
MANY = 100
# Only a query's first terms are searched, because the cost grows with their number.
MOST_TERMS = 32


def fold(word: str) -> str:
    """Return a word without case and accents, so that GRÖSSE, Größe and grosse are equal."""
    return fold_all([word])[0]


def fold_all(words: list[str]) -> list[str]:
    """Fold many words at once as one text, because a long document has thousands of them."""
    if not words:
        return []
    text = "\n".join(words).casefold()
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        for sign in set(text):
            if unicodedata.combining(sign):
                text = text.replace(sign, "")
    return text.split("\n")


@lru_cache(maxsize=512)
def terms(query: str) -> frozenset[str]:
    """Return the first `MOST_TERMS` folded words of a query, without single letters, which occur in every text."""
    words = (fold(word) for word in WORD.findall(query))
    selected = dict.fromkeys(word for word in words if len(word) >= LEAST)
    return frozenset(islice(selected, MOST_TERMS))


def fitting(text: str, query: str) -> dict[str, frozenset[str]]:
    """Return the words of a text that match the query, as written, each with its matching terms."""
    wanted = sorted(terms(query))
    if not wanted:
        return {}
    tokens = list(set(text.split()))
    candidate_words = {word for token in _likely(tokens, wanted) for word in WORD.findall(token)}
    words = [word for word in candidate_words if len(word) <= LONGEST_WORD]
    spans = {}
    for word, folded in zip(words, fold_all(words), strict=True):
        if which := [term for term in wanted if word and (folded == term or _fits(folded, term))]:
            spans[word] = frozenset(which)
    return dict(sorted(spans.items()))


def _likely(tokens: list[str], wanted: list[str]) -> list[str]:
    """Return the tokens that may contain a matching word, by searching all of them as one text."""
    folded = fold_all(tokens)
    lines = "\n".join(["", *folded, ""])
    tokens_: set[str] = set()
    for core in {core for term in wanted for core in _cores(term)}:
        at = lines.find(core)
        while at >= 0:
            end = lines.index("\n", at)
            tokens_.add(lines[lines.rindex("\n", 0, at) + 1 : end])
            at = lines.find(core, end)
    return [token for token, plain in zip(tokens, folded, strict=True) if plain in tokens_] if tokens_ else []


def _cores(term: str) -> list[str]:
    """Return the strings of which a matching word contains one: its beginning, or a part if it may be a compound."""
    cores = [term[: max(STEM, len(term) - ENDING)]]
    return [*cores, term[-HEAD:-ENDING]] if len(term) >= HEAD + FRONT else cores


def highlight(html: SafeString, query: str) -> SafeString:
    """Return safe HTML with ``<mark>`` around the words of the query, skipping tags and character references."""
    return mark(html, fitting(html, query))


def mark(html: SafeString, words: Collection[str]) -> SafeString:
    """Return safe HTML with ``<mark>`` around these words."""
    if not words:
        return html

    def marked(match: re.Match[str]) -> str:
        piece = match[0]
        return piece if piece[0] in "<&" or piece not in words or not _begins(match) else f"<mark>{piece}</mark>"

    pieces = re.compile("|".join([PASSED_OVER, *(_ending(words) if len(words) <= MANY else [WORD.pattern])]))
    return mark_safe(pieces.sub(marked, str(html)))  # noqa: S308 - safe before, and only <mark> was added


def whole_words(text: str, words: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield the positions of these words in plain text, as whole words."""
    pieces = "|".join(_ending(words)) if len(words) <= MANY else WORD.pattern
    for match in re.finditer(pieces, text) if words else ():
        if match[0] in words and _begins(match):
            yield match.start(), match[0]


def _ending(words: Collection[str]) -> list[str]:
    # Each alternative begins with a fixed letter, so that the regex engine can skip other text quickly.
    longest_first = sorted(words, key=len, reverse=True)
    return [rf"{re.escape(word)}(?![\w\u0300-\u036f])" for word in longest_first]


def _begins(match: re.Match[str]) -> bool:
    return not match.start() or not WORD.match(match.string[match.start() - 1])


def highlight_text(text: str, query: str) -> SafeString:
    """Return plain text, escaped, with the words of the query marked."""
    return highlight(escape(text), query)


def _fits(word: str, term: str) -> bool:
    short, long = (word, term) if len(word) <= len(term) else (term, word)
    if len(short) < STEM:
        return False
    if len(long) - len(short) <= ENDING and long.startswith(short):
        return True
    if len(short) < HEAD or len(long) < HEAD + FRONT:
        return False
    # The last part of the longer word, with or without an ending.
    at = long.rfind(short)
    return at >= FRONT and len(long) - at - len(short) <= ENDING


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
