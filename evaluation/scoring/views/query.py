"""Page of one query: its scores and the ranking of every run, with labels and the history of each grade."""

from __future__ import annotations

import json
from collections.abc import Collection as Container
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import slugify

from evaluation.models import Score, Scoring
from evaluation.scoring import grade_history, leaderboard, rankings, stored_scores
from evaluation.scoring.grade_history import Event, History
from evaluation.scoring.rankings import DEPTHS, Answers, requested_depth
from judgments.labels import grade_visibility
from judgments.models import Collection, Query, Snapshot
from judgments.snapshots import snapshots
from judgments.snapshots.snapshots import chosen_snapshot
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.downloads import attachment
from judgments.web.figures import grade
from judgments.web.lists import ChoiceFilter, Listing, answer, on_record
from judgments.web.pages import get_page
from pooling.models import Run


@dataclass(frozen=True)
class Value:
    """A metric's value for the query; ``state`` is ``scored``, ``unscored``, ``undefined`` or ``withheld``."""

    state: str
    value: float | None = None
    metric: str = ""


def by_metric(
    snapshot: Snapshot, query: Query, runs: Sequence[Run], metrics: Sequence[str], *, withheld: bool
) -> list[tuple[Run, list[Value]]]:
    """Return each run with its values under every metric on the snapshot; ``withheld`` hides all of them."""
    rows = Score.objects.filter(scoring__snapshot=snapshot, scoring__run__in=runs, metric__in=metrics)
    scores = {(row.scoring.run_id, row.metric): row for row in rows.select_related("scoring")}
    return [(run, [_value(scores.get((run.pk, name)), query, withheld) for name in metrics]) for run in runs]


def by_snapshot(
    snapshots: Sequence[Snapshot], query: Query, runs: Sequence[Run], metric: str, *, withheld: Container[int]
) -> list[tuple[Run, list[Value]]]:
    """Return each run with its value under one metric on each snapshot; ``withheld`` contains hidden snapshots."""
    rows = Score.objects.filter(scoring__snapshot__in=snapshots, scoring__run__in=runs, metric=metric)
    scores = {(row.scoring.run_id, row.scoring.snapshot_id): row for row in rows.select_related("scoring")}
    return [
        (run, [_value(scores.get((run.pk, one.pk)), query, one.pk in withheld) for one in snapshots]) for run in runs
    ]


