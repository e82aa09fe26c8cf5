"""Components of pages, as template tags: heads, cards, tables, forms, rich text, pictures, running jobs, role."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django import template
from django.conf import settings
from django.forms import BaseForm, BoundField, CheckboxInput, CheckboxSelectMultiple, RadioSelect, Select
from django.template.base import render_value_in_context
from django.template.context import Context
from django.template.defaulttags import CsrfTokenNode
from django.template.loader import get_template, render_to_string
from django.template.loader_tags import BLOCK_CONTEXT_KEY
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import escape, format_html, format_html_join
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


@register.simple_block_tag(takes_context=True)
def head(context: Context, content: str, *heading: Any) -> SafeString:
    """Render the head of a page: heading and description, then the actions.

    Without a heading in the tag or the contents, it is the block ``heading`` of the page, or else its title.
    """
    title, actions = _parts(content)
    if heading:
        title = format_html('<h1 dir="auto">{}</h1>{}', _text(context, heading), title)
    elif not re.search("<h[12][ >]", title):
        blocks = context.render_context[BLOCK_CONTEXT_KEY]
        named = (blocks.get_block("heading") or blocks.get_block("title")).nodelist.render(context)
        title = format_html('<h1 dir="auto">{}</h1>{}', named, title)
    row = format_html('<div class="row row--tight">{}</div>', actions) if actions and actions.strip() else ""
    return format_html('<div class="head"><div>{}</div>{}</div>', title, row)


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
def dialog(context: Context, content: str, key: str, *title: Any, style: str = "", back: str = "") -> SafeString:
    """Render a dialog that closes with a button beside the heading, or below the contents with the words ``back``."""
    named = f"{key.removesuffix('-box')}-h"
    heading = format_html('<h2 id="{}">{}</h2>', named, _text(context, title))
    shuts = {"type": "button", "popovertarget": key, "popovertargetaction": "hide"}
    css = "btn btn--quiet" if back else "btn"
    shut = format_html('<button class="{}"{}>{}</button>', css, _attributes(shuts), back or "Close")
    if not back:
        heading, shut = format_html('<div class="row row--apart">{}{}</div>', heading, shut), SafeString("")
    attributes = _attributes({"id": key, "class": style, "popover": True, "aria-labelledby": named})
    return format_html('<dialog{}><div class="stack">{}{}{}</div></dialog>', attributes, heading, content, shut)


@register.simple_block_tag(takes_context=True)
def listed(context: Context, content: str, label: str = "", empty: str = "", title: str = "") -> SafeString:
    """Render the page's ``listing``, in a card of its own if it has a label; without any rows, render the contents.

    With ``empty``, the contents are a card with this heading; with ``then``, their first part stands above it.
    """
    if not context["listing"].nothing:
        with context.push(label=label, title=title):
            return get_template("_list_card.html" if label else "_list.html").template.render(context)
    if not empty:
        return SafeString(content)
    picture, body = _parts(content)
    heading = format_html('<h2 id="start">{}</h2>', empty)
    parts = (heading, picture) if body is None else (picture, heading)
    return format_html(
        '<section class="card empty" aria-labelledby="start">{}{}{}</section>', *parts, "" if body is None else body
    )


@register.simple_block_tag(takes_context=True)
def fold(
    context: Context, content: str, *title: Any, style: str = "", summary: str = "", opened: Any = False
) -> SafeString:
    """Render contents that open below their title."""
    outer, inner = _attributes({"class": style, "open": bool(opened)}), _attributes({"class": summary})
    return format_html("<details{}><summary{}>{}</summary>{}</details>", outer, inner, _text(context, title), content)


@register.simple_block_tag(takes_context=True)
def table(context: Context, content: str, label: str, *heads: Any, style: str = "", tall: int = 0) -> SafeString:
    """Render a table in a scroll box, labeled by a text or by the element ``#id``; without a label, only the table.

    ``"#Pairs"`` is a numeric column and ``"~Remove"`` a heading for screen readers only; a mark alone, also with
    classes (``"#.name"``), applies to the next heading, or to each one of a list. Empty headings are left out; a blank
    is an empty corner. A caption comes first in the block. With ``tall``, the box has a maximum height, perhaps only
    from that many rows on.
    """
    caption, end, rows = content.rpartition("</caption>")
    inside = [SafeString(caption + end), SafeString(rows)]
    if heads:
        inside[1:] = ["<thead><tr>", *_headings(context, heads), "</tr></thead><tbody>", rows, "</tbody>"]
    shown = format_html('<table class="{}">{}</table>', f"table {style}".strip(), SafeString("".join(inside)))
    if not label:
        return shown
    named = ("labelledby", label[1:]) if label.startswith("#") else ("label", label)
    scroll = "scroll scroll--tall" if tall is True or content.count("<tr") > tall > 0 else "scroll"
    return format_html('<div class="{}" tabindex="0" role="group" aria-{}="{}">{}</div>', scroll, *named, shown)


MARK = re.compile(r"([!#~]?)((?:\.[\w-]+)*)")


def _marked(parts: Iterable[Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield mark, classes and value of headings or cells; a list is as many values with the same mark."""
    kind = css = ""
    for part in parts:
        # Only literals of a template are safe strings; a name from the data may start with a "#".
        mark = MARK.match(part) if isinstance(part, SafeString) else None
        if mark and mark[0]:
            kind, css = mark[1], mark[2].replace(".", " ").strip()
            part = SafeString(part[mark.end() :])
            if not part:
                continue
        for value in part if isinstance(part, list | tuple) else [part]:
            yield kind, " ".join(filter(None, ["num" if kind == "#" else "", css])), value
        kind = css = ""


