"""Highlighting of query words in a document, so that a rater sees them at a glance."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import islice

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

WORD = re.compile(r"[\w\u0300-\u036f]+")
# A tag whole, its quoted values included; a character reference whole. Neither is looked into.
PASSED_OVER = r"""<[^>"]*(?:"[^"]*"[^>"]*)*>|&#?\w+;"""
# Words that differ by an ending of so many letters are taken for one; shorter words must be the same.
ENDING = 2
STEM = 4
LEAST = 2
# A compound is about what it ends with: a Regenjacke is a Jacke. Both parts must be words of some length.
HEAD = 5
FRONT = 3
# Letters without a space beyond this are no word: a pattern of them would take longer than all others together.
LONGEST_WORD = 200
# A text that holds more different words than this is searched word by word: trying each of them costs their product.
MANY = 100
# A query's first terms are looked for, and no more: their number times that of a document's words is what it costs.
MOST_TERMS = 32


def fold(word: str) -> str:
    """A word without case and accents, so that GRÖSSE, Größe and grosse are one.

    Examples
    --------
    >>> fold("GRÖSSE") == fold("Größe") == "grosse", fold("Café")
    (True, 'cafe')
    """
    return fold_all([word])[0]


def fold_all(words: list[str]) -> list[str]:
    """Many words folded, all as one text: a long document has thousands of them."""
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
    """The folded words of a query, the first `MOST_TERMS`; single letters stand in every text and are left out.

    Examples
    --------
    >>> sorted(terms("Wanderschuhe für Kinder, 3"))
    ['fur', 'kinder', 'wanderschuhe']
    """
    words = (fold(word) for word in WORD.findall(query))
    kept = dict.fromkeys(word for word in words if len(word) >= LEAST)
    return frozenset(islice(kept, MOST_TERMS))


def fitting(text: str, query: str) -> dict[str, frozenset[str]]:
    """The words of a text, as they are written, that stand in the query, each with the terms that it fits.

    Parameters
    ----------
    text : str
        Plain text or HTML: a name of a tag that is a word of the query does no harm, since no tag is looked into.
    query : str
        What was typed.

    Examples
    --------
    >>> {word: sorted(which) for word, which in fitting("Boots, reboot (Winterjacken)", "boot jacke").items()}
    {'Boots': ['boot'], 'Winterjacken': ['jacke']}
    """
    wanted = sorted(terms(query))
    if not wanted:
        return {}
    tokens = list(set(text.split()))
    found_words = {word for token in _likely(tokens, wanted) for word in WORD.findall(token)}
    words = [word for word in found_words if len(word) <= LONGEST_WORD]
    found = {}
    for word, folded in zip(words, fold_all(words), strict=True):
        if which := [term for term in wanted if word and (folded == term or _fits(folded, term))]:
            found[word] = frozenset(which)
    return dict(sorted(found.items()))


def _likely(tokens: list[str], wanted: list[str]) -> list[str]:
    """The tokens that may hold a word that fits: all of them are searched as one text."""
    folded = fold_all(tokens)
    lines = "\n".join(["", *folded, ""])
    found: set[str] = set()
    for core in {core for term in wanted for core in _cores(term)}:
        at = lines.find(core)
        while at >= 0:
            end = lines.index("\n", at)
            found.add(lines[lines.rindex("\n", 0, at) + 1 : end])
            at = lines.find(core, end)
    return [token for token, plain in zip(tokens, folded, strict=True) if plain in found] if found else []


def _cores(term: str) -> list[str]:
    """What every word holds that fits the term: how it begins, or a piece of it, where the word may be its head."""
    cores = [term[: max(STEM, len(term) - ENDING)]]
    return [*cores, term[-HEAD:-ENDING]] if len(term) >= HEAD + FRONT else cores


def highlight(html: SafeString, query: str) -> SafeString:
    """Safe HTML with ``<mark>`` around the words of the query. Tags and character references are passed over.

    Parameters
    ----------
    html : SafeString
        What :func:`judgments.richtext.clean_html` answered: nothing is made safe here.
    query : str
        What was typed.

    Examples
    --------
    >>> highlight(SafeString('<p title="boot">Two boots &amp; a sock</p>'), "Boot amp")
    '<p title="boot">Two <mark>boots</mark> &amp; a sock</p>'
    """
    return mark(html, fitting(html, query))


def mark(html: SafeString, words: Collection[str]) -> SafeString:
    """Safe HTML with ``<mark>`` around these words, as they are written."""
    if not words:
        return html

    def marked(found: re.Match[str]) -> str:
        piece = found[0]
        return piece if piece[0] in "<&" or piece not in words or not _begins(found) else f"<mark>{piece}</mark>"

    pieces = re.compile("|".join([PASSED_OVER, *(_ending(words) if len(words) <= MANY else [WORD.pattern])]))
    return mark_safe(pieces.sub(marked, str(html)))  # noqa: S308 - safe before, and only <mark> was added


def whole_words(text: str, words: Collection[str]) -> Iterator[tuple[int, str]]:
    """Where these words stand in plain text, as whole words."""
    pieces = "|".join(_ending(words)) if len(words) <= MANY else WORD.pattern
    for found in re.finditer(pieces, text) if words else ():
        if found[0] in words and _begins(found):
            yield found.start(), found[0]


def _ending(words: Collection[str]) -> list[str]:
    # Each choice begins with a known letter: the text between is passed over without a step for each letter.
    longest_first = sorted(words, key=len, reverse=True)
    return [rf"{re.escape(word)}(?![\w\u0300-\u036f])" for word in longest_first]


def _begins(found: re.Match[str]) -> bool:
    return not found.start() or not WORD.match(found.string[found.start() - 1])


def highlight_text(text: str, query: str) -> SafeString:
    """Plain text, escaped, with the words of the query marked."""
    return highlight(escape(text), query)


def _fits(word: str, term: str) -> bool:
    short, long = (word, term) if len(word) <= len(term) else (term, word)
    if len(short) < STEM:
        return False
    if len(long) - len(short) <= ENDING and long.startswith(short):
        return True
    if len(short) < HEAD or len(long) < HEAD + FRONT:
        return False
    # The head of the longer one, with or without an ending of its own.
    at = long.rfind(short)
    return at >= FRONT and len(long) - at - len(short) <= ENDING
