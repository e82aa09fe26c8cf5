"""Which words of a document stand in the query, so that a rater finds them at a glance?"""

from __future__ import annotations

import re
import unicodedata

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

# A tag whole, its quoted values included; a character reference whole; a word. Only words are looked up.
PIECE = re.compile(r"""<[^>"]*(?:"[^"]*"[^>"]*)*>|&#?\w+;|[\w\u0300-\u036f]+""")
# Words that differ by an ending of so many letters are taken for one; shorter words must be the same.
ENDING = 2
STEM = 4
LEAST = 2


def fold(word: str) -> str:
    """A word without case and accents, so that GRÖSSE, Größe and grosse are one.

    Examples
    --------
    >>> fold("GRÖSSE") == fold("Größe") == "grosse", fold("Café")
    (True, 'cafe')
    """
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


def terms(query: str) -> frozenset[str]:
    """The folded words of a query; single letters stand in every text and are left out.

    Examples
    --------
    >>> sorted(terms("Wanderschuhe für Kinder, 3"))
    ['fur', 'kinder', 'wanderschuhe']
    """
    words = (fold(word) for word in re.findall(r"[\w\u0300-\u036f]+", query))
    return frozenset(word for word in words if len(word) >= LEAST)


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
    wanted = terms(query)
    if not wanted:
        return html
    seen: dict[str, bool] = {}

    def marked(found: re.Match[str]) -> str:
        piece = found[0]
        if piece[0] in "<&":
            return piece
        if piece not in seen:
            seen[piece] = _fits(fold(piece), wanted)
        return f"<mark>{piece}</mark>" if seen[piece] else piece

    return mark_safe(PIECE.sub(marked, str(html)))  # noqa: S308 - safe before, and only <mark> was added


def highlight_text(text: str, query: str) -> SafeString:
    """Plain text, escaped, with the words of the query marked."""
    return highlight(escape(text), query)


def _fits(word: str, wanted: frozenset[str]) -> bool:
    if word in wanted:
        return True
    return any(
        min(len(word), len(term)) >= STEM
        and abs(len(word) - len(term)) <= ENDING
        and (word.startswith(term) or term.startswith(word))
        for term in wanted
    )
