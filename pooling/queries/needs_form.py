"""The form of needs: a text field for each query, saved together."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from assay.core.errors import AssayError
from judgments.models import Collection, Query, Round
from judgments.queries import narratives
from judgments.queries.drafting.drafter import unfinished
from judgments.web.posted_values import uuid_of

PREFIX = "need-"
# The texts that cannot be saved, with the reason, by the id of their query.
Refused = dict[str, tuple[str, str]]


def held(collection: Collection) -> dict[int, str]:
    """Return the queries of open rounds by key, with the name of the round."""
    rows = Query.objects.filter(collection=collection, pairs__round__state=Round.State.OPEN)
    return dict(rows.values_list("pk", "pairs__round__name").distinct())


def cell(request: HttpRequest, query: Query, refused: Refused, held: dict[int, str], *, lead: bool) -> SafeString:
    """Return the field of a query's need; for readers who cannot change it, the text."""
    text, error = refused.get(str(query.uuid), (query.narrative or query.draft, ""))
    context = {"query": query, "text": text, "error": error, "round": held.get(query.pk), "lead": lead}
    context["seen"] = narratives.version(query)
    return render_to_string("pooling/queries/_need.html", context, request)


def save(request: HttpRequest, collection: Collection) -> tuple[Refused, int]:
    """Save the changes on the page; return the rejected texts with reasons, and the number of saved ones."""
    fields = [(name.removeprefix(PREFIX), text) for name, text in request.POST.items() if name.startswith(PREFIX)]
    texts = {uuid: text for name, text in fields if (uuid := uuid_of(name))}
    rows = collection.queries.filter(uuid__in=texts)
    refused: Refused = {}
    written = drafts = 0
    for query in rows.order_by("pk"):
        text = texts[query.uuid].replace("\r\n", "\n").strip()
        agreed = request.POST.get("confirm") == str(query.uuid)
        seen = request.POST.get(f"seen-{query.uuid}")
        untouched = narratives.version_of(text) == seen
        if (untouched or text == (query.narrative or query.draft)) and not agreed:
            continue
        try:
            if unfinished(text) and not agreed and not query.narrative:
                narratives.save_draft(query, text=text, actor=request.user)
                drafts += 1
            else:
                narratives.write(query, text=text, actor=request.user, seen=seen)
                written += 1
        except AssayError as error:
            refused[str(query.uuid)] = (text, str(error))
    if written:
        messages.success(request, f"Saved {written} need{'' if written == 1 else 's'}. Raters can see them now.")
    if drafts:
        messages.info(
            request, f"Saved {drafts} draft{'' if drafts == 1 else 's'}. Raters see them after you fill in the gaps."
        )
    return refused, written
