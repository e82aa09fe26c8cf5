"""Answers with their evidence on a page: citations are links, sentences that support the answer are marked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from assay.rag.support import CITATION, supported_sentences
from judgments.models import Document
from judgments.passages import COLLAPSED_FROM, read_text
from judgments.richtext import capped
from judgments.sentences import Sentence, chosen, sentences, touch

# So much of one passage can be read; a passage is a part of a document.
LONGEST_PASSAGE = 20_000
# A tag, or a citation.
TAG_OR_CITATION = re.compile(rf"<(/?)(\w+)[^>]*>|{CITATION.pattern}")


@dataclass(frozen=True)
class PassageShown:
    """A passage of the evidence, safe to put into a page.

    Parameters
    ----------
    number : int
        As citations count it, from 1.
    anchor : str
        The id of its element, where citations lead.
    doc_id, title, url : str
        As they came.
    excerpt : SafeString or None
        The best sentences of a long passage; None for a passage that is shown whole.
    whole : SafeString
        The text as paragraphs, the sentences that support the answer in ``<mark>``.
    length : int
        Characters of the text.
    cut : bool
        Whether the text is longer than what is shown.
    supports : bool
        Whether a sentence is marked.
    """

    number: int
    anchor: str
    doc_id: str
    title: str
    url: str
    excerpt: SafeString | None
    whole: SafeString
    length: int
    cut: bool
    supports: bool


@dataclass(frozen=True)
class AnswerShown:
    """An answer as its rater sees it. Nothing in it tells which system gave it.

    Parameters
    ----------
    text : SafeString
        The answer, its citations as links to the passages.
    anchor : str
        The id of its element.
    passages : tuple of PassageShown
        The evidence, in the order that citations count.
    cut : bool
        Whether the answer is longer than what is shown.
    reference : str
        The right answer; empty where none is known, or where the reader does not see it.
    """

    text: SafeString
    anchor: str
    passages: tuple[PassageShown, ...]
    cut: bool
    reference: str

    @property
    def supports(self) -> bool:
        """Whether a sentence of the evidence is marked."""
        return any(one.supports for one in self.passages)


def answer_shown(document: Document, anchor: str, *, reference: bool) -> AnswerShown:
    """Prepare an answer for a page.

    Parameters
    ----------
    document : Document
        A row of the kind ``answer``.
    anchor : str
        What the ids of its passages begin with, once in a page.
    reference : bool
        Whether the reader sees the right answer.
    """
    text, cut = capped(document.text)
    read = read_text(text)
    texts = [str(one["text"]) for one in document.evidence]
    plain = [read_text(capped(one)[0]).plain for one in texts]
    marks = _marks(read.plain, tuple(one[:LONGEST_PASSAGE] for one in plain))
    passages = tuple(
        _passage(one, number, f"{anchor}-{number}", whole, found)
        for number, (one, whole, found) in enumerate(zip(document.evidence, plain, marks, strict=True), 1)
    )
    return AnswerShown(
        linked(read.html, len(passages), anchor), anchor, passages, cut, document.reference if reference else ""
    )


def linked(html: SafeString, passages: int, anchor: str) -> SafeString:
    """Make links of the citations in safe HTML; a number that no passage has stays text, as does one inside a link."""
    inside = False

    def link(found: re.Match[str]) -> str:
        nonlocal inside
        if found[2] is not None:
            inside = not found[1] if found[2].lower() == "a" else inside
            return found[0]
        return found[0] if inside else re.sub(r"\d+", one, found[0])

    def one(found: re.Match[str]) -> str:
        number = int(found[0])
        if not 1 <= number <= passages:
            return found[0]
        return f'<a class="cite" href="#{escape(anchor)}-{number}"><span class="sr">Passage </span>{found[0]}</a>'

    return mark_safe(TAG_OR_CITATION.sub(link, html))  # noqa: S308 - safe before, and only links were added


@lru_cache(maxsize=256)
def _marks(answer: str, passages: tuple[str, ...]) -> tuple[Mapping[Sentence, tuple[int, ...]], ...]:
    return tuple(supported_sentences(answer, passages))


def _passage(
    one: Mapping[str, str], number: int, anchor: str, plain: str, marks: Mapping[Sentence, tuple[int, ...]]
) -> PassageShown:
    text = plain[:LONGEST_PASSAGE]
    found = sentences(text)
    excerpt = None
    if len(text) > COLLAPSED_FROM:
        hits = {at: frozenset(map(str, marks[span])) for at, span in enumerate(found) if span in marks}
        excerpt = _paragraphs(text, found, chosen(text, found, hits), marks)
    return PassageShown(
        number=number,
        anchor=anchor,
        doc_id=one["doc_id"],
        title=one["title"],
        url=one["url"],
        excerpt=excerpt,
        whole=_paragraphs(text, found, range(len(found)), marks),
        length=len(plain),
        cut=len(plain) > LONGEST_PASSAGE,
        supports=bool(marks),
    )


def _paragraphs(
    text: str, found: Sequence[Sentence], places: Sequence[int], marks: Mapping[Sentence, tuple[int, ...]]
) -> SafeString:
    """The sentences at these places as paragraphs; dots where something was left out."""
    parts: list[str] = []
    before = -1
    for at in places:
        sentence = _sentence(text, found[at], marks)
        if parts and before == at - 1 and touch(text, found[before], found[at]):
            parts[-1] += f" {sentence}"
        else:
            parts.append(f"… {sentence}" if at > before + 1 else sentence)
        before = at
    end = " …" if parts and before < len(found) - 1 else ""
    html = "".join(f'<p dir="auto">{part}</p>' for part in parts)
    return mark_safe(f"{html[: -len('</p>')]}{end}</p>" if parts else "")  # noqa: S308 - of escaped sentences


def _sentence(text: str, span: Sentence, marks: Mapping[Sentence, tuple[int, ...]]) -> SafeString:
    if span not in marks:
        return escape(text[slice(*span)])
    numbers = ", ".join(map(str, marks[span]))
    # A screen reader does not say that a text is marked.
    return format_html(
        '<mark>{}</mark><span class="sr"> (shares words with sentence {} of the answer)</span>',
        text[slice(*span)],
        numbers,
    )
