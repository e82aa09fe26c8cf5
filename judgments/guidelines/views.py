"""Guidelines pages: read a version and its changes, and write, upload and publish the next one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse

from assay.core.errors import NotValid
from judgments.guidelines import examples, files
from judgments.guidelines import guidelines as verbs
from judgments.guidelines.guidelines import LONGEST
from judgments.jobs.limited_process import read_at_once
from judgments.models import Collection, Example, GuidelinesVersion
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import attachment
from judgments.web.forms import AssayForm
from judgments.web.lists import Listing, answer
from judgments.web.middleware import takes_files
from judgments.web.pages import errors_as_messages, form_page, get_page, post_action

# Number of older versions offered for comparison; the list has all of them.
MOST_OFFERED = 200

VERSIONS = Listing(
    name="guidelines",
    noun=("version", "versions"),
    columns=(
        Column("number", "Version", order="number", head=True, show=str, url=("guidelines_version", "uuid")),
        Column("rounds", "Rounds", order="round_count", numeric=True, value="round_count"),
        Column("words", "Words", numeric=True, value=lambda version: len(version.markdown.split())),
        Column("created_by", "Written by", value=lambda version: str(version.created_by or "")),
        Column("created_at", "Created", order="created_at", style="nowrap"),
        Column("sha256", "SHA-256", show=lambda version: f"{version.sha256[:12]}…", style="id"),
    ),
    search=("markdown",),
    order="-number",
)


@get_page.of_collection(access.STAFF)
def version_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    rows = (
        examples.readable(request.user, collection).select_related("created_by").annotate(round_count=Count("rounds"))
    )
    context = {
        "collection": collection,
        "step": "round",
        "waiting": examples.visible_examples(request.user, collection),
        "latest": verbs.latest(collection),
    }
    context["round_address"] = round_address(collection, context["latest"])
    return answer(request, VERSIONS, rows, "judgments/guidelines/guidelines.html", context)


@get_page
def version(request: HttpRequest, uuid: str) -> HttpResponse:
    """Show the text, or with ``?against=N`` the changes since version N."""
    row = _version(request, uuid)
    readable = examples.readable(request.user, row.collection)
    number = request.GET.get("against", "")
    known = number.isascii() and number.isdigit() and len(number) < 7
    earlier = readable.exclude(pk=row.pk).filter(number=int(number)).first() if known else None
    context = {
        "collection": row.collection,
        "version": row,
        "latest": verbs.latest(row.collection),
        "step": "round",
        "against": earlier,
        "difference": verbs.difference_of_texts(earlier.markdown, row.markdown) if earlier else "",
        "previous": readable.filter(number__lt=row.number).order_by("-number").first(),
        "others": readable.exclude(pk=row.pk).order_by("-number")[:MOST_OFFERED],
        "examples": examples.written_in(row),
        "rounds": row.rounds.order_by("-created_at")[:MOST_OFFERED],
        "round_address": round_address(row.collection, row),
    }
    return render(request, "judgments/guidelines/guidelines_version.html", context)


@get_page
def file(request: HttpRequest, uuid: str) -> HttpResponse:
    """Return the version as a Markdown file."""
    row = _version(request, uuid)
    return attachment(f"guidelines-v{row.number}.md", files.as_text(row))


def _version(request: HttpRequest, uuid: str) -> GuidelinesVersion:
    rows = GuidelinesVersion.objects.select_related("collection", "created_by")
    # Raters may open it too, because it is written for them.
    row = access.reach(rows, request.user, access.EVERYBODY, uuid=uuid)
    examples.check_readable(request.user, row)
    return row


def round_address(collection: Collection, row: GuidelinesVersion | None) -> str:
    """Return the address for a new round with this version and the last round's settings; empty if there is none."""
    if row is None:
        return ""
    last = collection.rounds.order_by("-created_at", "-pk").first()
    query: dict[str, Any] = {"guidelines": row.uuid, **({"after": last.uuid} if last else {})}
    try:
        return f"{reverse('round_new', args=[collection.slug])}?{urlencode(query)}"
    except NoReverseMatch:  # the pooling app, which creates rounds, is not installed
        return ""


