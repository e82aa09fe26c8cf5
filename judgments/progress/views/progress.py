"""Progress page of a round: progress by rater and by query, and the remaining work."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from assay.core.csv_cells import csv_row, escape
from judgments import hooks
from judgments.agreement import round_report
from judgments.labels.grade_visibility import pairs_with_hidden_grades
from judgments.models import Query, Round
from judgments.progress.progress import Progress
from judgments.progress.progress import progress as progress_of
from judgments.progress.views.pairs import PAIRS, pairs_of
from judgments.rounds.views.rounds import frame, to_invite
from judgments.web import access
from judgments.web.downloads import attachment
from judgments.web.lists import answer

# Number of unfinished queries on the page; the file has all.
SHOWN = 8


@login_required
@require_safe
def progress(request: HttpRequest, uuid: str) -> HttpResponse:
    round_ = access.round_for(request.user, uuid, access.STAFF)
    round_progress = progress_of(round_)
    file_format = request.GET.get("format")
    if file_format == "json":
        return JsonResponse({"round": round_.name, "state": round_.state, **round_progress.as_json()})
    if file_format == "raters":
        return _raters_file(round_, round_progress)
    reasons, queries = round_report.counts(round_)
    queries, hidden = _visible_queries(round_, queries, request.user)
    if file_format == "queries":
        return _queries_file(round_, queries)
    prefetch_related_objects([round_], "scale__grades")
    context = {
        **frame(request, round_),
        "progress": round_progress,
        "raters": round_progress.raters,
        "most": max((rater.answered for rater in round_progress.raters), default=0),
        "reasons": reasons,
        "unrateable": sum(rater.unrateable for rater in round_progress.raters),
        "queries": {**_queries(queries), "hidden": hidden},
        "top": max(round_.scale.values()),
        "to_invite": to_invite(round_),
        "by_link": settings.INVITE_LINKS,
        "choosing": hooks.status(round_),
    }
    rows = pairs_of(round_, request.user)
    return answer(
        request,
        PAIRS.worded_for(round_),
        rows,
        "judgments/progress/round_progress.html",
        context,
        many=round_.pairs_made,
    )


def _visible_queries(round_: Round, rows: list[Any], reader: Any) -> tuple[list[Any], int]:
    """Return the queries without a pair that the reader may still grade, and how many are left out."""
    untold = pairs_with_hidden_grades(reader, round_)
    if not rows or not untold.exists():
        return rows, 0
    if max(round_report.events(round_), round_.slots_made) > round_report.AT_ONCE:
        return [], len(rows)
    names = Query.of_any_kind.filter(pk__in=untold.values("query")).values_list("uuid", flat=True)
    hidden = {str(uuid) for uuid in names}
    visible_rows = [row for row in rows if row[0] not in hidden]
    return visible_rows, len(rows) - len(visible_rows)


def _queries(rows: list[Any]) -> dict[str, Any]:
    """Return the numbers of complete, started and untouched queries, and the least complete ones."""
    begun = [row for row in rows if 0 < row[3] < row[2]]
    done = sum(row[3] >= row[2] for row in rows)
    shown = [
        {"uuid": uuid, "text": text, "wanted": wanted, "filled": filled} for uuid, text, wanted, filled in begun[:SHOWN]
    ]
    untouched = len(rows) - done - len(begun)
    return {"all": len(rows), "done": done, "begun": len(begun), "untouched": untouched, "rows": shown}


def _raters_file(round_: Round, round_progress: Progress) -> HttpResponse:
    lines = [csv_row(["rater", "graded", "unrateable", "later", "median_seconds", "left", "hours_left"])]
    for rater in round_progress.raters:
        numbers = (rater.graded, rater.unrateable, rater.later, rater.median_seconds, rater.left, rater.hours_left)
        cells = [rater.pseudonym, *("" if number is None else str(number) for number in numbers)]
        lines.append(csv_row([escape(cell) for cell in cells]))
    return attachment(f"{round_.collection.slug}-raters.csv", "".join(lines))


def _queries_file(round_: Round, rows: list[Any]) -> HttpResponse:
    lines = [csv_row(["query", "ratings_wanted", "ratings"])]
    lines += [csv_row([escape(text), str(wanted), str(filled)]) for _, text, wanted, filled in rows]
    return attachment(f"{round_.collection.slug}-progress-by-query.csv", "".join(lines))
