"""Components of pages, as template tags: heads, cards, tables, forms, rich text, pictures, running jobs, role."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django import template
from django.conf import settings
from django.forms import BoundField, CheckboxInput, CheckboxSelectMultiple, RadioSelect, Select
from django.template.base import render_value_in_context
from django.template.context import Context
from django.template.defaulttags import CsrfTokenNode
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html, format_html_join
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
    """Return the ``address`` of the document's picture, or why it is ``withheld``; both empty without one."""
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


# The contents of a block are escaped, so this comment cannot come from data.
THEN = SafeString("<!--then-->")


@register.simple_tag
def then() -> SafeString:
    """Separate the two parts of a component: head and actions, links and body of a card, value and note."""
    return THEN


def _parts(content: str) -> tuple[SafeString, SafeString | None]:
    first, then_, second = content.partition(THEN)
    return SafeString(first), SafeString(second) if then_ else None


@register.simple_block_tag
def head(content: str) -> SafeString:
    """Render the head of a page: path, title and description, then the actions."""
    title, actions = _parts(content)
    return format_html('<div class="head"><div>{}</div>{}</div>', title, actions or "")


@register.simple_block_tag
def split(content: str, style: str = "") -> SafeString:
    """Render columns, which a narrow screen shows one below the other."""
    css = f"split split--{style}" if style else "split"
    return format_html('<div class="{}"><div>{}</div></div>', css, content)


@register.simple_block_tag(takes_context=True)
def card(
    context: Context, content: str, key: str, *title: Any, style: str = "card stack", level: int = 2
) -> SafeString:
    """Render a section with its heading; with ``then``, the first part stands beside the heading."""
    heading = format_html('<h{} id="{}">{}</h{}>', level, key, _text(context, title), level)
    beside, body = _parts(content)
    if body is None:
        body = beside
    else:
        heading = format_html('<div class="card__head">{}{}</div>', heading, beside)
    return format_html('<section class="{}" aria-labelledby="{}">{}{}</section>', style, key, heading, body)


@register.simple_block_tag(takes_context=True)
def fold(context: Context, content: str, *title: Any, style: str = "", summary: str = "") -> SafeString:
    """Render contents that open below their title."""
    outer, inner = (format_html(' class="{}"', css) if css else "" for css in (style, summary))
    return format_html("<details{}><summary{}>{}</summary>{}</details>", outer, inner, _text(context, title), content)


@register.simple_block_tag(takes_context=True)
def table(context: Context, content: str, label: str, *heads: Any, style: str = "", tall: bool = False) -> SafeString:
    """Render a table in a scroll box, labeled by a text or by the element ``#id``; without a label, only the table.

    ``"#Pairs"`` is a numeric column and ``"~Remove"`` a heading for screen readers only; ``"#"`` alone makes the next
    heading numeric. Empty headings are left out. A caption comes first in the block.
    """
    caption, end, rows = content.rpartition("</caption>")
    inside = [SafeString(caption + end), SafeString(rows)]
    if heads:
        inside[1:] = ["<thead><tr>", *_headings(context, heads), "</tr></thead><tbody>", rows, "</tbody>"]
    shown = format_html('<table class="{}">{}</table>', f"table {style}".strip(), SafeString("".join(inside)))
    if not label:
        return shown
    named = ("labelledby", label[1:]) if label.startswith("#") else ("label", label)
    scroll = "scroll scroll--tall" if tall else "scroll"
    return format_html('<div class="{}" tabindex="0" role="group" aria-{}="{}">{}</div>', scroll, *named, shown)


def _headings(context: Context, heads: Iterable[Any]) -> Iterator[str]:
    kind = ""
    for head in heads:
        # Only literals of a template are safe strings; a name from the data may start with a "#".
        if isinstance(head, SafeString) and head[:1] in ("#", "~"):
            kind, head = head[0], SafeString(head[1:])
            if not head:
                continue
        if head:
            shown = _text(context, [head])
            numeric = ' class="num"' if kind == "#" else ""
            shown = f'<span class="sr">{shown}</span>' if kind == "~" else shown
            yield f'<th scope="col"{numeric}>{shown}</th>'
        kind = ""


