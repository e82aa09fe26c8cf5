"""Template tag that shows a document as a search result."""

from __future__ import annotations

from django import template
from django.template.context import Context
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from judgments.documents import result_templates
from judgments.models import Document
from judgments.web.components import picture

register = template.Library()
SNIPPET = 200


@register.simple_tag(takes_context=True)
def result(context: Context, document: Document, level: int = 3, place: int = 0) -> SafeString:
    """Render a document by its collection's template; without one, empty, or the usual view for a place in a list."""
    shown = result_templates.result_of(document.collection, document)
    if shown is None and not place:
        return SafeString("")
    usual = result_templates.Result(document.title or document.doc_id, snippet=document.text[:SNIPPET], image=True)
    image = picture(context.flatten(), document) if (shown or usual).image else {}
    about = {"document": document, "result": shown or usual, "image": image, "level": level}
    return render_to_string("judgments/documents/_result.html", about)
