"""Template tags for rounds of answers: the answer with its evidence, and the question that raters grade."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from assay.core.sentences import Sentence, chosen, sentences, touch
from assay.rag.support import CITATION, supported_sentences
from judgments.documents.passages import COLLAPSED_FROM, read_text
from judgments.models import Document, Round
from judgments.rounds.answer_dimensions import DIMENSIONS
from judgments.web.rich_text import capped

# The number of characters of a passage that a page shows.
LONGEST_PASSAGE = 20_000
# A tag, or a citation.
TAG_OR_CITATION = re.compile(rf"<(/?)(\w+)[^>]*>|{CITATION.pattern}")


@dataclass(frozen=True)
class RenderedPassage:
    """A passage of the evidence as safe HTML."""

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
class RenderedAnswer:
    """An answer as its rater sees it, without the system."""

    text: SafeString
    anchor: str
    passages: tuple[RenderedPassage, ...]
    cut: bool
    reference: str

    @property
    def supports(self) -> bool:
        """Whether a sentence of the evidence is marked."""
        return any(one.supports for one in self.passages)


def render_answer(document: Document, anchor: str, *, reference: bool) -> RenderedAnswer:
    """Render an answer for a page."""
    text, cut = capped(document.text)
    read = read_text(text)
    texts = [str(one["text"]) for one in document.evidence]
    plain = [read_text(capped(one)[0]).plain for one in texts]
    marks = _marks(read.plain, tuple(one[:LONGEST_PASSAGE] for one in plain))
    passages = tuple(
        _passage(one, number, f"{anchor}-{number}", whole, passage_marks)
        for number, (one, whole, passage_marks) in enumerate(zip(document.evidence, plain, marks, strict=True), 1)
    )
    return RenderedAnswer(
        linked(read.html, len(passages), anchor), anchor, passages, cut, document.reference if reference else ""
    )


def linked(html: SafeString, passages: int, anchor: str) -> SafeString:
    """Turn citations in safe HTML into links, except unknown numbers and citations inside a link."""
    inside = False

    def link(match: re.Match[str]) -> str:
        nonlocal inside
        if match[2] is not None:
            inside = not match[1] if match[2].lower() == "a" else inside
            return match[0]
        return match[0] if inside else re.sub(r"\d+", one, match[0])

    def one(match: re.Match[str]) -> str:
        number = int(match[0])
        if not 1 <= number <= passages:
            return match[0]
        return f'<a class="cite" href="#{escape(anchor)}-{number}"><span class="sr">Passage </span>{match[0]}</a>'

    return mark_safe(TAG_OR_CITATION.sub(link, html))  # noqa: S308 - the input is safe, and only links are added


@lru_cache(maxsize=256)
def _marks(answer: str, passages: tuple[str, ...]) -> tuple[Mapping[Sentence, tuple[int, ...]], ...]:
    return tuple(supported_sentences(answer, passages))


def _passage(
    one: Mapping[str, str], number: int, anchor: str, plain: str, marks: Mapping[Sentence, tuple[int, ...]]
) -> RenderedPassage:
    text = plain[:LONGEST_PASSAGE]
    spans = sentences(text)
    excerpt = None
    if len(text) > COLLAPSED_FROM:
        hits = {at: frozenset(map(str, marks[span])) for at, span in enumerate(spans) if span in marks}
        excerpt = _paragraphs(text, spans, chosen(text, spans, hits), marks)
    return RenderedPassage(
        number=number,
        anchor=anchor,
        doc_id=one["doc_id"],
        title=one["title"],
        url=one["url"],
        excerpt=excerpt,
        whole=_paragraphs(text, spans, range(len(spans)), marks),
        length=len(plain),
        cut=len(plain) > LONGEST_PASSAGE,
        supports=bool(marks),
    )


def _paragraphs(
    text: str, spans: Sequence[Sentence], places: Sequence[int], marks: Mapping[Sentence, tuple[int, ...]]
) -> SafeString:
    """Return the sentences at these positions as paragraphs, with an ellipsis for omitted text."""
    parts: list[str] = []
    before = -1
    for at in places:
        sentence = _sentence(text, spans[at], marks)
        if parts and before == at - 1 and touch(text, spans[before], spans[at]):
            parts[-1] += f" {sentence}"
        else:
            parts.append(f"… {sentence}" if at > before + 1 else sentence)
        before = at
    end = " …" if parts and before < len(spans) - 1 else ""
    html = "".join(f'<p dir="auto">{part}</p>' for part in parts)
    return mark_safe(f"{html[: -len('</p>')]}{end}</p>" if parts else "")  # noqa: S308 - of escaped sentences


def _sentence(text: str, span: Sentence, marks: Mapping[Sentence, tuple[int, ...]]) -> SafeString:
    if span not in marks:
        return escape(text[slice(*span)])
    numbers = ", ".join(map(str, marks[span]))
    # Screen readers do not announce <mark>.
    return format_html(
        '<mark>{}</mark><span class="sr"> (shares words with sentence {} of the answer)</span>',
        text[slice(*span)],
        numbers,
    )


register = template.Library()


@register.simple_tag
def answer_parts(document: Document, anchor: Any, reference: bool) -> RenderedAnswer:
    """Return the answer of a RAG system with its evidence; the ids of its passages begin with ``anchor``."""
    return render_answer(document, f"p-{anchor}", reference=reference)


@register.filter
def question_of(round_: Round) -> str:
    """Return the question that raters of a round of answers grade."""
    return DIMENSIONS[round_.dimension].question