def as_json(lines: Sequence[tuple[Run, list[Value]]], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the value by run and name; null if it is missing or hidden."""
    return {run.name: {name: one.value for name, one in zip(names, values, strict=True)} for run, values in lines}


def _value(row: Score | None, query: Query, withheld: bool) -> Value:
    if row is None or query.query_id not in row.per_query:
        return Value("unscored")
    if withheld:
        return Value("withheld")
    value = row.per_query[query.query_id]
    return Value("undefined" if value is None else "scored", value, row.metric)


SHOWN = [
    ("judged", "with a label"),
    ("holes", "without a label"),
    ("differ", "rater grades differ"),
    ("settled", "resolved"),
]


def listing(params: Mapping[str, Any], histories: Sequence[History], top: int) -> Listing:
    """Return the definition of the list, without columns that would be empty."""

    def chips(events: Sequence[Event], *, named: bool = True) -> SafeString:
        parts = ((_chip(event, top), event.who if named else "") for event in events)
        return format_html_join(" ", '<span class="nowrap">{} <span class="mono muted">{}</span></span>', parts)

    def opening(one: History) -> str:
        return f"?{urlencode({**params, 'document': one.doc_id}, doseq=True)}#history"

    several = {
        "frozen": ("In all snapshots", any(len(one.frozen) > 1 for one in histories)),
        "raters": ("Raters", any(one.raters for one in histories)),
        "machines": ("Machines", any(one.machines for one in histories)),
        "imports": ("Imported", any(one.imports for one in histories)),
    }
    return Listing(
        name="grades",
        noun=("document", "documents"),
        columns=(
            Column("title", "Document", order="title", head=True, style="clip", url=opening),
            Column("label", "Label", order="label", show=lambda one: _label(one, top)),
            *(
                Column(
                    key,
                    title,
                    value=lambda one, key=key: _written(getattr(one, key)),
                    show=lambda one, key=key: chips(getattr(one, key)),
                )
                for key, (title, there) in several.items()
                if there
            ),
            *(
                [
                    Column(
                        "settled",
                        "Resolved",
                        value=lambda one: one.settled.grade if one.settled else None,
                        show=lambda one: chips([one.settled] if one.settled else [], named=False),
                    )
                ]
                if any(one.settled for one in histories)
                else []
            ),
            Column("doc_id", "Id", order="doc_id", style="id"),
        ),
        search=("title", "doc_id"),
        choices=(ChoiceFilter("shown", "Show", _narrowed, SHOWN),),
        order="-label",
        page_size=25,
        given=params,
    )


def _narrowed(rows: Sequence[History], value: str) -> list[History]:
    keep = {
        "judged": lambda one: one.label is not None,
        "holes": lambda one: one.label is None and not one.hidden,
        "differ": lambda one: one.spread > 0,
        "settled": lambda one: one.settled is not None,
    }[value]
    return [one for one in rows if keep(one)]


def _label(one: History, top: int) -> SafeString:
    return format_html('<span class="badge">{}</span>', "yours to grade") if one.hidden else grade(one.label, top)


def _chip(event: Event, top: int) -> SafeString:
    """Format a grade of the scale as a chip; imported labels may be fractions, which are shown as numbers."""
    value = event.grade
    if value is None or value != int(value):
        return format_html("{}", "" if value is None else f"{value:g}")
    return grade(int(value), top)


def _written(events: Sequence[Event]) -> str:
    """Return the grades for the file: ``r01:2 r02:3``."""
    return " ".join(f"{event.who}:{event.grade:g}" for event in events if event.grade is not None)


# This many runs are shown side by side by default, because each needs a file.
USUAL_RUNS, MOST_RUNS = 6, 24


@dataclass(frozen=True)
class Page:
    """The objects that the URL names, with the visibility for the reader."""

    collection: Collection
    snapshot: Snapshot
    query: Query
    depth: int
    scorings: list[Scoring]
    metrics: list[str]
    metric: str
    runs: list[Run]
    all_runs: list[Run]
    hidden: set[str]
    withheld: bool

    @property
    def params(self) -> dict[str, Any]:
        """The complete URL parameters of this page."""
        params = {"snapshot": str(self.snapshot.uuid), "query": self.query.query_id, "depth": str(self.depth)}
        chosen = [str(run.uuid) for run in self.runs]
        usual = [str(run.uuid) for run in self.all_runs[:USUAL_RUNS]]
        metric = {"metric": self.metric} if self.metrics and self.metric != self.metrics[0] else {}
        return params | metric | ({} if chosen == usual else {"runs": ",".join(chosen)})


@get_page
def answers(request: HttpRequest, slug: str) -> HttpResponse:
    collection = access.collection_for(request.user, slug, access.STAFF)
    if not request.GET.get("query"):
        return redirect("scores", slug)
    page = _page(request, collection)
    result = rankings.answers(page.snapshot, page.runs, page.query.query_id, page.depth, hidden=page.hidden)
    shown = {place.doc_id for ranking in result.rankings for place in ranking.places}
    history = grade_history.grade_history(page.snapshot, page.query, shown, hidden=page.hidden)
    if request.GET.get("format") == "json":
        return _as_json(request, page, result, history)
    context = _context(request, page, result, history)
    declared = listing(page.params, history, result.top)
    return answer(request, declared, history, "evaluation/scoring/answers.html", context)


def _page(request: HttpRequest, collection: Collection) -> Page:
    snapshot = chosen_snapshot(collection, request.GET.get("snapshot", ""))
    query = collection.queries.filter(query_id=request.GET["query"].replace("\0", "")).first()
    if snapshot is None or query is None:
        raise Http404
    # The runs are ordered by their means, which are hidden from a reader who still rates.
    left_out = snapshots.withheld_queries(request.user, snapshot)
    scorings = stored_scores.scorings_of(snapshot, left_out=left_out)
    metrics = stored_scores.metrics_of(scorings)
    metric = request.GET.get("metric", "")
    every = _ordered(collection, scorings)
    named = ",".join(request.GET.getlist("run") or [request.GET.get("runs", "")]).split(",")
    runs = [run for run in every if str(run.uuid) in named or run.name in named]
    hidden = {doc_id for _, doc_id in grade_visibility.hidden_keys(request.user, collection, query.query_id)}
    return Page(
        collection=collection,
        snapshot=snapshot,
        query=query,
        depth=requested_depth(request.GET.get("depth", "")),
        scorings=scorings,
        metrics=metrics,
        metric=metric if metric in metrics else next(iter(metrics), leaderboard.HEADLINE),
        runs=(runs or every[:USUAL_RUNS])[:MOST_RUNS],
        all_runs=every,
        hidden=hidden,
        withheld=_tells(snapshot, query, hidden),
    )


def _ordered(collection: Collection, scorings: Sequence[Scoring]) -> list[Run]:
    """Return all runs: those with a score first, best first; then the rest by name."""
    order = [row.scoring.run_id for row in leaderboard.rows(scorings, leaderboard.HEADLINE)]
    runs = collection.runs.active().defer("report").order_by("name")
    return sorted(runs, key=lambda run: order.index(run.pk) if run.pk in order else len(order))


def _tells(snapshot: Snapshot, query: Query, hidden: set[str]) -> bool:
    """Return whether a score on the snapshot would reveal a hidden grade."""
    return bool(hidden) and not hidden.isdisjoint(snapshots.labels_of(snapshot).get(query.query_id, {}))


def _over_snapshots(page: Page) -> tuple[list[Snapshot], list[tuple[Run, list[Value]]]]:
    every = grade_history.snapshots_of(page.snapshot)
    scored = set(Scoring.objects.filter(snapshot__in=every).values_list("snapshot", flat=True))
    snapshots = [one for one in every if one.pk in scored]
    withheld = {one.pk for one in snapshots if _tells(one, page.query, page.hidden)}
    return snapshots, by_snapshot(snapshots, page.query, page.runs, page.metric, withheld=withheld)


def _context(request: HttpRequest, page: Page, result: Answers, history: list[History]) -> dict[str, Any]:
    snapshots, over = _over_snapshots(page)
    lines = by_metric(page.snapshot, page.query, page.runs, page.metrics, withheld=page.withheld)
    wanted = request.GET.get("document", "")
    return {
        "collection": page.collection,
        "step": "scores",
        "page": page,
        "snapshot": page.snapshot,
        "query": page.query,
        "answers": result,
        "sides": list(zip(result.rankings, (values for _, values in lines), strict=True)),
        "lines": lines,
        "snapshots": snapshots,
        "over": over,
        "document": next((one for one in history if one.doc_id == wanted), None),
        "strange_document": wanted,
        "depths": [(one, f"?{urlencode(page.params | {'depth': one})}") for one in DEPTHS],
        "switches": [(name, f"?{urlencode(page.params | {'metric': name})}#over") for name in page.metrics],
        "json": f"?{urlencode(page.params | {'format': 'json'})}",
        "usual_runs": USUAL_RUNS,
        "most_runs": MOST_RUNS,
    }


def _as_json(request: HttpRequest, page: Page, result: Answers, history: list[History]) -> HttpResponse:
    """Return the content of the page as one file; hidden values are null."""
    snapshots, over = _over_snapshots(page)
    lines = by_metric(page.snapshot, page.query, page.runs, page.metrics, withheld=page.withheld)
    body = {
        "query": {"id": page.query.query_id, "text": page.query.text, "narrative": page.query.narrative},
        "tier": page.query.tier,
        "snapshot": {"id": str(page.snapshot.uuid), "name": page.snapshot.name},
        "depth": page.depth,
        "runs": {
            ranking.run.name: [
                {"rank": place.rank, "doc_id": place.doc_id, "grade": place.grade, "hidden": place.hidden}
                for place in ranking.places
            ]
            for ranking in result.rankings
        },
        "scores": as_json(lines, page.metrics),
        "over_snapshots": {
            "metric": page.metric,
            "runs": as_json(over, [one.name for one in snapshots]),
        },
        "documents": [one.as_json() for one in history],
    }
    on_record(request, f"the grades of query {page.query.query_id}", page.collection)
    name = slugify(f"{page.collection.slug} {page.snapshot} {page.query.query_id}")
    return attachment(f"{name}.json", json.dumps(body, ensure_ascii=False, indent=1))