class GuidelinesForm(AssayForm):
    markdown = forms.CharField(
        label="Guidelines",
        max_length=LONGEST,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 30, "class": "input--tall", "spellcheck": "true"}),
        help_text="Markdown: # headings, - lists, **bold**, tables. HTML is shown as text.",
    )
    examples = forms.MultipleChoiceField(
        label="Examples in this text",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Selected examples become part of this version. Clear the checkbox of each example that you removed "
        "from the text.",
    )

    def __init__(self, *args: Any, waiting: Sequence[Example] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting = waiting
        if not waiting:
            del self.fields["examples"]
            return
        self.fields["examples"].choices = [
            (str(one.uuid), f"{one.grade} · “{one.query_text}”: {one.document_text}") for one in waiting
        ]
        self.fields["examples"].initial = [str(one.uuid) for one in waiting]

    @property
    def written(self) -> list[Example]:
        """The selected examples."""
        ticked = set(self.cleaned_data.get("examples", ()))
        return [one for one in self.waiting if str(one.uuid) in ticked]


class GuidelinesFileForm(AssayForm):
    file = forms.FileField(
        label="Markdown file",
        help_text="Any Markdown file, for example one downloaded here. You can review the changes before anything is "
        "stored.",
    )


HEADING = "Examples"
# Examples go after this heading if no heading names their grade.
BEFORE = re.compile(r"edge cases", re.IGNORECASE)
HEAD = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t#]*$")
FENCE = re.compile(r"^ {0,3}(```|~~~)")
# Characters with a meaning in Markdown.
SIGNS = re.compile(r"([\\`*_\[\]<>#|])")


def written_into(markdown: str, examples: Iterable[Example]) -> str:
    """Return the text with the examples under the headings of their grades."""
    lines = markdown.rstrip("\n").split("\n")
    for example in sorted(examples, key=lambda one: (-one.grade, one.pk)):
        place = _end_of(lines, lambda text, one=example: _names(text, one))
        if place is None:
            place = _make_section(lines, example)
        lines[place:place] = [_line(example)] if lines[place - 1].startswith("- ") else ["", _line(example)]
    return "\n".join(lines) + "\n"


def _line(example: Example) -> str:
    query, document, reason = (
        SIGNS.sub(r"\\\1", " ".join(text.split()))
        for text in (example.query_text, example.document_text, example.reason)
    )
    return f"- “{query}”: **{document}** is {example.grade}. {reason}"


def _names(heading: str, example: Example) -> bool:
    """Return whether the heading names the example's grade by value, by label, or by both."""
    value, label = str(example.grade), re.escape(example.label.casefold())
    wanted = rf"(grade\s+)?{value}(\s*[-–:,.(]?\s*{label}\)?)?" + (rf"|{label}(\s*\(?{value}\)?)?" if label else "")
    return re.fullmatch(wanted, heading.casefold()) is not None


def _headings(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return line, level and text of each heading outside code fences."""
    headings, fenced = [], False
    for at, line in enumerate(lines):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and (head := HEAD.match(line)):
            headings.append((at, len(head[1]), head[2]))
    return headings


def _end_of(lines: Sequence[str], wanted: Callable[[str], bool], *, own: bool = True) -> int | None:
    """Return the line after the first section whose heading is wanted, without trailing blank lines."""
    heads = _headings(lines)
    for number, (at, level, text) in enumerate(heads):
        if not wanted(text):
            continue
        end = next((place for place, other, _ in heads[number + 1 :] if own or other <= level), len(lines))
        while end > at + 1 and not lines[end - 1].strip():
            end -= 1
        return end
    return None


def _make_section(lines: list[str], example: Example) -> int:
    """Write the heading of the example's grade under ``## Examples``, and return the position after it."""
    title = f"### {example.grade} {example.label}".rstrip()
    place = _end_of(lines, lambda text: text.casefold() == HEADING.casefold(), own=False)
    if place is None:
        behind = _end_of(lines, lambda text: BEFORE.search(text) is not None, own=False)
        place = len(lines) if behind is None else behind
        lines[place:place] = ["", f"## {HEADING}"]
        place += 2
    lines[place:place] = ["", title]
    return place + 2


@takes_files
@form_page.of_collection(access.LEADS)
def new(request: HttpRequest, collection: Collection) -> HttpResponse:
    examples.check_readable(request.user, verbs.latest(collection))
    act = request.POST.get("act", "") if request.method == "POST" else ""
    if act == "read":
        return _read(request, collection)
    last, waiting = verbs.latest(collection), examples.visible_examples(request.user, collection)
    form = GuidelinesForm(request.POST or None, waiting=waiting, initial={"markdown": _start(last, waiting)})
    if request.method == "POST" and form.is_valid() and act != "preview":
        with form.telling():
            markdown = form.cleaned_data["markdown"]
            added = verbs.add_version(collection, actor=request.user, markdown=markdown, written=form.written)
            messages.success(
                request, f"Version {added.number} created. New rounds can use it; existing rounds keep their version."
            )
            return redirect("guidelines_version", added.uuid)
    preview = verbs.normalize(form.cleaned_data.get("markdown", "")) if act == "preview" and form.is_bound else ""
    return _page(request, collection, form, preview)


def _start(last: GuidelinesVersion | None, waiting: list[Example]) -> str:
    """Return the last version, or the template, with the pending examples inserted."""
    return written_into(last.markdown if last else verbs.DEFAULT_TEMPLATE, waiting)


def _read(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Fill the form with a file's text and show the changes; nothing is stored."""
    file_form = GuidelinesFileForm(request.POST, request.FILES)
    waiting = examples.visible_examples(request.user, collection)
    if file_form.is_valid():
        with file_form.telling():
            upload = file_form.cleaned_data["file"]
            content, most = upload.read(files.MOST_BYTES + 1), files.MOST_BYTES
            file = read_at_once(files.read, content, upload.name, most=most)
            last = verbs.latest(collection)
            if last is not None and last.sha256 == GuidelinesVersion.hash_of(file.markdown):
                same = f"The text of this file is identical to version {last.number}. Nothing was stored."
                raise NotValid(same, "file")
            form = GuidelinesForm(waiting=waiting, initial={"markdown": file.markdown, "examples": []})
            context = {"file": upload.name, "remarks": file.remarks(collection), "file_form": file_form}
            return _page(request, collection, form, file.markdown, **context)
    start = _start(verbs.latest(collection), waiting)
    form = GuidelinesForm(waiting=waiting, initial={"markdown": start})
    return _page(request, collection, form, file_form=file_form)


def _page(
    request: HttpRequest, collection: Collection, form: GuidelinesForm, preview: str = "", **more: Any
) -> HttpResponse:
    """Return the form page, with a preview and the changes if there is a text."""
    last = verbs.latest(collection)
    file_form = more.pop("file_form", None) or GuidelinesFileForm()
    context = {
        "collection": collection,
        "form": form,
        "file_form": file_form,
        "last": last,
        "step": "round",
        "preview": preview,
        "difference": verbs.difference_of_texts(last.markdown, preview) if preview and last else "",
        **more,
    }
    status = file_form.status if file_form.errors else form.status
    return render(request, "judgments/guidelines/guidelines_new.html", context, status=status)


@post_action.of_collection(access.LEADS)
def remove_example(request: HttpRequest, collection: Collection, uuid: str) -> HttpResponse:
    """Remove a pending example."""
    row = access.reach(Example.objects.filter(collection=collection), request.user, access.LEADS, uuid=uuid)
    with errors_as_messages(request):
        examples.remove(row, actor=request.user)
        messages.success(request, "Example withdrawn. Its resolution is kept.")
    return redirect("guidelines", collection.slug)