def _named(context: Context, value: Any, css: str) -> SafeString:
    shown = _text(context, [value])
    return format_html('<span dir="auto">{}</span>', shown) if "name" in css.split() else shown


def _headings(context: Context, heads: Iterable[Any]) -> Iterator[str]:
    for kind, css, head in _marked(heads):
        if head == " ":
            yield "<td></td>"
        elif head:
            shown = _named(context, head, css)
            shown = format_html('<span class="sr">{}</span>', shown) if kind == "~" else shown
            yield format_html('<th scope="col"{}>{}</th>', _attributes({"class": css}), shown)


@register.simple_tag(takes_context=True)
def cells(context: Context, *values: Any) -> SafeString:
    """Render cells of a row, with marks as in ``table``; ``"!"`` marks the heading of the row."""
    shown = ""
    for kind, css, value in _marked(values):
        tag, scope = ("th", "row") if kind == "!" else ("td", "")
        attributes = _attributes({"scope": scope, "class": css})
        shown += format_html("<{}{}>{}</{}>", tag, attributes, _named(context, value, css), tag)
    return SafeString(shown)


@register.simple_block_tag(takes_context=True)
def stat(context: Context, content: str, *name: Any, style: str = "") -> SafeString:
    """Render a statistic: its name and value, then a note if it has one."""
    value, note = _parts(content)
    note = format_html("<dd>{}</dd>", note) if note and note.strip() else SafeString("")
    attributes = _attributes({"class": style})
    named = _text(context, name)
    return format_html('<div class="stat"><dt>{}</dt><dd{}>{}</dd>{}</div>', named, attributes, value, note)


@register.simple_block_tag(takes_context=True)
def fact(context: Context, content: str, *name: Any, style: str = "") -> SafeString:
    """Render one entry of a definition list."""
    attributes = _attributes({"class": style})
    return format_html("<dt>{}</dt><dd{}>{}</dd>", _text(context, name), attributes, content)


@register.simple_block_tag(takes_context=True)
def post(
    context: Context,
    content: str,
    name: str = "",
    *args: Any,
    url: str = "",
    style: str = "",
    file: bool = False,
    form: BaseForm | None = None,
    title: str = "",
    key: str = "",
    method: str = "post",
    **more: Any,
) -> SafeString:
    """Render a form that posts to the named route, to an address or to the page itself, perhaps with a file.

    With the method ``get``, it only asks. It may have a ``title``, the heading with the id ``key``, and show the
    errors of a ``form``.
    """
    attributes = {"class": style, "method": method, "action": reverse(name, args=args) if name else url}
    attributes |= {"enctype": "multipart/form-data" if file else "", "aria-labelledby": key}
    heading = format_html('<h2 id="{}">{}</h2>', key, title) if title else ""
    errors = render_to_string("_form_errors.html", {"form": form}) if form else ""
    token = CsrfTokenNode().render(context) if method == "post" else ""
    return format_html("<form{}>{}{}{}{}</form>", _attributes(attributes | more), token, heading, errors, content)


def _attributes(given: Mapping[str, Any]) -> SafeString:
    """Return attributes of an element without the empty ones; True is an attribute without a value.

    Literals of a template are escaped too, because they may contain quotation marks.
    """
    each = (
        format_html(" {}", key) if value is True else format_html(' {}="{}"', key, escape(value))
        for key, value in ((key.replace("_", "-"), value) for key, value in given.items())
        if value is not None and value is not False and value != ""
    )
    return SafeString("".join(each))


@register.simple_block_tag
def button(content: str, style: str = "", **attributes: Any) -> SafeString:
    """Render a button with attributes; it submits its form unless it has another type."""
    css = f"btn btn--{style}" if style else "btn"
    return format_html("<button{}>{}</button>", _attributes({"class": css, "type": "submit"} | attributes), content)


@register.simple_block_tag(takes_context=True)
def press(
    context: Context, content: str, route: str = "", *args: Any, style: str = "", **attributes: Any
) -> SafeString:
    """Render a form with nothing but a button, which posts to the named route or to the page itself."""
    return post(context, button(content, style, **attributes), route, *args)


@register.simple_tag
def act(text: str, name: str, *args: Any, style: str = "main", query: str = "") -> SafeString:
    """Render a link to the named route that looks like a button."""
    css = f"btn btn--{style}" if style else "btn"
    return format_html('<a class="{}" href="{}{}">{}</a>', css, reverse(name, args=args), query and f"?{query}", text)


