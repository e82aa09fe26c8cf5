"""Template tags shared by all pages: form fields, rich text, links, pictures, running jobs, role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.conf import settings
from django.forms import BoundField, CheckboxInput, CheckboxSelectMultiple, RadioSelect, Select
from django.utils.safestring import SafeString

from judgments.models import Collection, Document, Job
from judgments.web import access, rich_text
from judgments.web.answer_words import Subject, worded

register = template.Library()
PICTURE_ELSEWHERE = "Picture not loaded: the other server would see who opens this page."
PICTURE_IN_THE_CLEAR = "Picture not shown: its address is not encrypted."
PICTURE_OF_NO_WEB = "Picture not shown: its address does not start with https:// or http://."


@register.inclusion_tag("_field.html")
def field(bound: BoundField, hint: str = "", wide: bool = False) -> dict[str, Any]:
    """Render one form field: label, hint, control and error, linked for screen readers."""
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
    """Render untrusted Markdown as safe HTML."""
    return rich_text.markdown_html(text)


@register.filter
def web_address(url: str) -> str:
    """Return the address if it may become a link; anything else (``javascript:``) becomes an empty text."""
    return url if url.lower().startswith(("https://", "http://")) else ""


@register.simple_tag(takes_context=True)
def picture(context: Mapping[str, Any], document: Document) -> dict[str, str]:
    """Return the ``address`` of the document's picture, or the reason why it is ``withheld``; both empty without
    one."""
    address = web_address(document.image)
    if not address:
        return {"address": "", "withheld": PICTURE_OF_NO_WEB if document.image else ""}
    if not settings.REMOTE_IMAGES:
        return {"address": "", "withheld": PICTURE_ELSEWHERE, "link": address}
    # A browser would not load it either and would show a broken image.
    if context["request"].is_secure() and not address.lower().startswith("https://"):
        return {"address": "", "withheld": PICTURE_IN_THE_CLEAR}
    return {"address": address, "withheld": ""}


@register.filter
def worded_for(text: str, subject: Subject | None) -> str:
    """Return a text with the words for a round or snapshot: question and answer if its grades are of answers."""
    wording = worded(str(text), subject)
    return SafeString(wording) if isinstance(text, SafeString) else wording


@register.filter
def zip_with(cells: Iterable[Any], heads: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Pair each cell of a row with its column heading, which a phone shows in the cell."""
    return list(zip(cells, heads, strict=True))


@register.simple_tag
def jobs_running(collection: Collection) -> int:
    """Return how many jobs of the collection are queued or running."""
    return Job.objects.filter(collection=collection, state__in=[Job.State.QUEUED, Job.State.RUNNING]).count()


@register.simple_tag
def role(user: Any, collection: Collection) -> str:
    """Return the reader's role in the collection, empty for a non-member."""
    return access.role_in(user, collection) or ""


@register.filter
def is_staff_role(name: str) -> bool:
    """Return whether the role covers more than rating."""
    return name in access.STAFF
