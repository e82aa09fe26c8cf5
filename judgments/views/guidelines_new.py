"""Page for the next guidelines version: type it or read it from a file, preview it, store it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from judgments import access, examples, guideline_files
from judgments import guidelines as verbs
from judgments.core.errors import AssayError, NotValid
from judgments.guideline_files import GuidelineFile
from judgments.guideline_forms import GuidelinesFileForm, GuidelinesForm
from judgments.models import Collection, Example, GuidelinesVersion
from judgments.upload_reading import read_at_once
from judgments.views.bodies import takes_files
from judgments.written_examples import written_into


@takes_files
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.LEADS)
    examples.check_readable(request.user, verbs.latest(collection))
    act = request.POST.get("act", "") if request.method == "POST" else ""
    if act == "read":
        return _read(request, collection)
    last, waiting = verbs.latest(collection), examples.shown_to(request.user, collection)
    form = GuidelinesForm(request.POST or None, waiting=waiting, initial={"markdown": _start(last, waiting)})
    if request.method == "POST" and form.is_valid() and act != "preview":
        with form.telling():
            markdown = form.cleaned_data["markdown"]
            added = verbs.add_version(collection, actor=request.user, markdown=markdown, written=form.written)
            messages.success(request, f"Version {added.number} is there. New rounds can use it; open ones keep theirs.")
            return redirect("guidelines_version", added.uuid)
    preview = verbs.kept(form.cleaned_data.get("markdown", "")) if act == "preview" and form.is_bound else ""
    return _page(request, collection, form, preview)


def _start(last: GuidelinesVersion | None, waiting: list[Example]) -> str:
    """The last version, or the template, with the waiting examples written in."""
    return written_into(last.markdown if last else verbs.DEFAULT_TEMPLATE, waiting)


def _read(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Put a file's text into the form, and say what it would change; nothing is stored."""
    asked = GuidelinesFileForm(request.POST, request.FILES)
    waiting = examples.shown_to(request.user, collection)
    if asked.is_valid():
        with asked.telling():
            upload = asked.cleaned_data["file"]
            content, most = upload.read(guideline_files.MOST_BYTES + 1), guideline_files.MOST_BYTES
            found = read_at_once(guideline_files.read, content, upload.name, most=most)
            _refuse_the_same(collection, found)
            form = GuidelinesForm(waiting=waiting, initial={"markdown": found.markdown, "examples": []})
            told = {"file": upload.name, "remarks": found.remarks(collection), "asked": asked}
            return _page(request, collection, form, found.markdown, **told)
    start = _start(verbs.latest(collection), waiting)
    form = GuidelinesForm(waiting=waiting, initial={"markdown": start})
    return _page(request, collection, form, asked=asked)


def _refuse_the_same(collection: Collection, found: GuidelineFile) -> None:
    last = verbs.latest(collection)
    if last is not None and last.sha256 == GuidelinesVersion.hash_of(found.markdown):
        said = f"This file is word for word version {last.number}: there is nothing to store."
        raise NotValid(said, {"file": said})


def _page(
    request: HttpRequest, collection: Collection, form: GuidelinesForm, preview: str = "", **more: Any
) -> HttpResponse:
    """The form; with a text to look at, what it says and what it changes."""
    last = verbs.latest(collection)
    asked = more.pop("asked", None) or GuidelinesFileForm()
    context = {
        "collection": collection,
        "form": form,
        "file_form": asked,
        "last": last,
        "step": "round",
        "preview": preview,
        "difference": verbs.difference_of_texts(last.markdown, preview) if preview and last else "",
        **more,
    }
    status = asked.status if asked.errors else form.status
    return render(request, "judgments/guidelines_new.html", context, status=status)


@login_required
@require_POST
def remove_example(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    """Let a waiting example go."""
    collection = access.collection_for(request.user, slug, access.LEADS)
    row = access.reach(Example.objects.filter(collection=collection), request.user, access.LEADS, uuid=uuid)
    try:
        examples.remove(row, actor=request.user)
        messages.success(request, "The example waits no more. The settlement that it came from stays.")
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("guidelines", collection.slug)
