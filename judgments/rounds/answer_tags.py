"""Template tags for rounds of answers: the answer with its evidence, and the question that raters grade."""

from __future__ import annotations

from typing import Any

from django import template

from judgments.documents.answer_rendering import RenderedAnswer, render_answer
from judgments.models import Document, Round
from judgments.rounds.answer_dimensions import DIMENSIONS

register = template.Library()


@register.simple_tag
def answer_parts(document: Document, anchor: Any, reference: bool) -> RenderedAnswer:
    """Return the answer of a RAG system with its evidence; the ids of its passages begin with ``anchor``."""
    return render_answer(document, f"p-{anchor}", reference=reference)


@register.filter
def question_of(round_: Round) -> str:
    """Return the question that raters of a round of answers grade."""
    return DIMENSIONS[round_.dimension].question
