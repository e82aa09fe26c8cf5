"""Progress page of a round: how far it is, by rater and by query, and what is left."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from judgments import access, growing, round_reports
from judgments.core.cells import csv_row, escape
from judgments.models import Query, Round
from judgments.progress import Progress
from judgments.progress import progress as progress_of
from judgments.untold import untold_pairs
from judgments.views.downloads import attachment
from judgments.views.lists import answer
from judgments.views.round_pairs import PAIRS, pairs_of
from judgments.views.rounds import frame, to_invite

# So many unfinished queries stand on the page; the file holds all.
SHOWN = 8


@login_required
@require_safe
def progress(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.STAFF)
    found = progress_of(round_)
    asked = request.GET.get("format")
    if asked == "json":
        return JsonResponse({"round": round_.name, "state": round_.state, **found.as_json()})
    if asked == "raters":
        return _raters_file(round_, found)
    reasons, queries = round_reports.counts(round_)
    queries, hidden = _told(round_, queries, request.user)
    if asked == "queries":
        return _queries_file(round_, queries)
    prefetch_related_objects([round_], "scale__grades")
    context = {
        **frame(request, round_),
        "progress": found,
        "raters": found.raters,
        "most": max((rater.answered for rater in found.raters), default=0),
        "reasons": reasons,
        "unrateable": sum(rater.unrateable for rater in found.raters),
        "queries": {**_queries(queries), "hidden": hidden},
        "top": max(round_.scale.values()),
        "to_invite": to_invite(round_),
        "by_link": settings.INVITE_LINKS,
        "choosing": growing.told(round_),
    }
    rows = pairs_of(round_, request.user)
    return answer(request, PAIRS, rows, "judgments/round_progress.html", context, many=round_.pairs_made)


def _told(round_: Round, rows: list[Any], reader: Any) -> tuple[list[Any], int]:
    """The queries of which the reader may still grade no pair, and how many are left out.

    A rating that was called in tells that two grades of the query lie far apart. Of a round that is too large to look
    through for one person, somebody who still rates is told none.
    """
    untold = untold_pairs(reader, round_)
    if not rows or not untold.exists():
        return rows, 0
    if max(round_reports.events(round_), round_.slots_made) > round_reports.AT_ONCE:
        return [], len(rows)
    names = Query.of_any_kind.filter(pk__in=untold.values("query")).values_list("uuid", flat=True)
    hidden = {str(uuid) for uuid in names}
    told = [row for row in rows if row[0] not in hidden]
    return told, len(rows) - len(told)


def _queries(rows: list[Any]) -> dict[str, Any]:
    """How many queries are done, begun and untouched; and those that lack most."""
    begun = [row for row in rows if 0 < row[3] < row[2]]
    done = sum(row[3] >= row[2] for row in rows)
    shown = [
        {"uuid": uuid, "text": text, "wanted": wanted, "filled": filled} for uuid, text, wanted, filled in begun[:SHOWN]
    ]
    untouched = len(rows) - done - len(begun)
    return {"all": len(rows), "done": done, "begun": len(begun), "untouched": untouched, "rows": shown}


def _raters_file(round_: Round, found: Progress) -> HttpResponse:
    lines = [csv_row(["rater", "graded", "unrateable", "later", "median_seconds", "left", "hours_left"])]
    for rater in found.raters:
        numbers = (rater.graded, rater.unrateable, rater.later, rater.median_seconds, rater.left, rater.hours_left)
        cells = [rater.pseudonym, *("" if number is None else str(number) for number in numbers)]
        lines.append(csv_row([escape(cell) for cell in cells]))
    return attachment(f"{round_.collection.slug}-raters.csv", "".join(lines))


def _queries_file(round_: Round, rows: list[Any]) -> HttpResponse:
    lines = [csv_row(["query", "ratings_wanted", "ratings"])]
    lines += [csv_row([escape(text), str(wanted), str(filled)]) for _, text, wanted, filled in rows]
    return attachment(f"{round_.collection.slug}-progress-by-query.csv", "".join(lines))
