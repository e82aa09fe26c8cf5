"""Template tags shared by all pages: form fields, rich text, links, pictures, running jobs, role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.conf import settings
from django.forms import BoundField, CheckboxInput, CheckboxSelectMultiple, RadioSelect, Select
from django.utils.safestring import SafeString

from judgments import access, richtext
from judgments.answer_dimensions import DIMENSIONS
from judgments.answers_shown import AnswerShown, answer_shown
from judgments.models import Collection, Document, Job, Round

register = template.Library()
PICTURE_ELSEWHERE = "Picture not loaded: another server would see who reads this."
PICTURE_IN_THE_CLEAR = "Picture not shown: its address is not encrypted."
PICTURE_OF_NO_WEB = "Picture not shown: its address begins with neither https:// nor http://."


@register.inclusion_tag("_field.html")
def field(bound: BoundField, hint: str = "", wide: bool = False) -> dict[str, Any]:
    """One field of a form: label, hint, control, error, in that order and tied to each other."""
    widget = bound.field.widget
    hint = hint or bound.help_text
    described = [f"{bound.auto_id}_hint"] if hint else []
    described += [f"{bound.auto_id}_error"] if bound.errors else []
    several = isinstance(widget, RadioSelect | CheckboxSelectMultiple)
    attrs: dict[str, Any] = {}
    if described and not several:
        attrs["aria-describedby"] = " ".join(described)
    if not several and not isinstance(widget, CheckboxInput):
        base = "select" if isinstance(widget, Select) else "input"
        attrs["class"] = f"{base} {widget.attrs.get('class', '')}".strip()
    return {
        "bound": bound,
        "control": bound.as_widget(attrs=attrs),
        "hint": hint,
        "wide": wide,
        "kind": "several" if several else "check" if isinstance(widget, CheckboxInput) else "one",
        "described": " ".join(described),
    }


@register.filter
def markdown(text: str) -> SafeString:
    """Markdown of others as safe HTML."""
    return richtext.markdown_html(text)


@register.filter
def web_address(url: str) -> str:
    """The address, if it is one that may become a link; anything else (``javascript:``) becomes the empty text.

    Examples
    --------
    >>> web_address("https://shop.example/1"), web_address("javascript:alert(1)")
    ('https://shop.example/1', '')
    """
    return url if url.lower().startswith(("https://", "http://")) else ""


@register.simple_tag(takes_context=True)
def picture(context: Mapping[str, Any], document: Document) -> dict[str, str]:
    """The ``address`` of the document's picture, or ``withheld``: why it is not shown; both empty where it has none.

    ``link`` is where a reader can look at it who chooses to.
    """
    address = web_address(document.image)
    if not address:
        return {"address": "", "withheld": PICTURE_OF_NO_WEB if document.image else ""}
    if not settings.REMOTE_IMAGES:
        return {"address": "", "withheld": PICTURE_ELSEWHERE, "link": address}
    # A browser would not fetch it either, and show a broken sign.
    if context["request"].is_secure() and not address.lower().startswith("https://"):
        return {"address": "", "withheld": PICTURE_IN_THE_CLEAR}
    return {"address": address, "withheld": ""}


@register.simple_tag
def answer_parts(document: Document, anchor: Any, reference: bool) -> AnswerShown:
    """The answer of a RAG system with its evidence; the ids of its passages begin with ``anchor``."""
    return answer_shown(document, f"p-{anchor}", reference=reference)


@register.filter
def question_of(round_: Round) -> str:
    """What raters of a round of answers answer with their grade."""
    return DIMENSIONS[round_.dimension].question


@register.simple_tag
def jobs_running(collection: Collection) -> int:
    """How many jobs of the collection wait or run."""
    return Job.objects.filter(collection=collection, state__in=[Job.State.QUEUED, Job.State.RUNNING]).count()


@register.simple_tag
def role(user: Any, collection: Collection) -> str:
    """The reader's role in the collection, empty for an outsider."""
    return access.role_in(user, collection) or ""


@register.filter
def is_staff_role(name: str) -> bool:
    """Whether the role covers more than rating."""
    return name in access.STAFF
