"""Which words of a document stand in the query, so that a rater finds them at a glance?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

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
        text = text.translate({ord(sign): None for sign in set(text) if unicodedata.combining(sign)})
    return text.split("\n")


@lru_cache(maxsize=512)
def terms(query: str) -> frozenset[str]:
    """The folded words of a query; single letters stand in every text and are left out.

    Examples
    --------
    >>> sorted(terms("Wanderschuhe für Kinder, 3"))
    ['fur', 'kinder', 'wanderschuhe']
    """
    words = (fold(word) for word in WORD.findall(query))
    return frozenset(word for word in words if len(word) >= LEAST)


def fitting(words: Iterable[str], query: str) -> dict[str, frozenset[str]]:
    """Of these words, as they are written, the ones that stand in the query, each with the terms that it fits.

    Examples
    --------
    >>> {word: sorted(which) for word, which in fitting(["Boots", "reboot", "Winterjacken"], "boot jacke").items()}
    {'Boots': ['boot'], 'Winterjacken': ['jacke']}
    """
    wanted = sorted(terms(query))
    written = list(words) if wanted else []
    folded = fold_all(written)
    known = {word: which for word in _likely(folded, wanted) if (which := _terms(word, wanted))}
    return {word: known[plain] for word, plain in zip(written, folded, strict=True) if plain in known}


def _likely(folded: list[str], wanted: list[str]) -> set[str]:
    """The words that may fit a term: those that hold one, and parts of the terms. Searched as one text."""
    lines = "\n".join(["", *folded, ""])
    found = set()
    for term in wanted:
        found.update(term[start:end] for end in range(len(term) - ENDING, len(term) + 1) for start in range(end))
        at = lines.find(term)
        while at >= 0:
            end = lines.index("\n", at)
            found.add(lines[lines.rindex("\n", 0, at) + 1 : end])
            at = lines.find(term, end)
    return found


def _terms(word: str, wanted: list[str]) -> frozenset[str]:
    return frozenset(term for term in wanted if word == term or _fits(word, term))


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
    return mark(html, fitting(set(WORD.findall(html)), query)) if terms(query) else html


def mark(html: SafeString, words: Collection[str]) -> SafeString:
    """Safe HTML with ``<mark>`` around these words, as they are written."""
    if not words:
        return html

    def marked(found: re.Match[str]) -> str:
        piece = found[0]
        return piece if piece[0] in "<&" or not _begins(found) else f"<mark>{piece}</mark>"

    pieces = re.compile("|".join([PASSED_OVER, *_ending(words)]))
    return mark_safe(pieces.sub(marked, str(html)))  # noqa: S308 - safe before, and only <mark> was added


def whole_words(text: str, words: Collection[str]) -> Iterator[tuple[int, str]]:
    """Where these words stand in plain text, as whole words."""
    for found in re.finditer("|".join(_ending(words)), text) if words else ():
        if _begins(found):
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