@register.simple_block_tag
def choice(content: str, name: str, value: Any, chosen: Any = None, **attributes: Any) -> SafeString:
    """Render a checkbox, or another type of button, with its label.

    Its value, perhaps a row with a ``uuid``, is checked if it is the chosen one or among the chosen.
    """
    checked = value in chosen if isinstance(chosen, list | tuple) else value == chosen
    own = {"type": "checkbox", "name": name, "checked": checked} | attributes
    given = format_html('{} value="{}"', _attributes(own), getattr(value, "uuid", value))
    return format_html('<label class="choice"><input{}> <span dir="auto">{}</span></label>', given, content)


@register.simple_tag
def copyable(text: str, key: Any = "secret", what: str = "") -> SafeString:
    """Render a text with a button that copies it; screen readers say what it copies."""
    place = key if isinstance(key, str) else f"secret-{key}"
    spoken = format_html('<span class="sr"> {}</span>', what) if what else ""
    copy = format_html('<button class="btn" type="button" data-copy="#{}" hidden>Copy{}</button>', place, spoken)
    return format_html('<div class="secret"><code id="{}">{}</code>{}</div>', place, text, copy)


@register.simple_tag
def steps(at: int, *names: str) -> SafeString:
    """Render the steps of a task, with the number of the current one."""
    shown = SafeString("")
    for place, name in enumerate(names, 1):
        current = _attributes({"aria-current": "step" if place == at else ""})
        state = "done" if place < at else "doing" if place == at else "todo"
        named = format_html("<b>{}</b>", name) if place == at else name
        row = '<li class="row row--tight"{}><span class="state" data-state="{}"></span><span>{}</span></li>'
        shown += format_html(row, current, state, named)
    return format_html('<ol class="row small" aria-label="Steps">{}</ol>', shown)


@register.simple_tag
def hidden(**values: Any) -> SafeString:
    """Render hidden fields; a list of values becomes as many fields of that name."""
    each = [
        (name, value) for name, given in values.items() for value in (given if isinstance(given, list) else [given])
    ]
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', each)


@register.simple_tag(takes_context=True)
def entry(
    context: Context,
    name: str,
    *label: Any,
    key: Any = None,
    hint: str = "",
    value: Any = "",
    wide: bool = False,
    error: str = "",
    **attributes: Any,
) -> SafeString:
    """Render a field that no form declares: label, hint, control, a text area if it has ``rows``, and error.

    Its id is the name unless ``key`` is another one; a key that is no text stands after the name.
    """
    key = name if key is None else key if isinstance(key, str) else f"{name}-{key}"
    described = " ".join([f"{key}-hint"] * bool(hint) + [f"{key}-error"] * bool(error))
    css = f"input {attributes.pop('style', '')}".strip()
    own = {"class": css, "id": key, "name": name, "aria-describedby": described} | attributes
    own |= {"aria-invalid": "true" if error else ""}
    if "rows" in own:
        control = format_html("<textarea{}>\n{}</textarea>", _attributes(own), value)
    else:
        control = format_html("<input{}>", _attributes(own | {"value": value}))
    return format_html(
        '<div class="{}"><label for="{}">{}</label>{}{}{}</div>',
        "field field--wide" if wide else "field",
        key,
        _text(context, label),
        format_html('<span class="hint" id="{}-hint">{}</span>', key, hint) if hint else "",
        control,
        format_html('<span class="error" id="{}-error" role="alert">{}</span>', key, error) if error else "",
    )


@register.simple_tag
def fields(*bound: Any, wide: bool = False) -> SafeString:
    """Render form fields, or lists of them, one after the other; fields that the form does not have are left out."""
    return SafeString("".join(render_to_string("_field.html", field(one, wide=wide)) for one in _each(bound)))


def _each(bound: Iterable[Any]) -> list[BoundField]:
    return [one for given in bound if given for one in ([given] if isinstance(given, BoundField) else given)]


@register.simple_tag(takes_context=True)
def more(context: Context, title: str, *bound: Any, style: str = "stack") -> SafeString:
    """Render form fields that open below their title, and are open if one of them has an error."""
    return fold(context, fields(*bound), title, style=style, opened=any(one.errors for one in _each(bound)))


@register.simple_tag(takes_context=True)
def select(
    context: Context,
    name: str,
    choices: Iterable[Any],
    chosen: Any,
    key: Any = None,
    label: str = "",
    hidden: bool = False,
) -> SafeString:
    """Render a choice among (value, title) pairs, rows with a ``uuid`` or texts, with its label, perhaps hidden.

    The id is the name unless ``key`` is another one; a key that is no text stands after the name. Without an id, the
    label is an attribute.
    """
    key = name if key is None else key if isinstance(key, str) else f"{name}-{key}"
    shown = _attributes({"id": key, "name": name, "aria-label": "" if key else label})
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