@register.simple_block_tag(takes_context=True)
def stat(context: Context, content: str, *name: Any) -> SafeString:
    """Render a statistic: its name and value, then a note."""
    value, note = _parts(content)
    note = SafeString("") if note is None else format_html("<dd>{}</dd>", note)
    return format_html('<div class="stat"><dt>{}</dt><dd>{}</dd>{}</div>', _text(context, name), value, note)


@register.simple_block_tag(takes_context=True)
def fact(context: Context, content: str, *name: Any, style: str = "") -> SafeString:
    """Render one entry of a definition list."""
    css = format_html(' class="{}"', style) if style else ""
    return format_html("<dt>{}</dt><dd{}>{}</dd>", _text(context, name), css, content)


@register.simple_block_tag(takes_context=True)
def post(
    context: Context,
    content: str,
    name: str = "",
    *args: Any,
    url: str = "",
    style: str = "",
    file: bool = False,
    **more: str,
) -> SafeString:
    """Render a form that posts to the named route, to an address or to the page itself, perhaps with a file."""
    attrs = {"class": style, "method": "post", "action": reverse(name, args=args) if name else url}
    attrs |= {"enctype": "multipart/form-data" if file else ""}
    attrs |= {key.replace("_", "-"): value for key, value in more.items()}
    shown = format_html_join("", ' {}="{}"', ((key, value) for key, value in attrs.items() if value))
    return format_html("<form{}>{}{}</form>", shown, CsrfTokenNode().render(context), content)


@register.simple_tag
def fields(*bound: Any) -> SafeString:
    """Render form fields, or lists of them, one after the other; fields that the form does not have are left out."""
    each = [one for given in bound if given for one in ([given] if isinstance(given, BoundField) else given)]
    return SafeString("".join(render_to_string("_field.html", field(one)) for one in each))


@register.simple_tag(takes_context=True)
def select(
    context: Context,
    name: str,
    choices: Iterable[Any],
    chosen: Any,
    key: str | None = None,
    label: str = "",
    hidden: bool = False,
) -> SafeString:
    """Render a choice among (value, title) pairs, rows with a ``uuid`` or texts, with its label, perhaps hidden.

    The id is the name unless ``key`` is another one; without an id, the label is an attribute.
    """
    key = name if key is None else key
    attrs = {"id": key, "name": name, "aria-label": "" if key else label}
    shown = format_html_join("", ' {}="{}"', ((attr, value) for attr, value in attrs.items() if value))
    options = SafeString("".join(_option(context, choice, chosen) for choice in choices))
    css = SafeString(' class="sr"' if hidden else "")
    named = format_html('<label{} for="{}">{}</label> ', css, key, label) if key and label else ""
    return format_html('{}<select class="select"{}>{}</select>', named, shown, options)


def _option(context: Context, choice: Any, chosen: Any) -> SafeString:
    value, title = choice if isinstance(choice, tuple | list) else (getattr(choice, "uuid", None), choice)
    given = SafeString("") if value is None else format_html(' value="{}"', _text(context, [value]))
    same = (value if isinstance(choice, tuple | list) else choice) == chosen
    return format_html(
        "<option{}{}>{}</option>", given, SafeString(" selected" if same else ""), _text(context, [title])
    )


@register.simple_tag
def submit(text: str, name: str = "", *args: Any, url: str = "", style: str = "btn btn--main") -> SafeString:
    """Render the button of a form, and a link to the named route or address that cancels it."""
    address = reverse(name, args=args) if name else url
    cancel = format_html('<a class="btn btn--quiet" href="{}">Cancel</a>', address) if address else ""
    button = format_html('<button class="{}" type="submit">{}</button>', style, text)
    return format_html('<div class="row">{}{}</div>', button, cancel)


@register.filter
def stylesheet(path: str) -> SafeString:
    """Return the link to a stylesheet among the static files."""
    return format_html('<link rel="stylesheet" href="{}">', static(path))


@register.filter
def script(path: str) -> SafeString:
    """Return the element that loads a module among the static files."""
    return format_html('<script src="{}" type="module"></script>', static(path))


def _text(context: Context, parts: Iterable[Any]) -> SafeString:
    """Return the parts as they would appear in the template one after the other."""
    return SafeString("".join(render_value_in_context(part, context) for part in parts))
