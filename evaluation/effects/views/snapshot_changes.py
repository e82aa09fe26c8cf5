"""Page that compares two snapshots: changed labels, and the runs under each."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString

from assay.core.errors import NotAllowed, NotFound, NotValid
from evaluation.effects import snapshot_changes
from evaluation.effects.round_runs import METRIC, metrics_of
from evaluation.effects.snapshot_changes import SnapshotComparison
from evaluation.scoring import rankings
from evaluation.scoring.metric_values import shown, shown_difference
from judgments.documents.answers import questions_of
from judgments.models import Collection, Document, Snapshot
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.figures import grade
from judgments.web.lists import Choice, Listing, answer
from judgments.web.pages import get_page

KINDS = (("changed", "changed label"), ("added", "only in second"), ("gone", "only in first"))
# Runs above this number are only in the file of scores, not on this page.
MOST_RUNS = 50
BATCH = 500


@get_page
def snapshot_compare(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    known = list(collection.snapshots.defer("manifest"))
    metric, metrics = request.GET.get("metric", "") or METRIC, metrics_of(collection)
    context: dict[str, Any] = {"collection": collection, "step": "snapshot", "snapshots": known, "metric": metric}
    context["metrics"] = metrics if metric in metrics else [metric, *metrics]
    if len(known) < 2:
        return render(request, "evaluation/effects/snapshot_compare.html", context)
    a, b = _named(known, request.GET.get("a", ""), 1), _named(known, request.GET.get("b", ""), 0)
    context |= {"a": a, "b": b}
    try:
        comparison = snapshot_changes.compare(a, b, metric=metric, reader=request.user)
    except (NotAllowed, NotValid) as error:
        status = 422 if getattr(error, "fields", {}) else 200
        return render(request, "evaluation/effects/snapshot_compare.html", context | {"error": error}, status=status)
    top = max(rankings.top_grade(a), rankings.top_grade(b))
    given = {"a": str(a.uuid), "b": str(b.uuid), "metric": metric}
    context |= {"comparison": comparison, "top": top, "confusion": _confusion(comparison), "board": _board(comparison)}
    context["swapped"] = {**given, "a": given["b"], "b": given["a"]}
    return answer(
        request,
        _listing(given, top),
        _rows(collection, comparison),
        "evaluation/effects/snapshot_compare.html",
        context,
    )


def _named(known: list[Snapshot], uuid: str, place: int) -> Snapshot:
    """Return the snapshot with this id; by default, the newest snapshot and the one before it are compared."""
    if not uuid:
        return known[place]
    snapshot = next((one for one in known if str(one.uuid) == uuid), None)
    if snapshot is None:
        raise NotFound("This collection has no such snapshot.")
    return snapshot


def _confusion(comparison: SnapshotComparison) -> dict[str, Any]:
    """Return the table of old by new grades, including "no label"."""
    cells = comparison.changes.confusion
    grades: list[Any] = sorted({one for cell in cells for one in cell if one is not None})
    ends = [*(int(one) for one in grades), None]
    most = max((number for (old, new), number in cells.items() if old != new), default=0)

    def cell(old: Any, new: Any) -> dict[str, int]:
        number = cells.get((old, new), 0)
        return {"n": number, "level": 0 if old == new else _level(number, most)}

    rows = [(old, [cell(old, new) for new in ends]) for old in ends]
    return {"ends": ends, "rows": rows, "n": sum(cells.values())}


def _level(number: int, most: int) -> int:
    """Return the shade of a cell, 0 to 4, relative to the largest cell off the diagonal."""
    return 0 if not most else -(-4 * number // most)


def _board(comparison: SnapshotComparison) -> list[dict[str, Any]]:
    if comparison.boards is None:
        return []
    return [
        {
            "one": one,
            "before": shown(one.before, comparison.metric),
            "after": shown(one.after, comparison.metric),
            "difference": shown_difference(one.difference, comparison.metric),
            "climbed": abs(one.climbed),
            "way": "up" if one.climbed > 0 else "down" if one.climbed < 0 else "",
        }
        for one in comparison.boards.standings[:MOST_RUNS]
    ]


def _rows(collection: Collection, comparison: SnapshotComparison) -> list[dict[str, Any]]:
    """Return every pair with a changed label, with the text of its query and the title of its document."""
    parts = [(kind, getattr(comparison.changes, kind)) for kind, _ in KINDS]
    queries = dict(collection.queries.values_list("query_id", "text"))
    doc_ids = sorted({doc_id for _, rows in parts for (_, doc_id), _, _ in rows})
    titles, questions = _titles(collection, doc_ids), questions_of(collection, doc_ids)
    return [
        {
            "kind": dict(KINDS)[kind],
            "query_id": query_id,
            "query": str(questions.get((query_id, doc_id)) or queries.get(query_id, query_id)),
            "doc_id": doc_id,
            "title": titles.get(doc_id, (doc_id, ""))[0],
            "url": titles.get(doc_id, (doc_id, ""))[1],
            "old": None if old is None else int(old),
            "new": None if new is None else int(new),
            "steps": None if old is None or new is None else int(abs(new - old)),
        }
        for kind, rows in parts
        for (query_id, doc_id), old, new in rows
    ]


def _titles(collection: Collection, doc_ids: list[str]) -> dict[str, tuple[str, str]]:
    titles = {}
    for start in range(0, len(doc_ids), BATCH):
        rows = Document.of_any_kind.filter(collection=collection, doc_id__in=doc_ids[start : start + BATCH])
        for doc_id, title, uuid in rows.values_list("doc_id", "title", "uuid"):
            titles[doc_id] = (title or doc_id, reverse("document", args=[collection.slug, uuid]))
    return titles


def _listing(given: dict[str, str], top: int) -> Listing:
    def label(key: str) -> Any:
        return lambda row: _label(row[key], top)

    return Listing(
        name="labels",
        noun=("pair", "pairs"),
        columns=(
            Column("query", "Query", order="query", head=True, style="clip"),
            Column("query_id", "Query id", order="query_id", style="id"),
            Column("title", "Document", order="title", style="clip", url=lambda row: row["url"]),
            Column("doc_id", "Document id", order="doc_id", style="id"),
            Column("old", "First label", order="old", numeric=True, show=label("old")),
            Column("new", "Second label", order="new", numeric=True, show=label("new")),
            Column("steps", "Difference in steps", order="steps", numeric=True),
            Column("kind", "Change", order="kind", style="nowrap muted"),
        ),
        search=("query", "title", "query_id", "doc_id"),
        choices=(Choice("what", "Change type", "kind", [(words, words) for _, words in KINDS]),),
        order="-steps",
        given=given,
    )


def _label(value: int | None, top: int) -> SafeString | str:
    return "no label" if value is None else grade(value, top)
