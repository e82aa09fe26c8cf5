"""What the page and the report of a decision show: verdict, tiers, changed queries, doubts and cost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib.staticfiles import finders
from django.db.models import Max
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from assay.core.text_rules import amount
from assay.metrics.metric import TIE
from evaluation.decisions import decisions, list_preferences, live
from evaluation.decisions.list_preferences import Summary
from evaluation.decisions.live import Judged, Labels
from evaluation.models import Candidate, Decision
from judgments.agreement import agreement_summary, round_report
from judgments.charts.charts import Chart, Stroke, Words
from judgments.charts.intervals import dot
from judgments.charts.plots import Axis, Layer, Plot
from judgments.labels.grade_visibility import means_visible
from judgments.models import Collection, CollectionEvent, Document, Query, Round, Slot
from judgments.web.figures import number
from pooling.models import Run

if TYPE_CHECKING:
    from assay.coefficients.gate import GateAnswer
    from assay.sequential.decide import Decision as Outcome

CHANGED = 10
TIERS = ("head", "torso", "tail")
# The state that a verdict is shown as.
SHAPES = {"better": "done", "worse": "fail", "equivalent": "done", "undecided": "doing"}
WIDTH, NARROW, HEIGHT, LEFT, TOP, FOOT = 900.0, 340.0, 260.0, 44.0, 10.0, 34.0
# A step function with more points is thinned out, because a screen cannot show them.
MOST_POINTS = 300
LARGEST = 0.6
STYLES = ("tokens", "base", "layout", "components", "tables", "pictures", "compare")


@dataclass(frozen=True)
class ListedDocument:
    """A document in a list, with its label; None if it is not judged."""

    rank: int
    title: str
    grade: int | None


@dataclass(frozen=True)
class Changed:
    """A query on which the systems differ, with both lists."""

    query: Query
    difference: float
    before: list[ListedDocument]
    after: list[ListedDocument]


@dataclass(frozen=True)
class Tier:
    """The mean difference over the queries of a tier."""

    name: str
    queries: int
    difference: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Part:
    """The findings about one candidate."""

    candidate: Candidate
    run: Run
    verdict: str
    sentence: str
    numbers: Mapping[str, Any]
    chart: Chart
    narrow_chart: Chart
    tiers: Sequence[Tier]
    gains: Sequence[Changed]
    losses: Sequence[Changed]
    wins: int
    ties: int
    defeats: int
    unjudged: int
    could_change: bool
    betting_advised: bool
    trace: Sequence[Any]
    lists: Summary | None  # preferences of people who compared whole lists
    left: int  # planned queries that are not judged yet

    @property
    def shape(self) -> str:
        return SHAPES[self.verdict]

    @property
    def beyond_plan(self) -> bool:
        """Whether more queries are expected to be needed than the plan has left."""
        return (self.numbers["expected_more"] or 0) > self.left


def visible(reader: Any, decision: Decision) -> bool:
    """Return whether the reader may see the state of a decision: they have no pairs of its round left to grade."""
    return decision.round is None or means_visible(reader, decision.round)


def event_visible(user: Any, event: CollectionEvent) -> bool:
    """Return whether the user may see the verdict of the event."""
    decision = event.collection.decisions.select_related("round").filter(uuid=event.data["decision"]).first()
    return decision is None or visible(user, decision)


def hidden(reader: Any, collection: Collection) -> set[int]:
    """Return the decisions whose verdicts the reader may not see."""
    if not Round.objects.open_to(reader).filter(collection=collection).exists():
        return set()
    return {row.pk for row in collection.decisions.select_related("round") if not visible(reader, row)}


def page(decision: Decision) -> dict[str, Any]:
    """Return the context of the page and the report."""
    judged = live.judged(decision)
    parts = [_part(decision, one, judged) for one in decision.candidates.select_related("run")]
    minutes = live.minutes(decision.round) if decision.round else None
    return {
        "judged": judged,
        "parts": parts,
        "planned": len(decision.order),
        "raters": decision.round.tallies.filter(graded__gt=0).count() if decision.round else 0,
        "minutes": minutes,
        **_waiting(decision, judged),
        "agreement": _agreement(decision),
        "decided": all(part.verdict != "undecided" for part in parts),
        "sha256": manifest_hash(decision, judged.labels),
        "snapshot": decision.round.snapshots.first() if decision.round else None,
        "top": max(decision.round.scale.values()) if decision.round else 3,
        "settings": decisions.settings_of(decision),
        "confidence": f"{1 - decision.alpha / len(parts):.1%}".replace(".0%", "%"),
    }


def _part(decision: Decision, candidate: Candidate, judged: Judged) -> Part:
    run = candidate.run
    outcome = live.standing(decision, run).outcome
    numbers = candidate.result or outcome.to_dict()
    verdict = candidate.verdict if candidate.result else outcome.verdict
    counted = outcome.trace[: numbers["queries"]] if candidate.result else outcome.trace
    differences = {step.query_id: step.difference for step in counted}
    moved = sorted(differences.items(), key=lambda item: (item[1], item[0].encode()))
    gains = [query_id for query_id, value in reversed(moved[-CHANGED:]) if value > TIE]
    losses = [query_id for query_id, value in moved[:CHANGED] if value < -TIE]
    shown = _changed(decision, run, [*gains, *losses], differences, judged.labels)
    label = f"{decision.metric} of {run} minus {decision.baseline}, over the judged queries"
    unjudged = [key for key in judged.unrateable if key[0] in differences]
    return Part(
        candidate,
        run,
        verdict,
        sentence(decision, run, verdict, numbers),
        numbers,
        sequence(outcome, label),
        sequence(outcome, label, NARROW),
        _tiers(decision, differences),
        [shown[query_id] for query_id in gains],
        [shown[query_id] for query_id in losses],
        sum(value > TIE for value in differences.values()),
        sum(abs(value) <= TIE for value in differences.values()),
        sum(value < -TIE for value in differences.values()),
        len(unjudged),
        bool(unjudged) and _could_change(decision, run, judged, verdict),
        outcome.advises_betting,
        counted,
        list_preferences.summary(decision, candidate),
        len(decision.order) - judged.queries,
    )


def sequence(outcome: Outcome, label: str, width: float = WIDTH) -> Chart:
    """Draw the interval as a band around the mean, with lines at 0 and at the smallest relevant difference."""
    trace = outcome.trace
    step = max(1, len(trace) // MOST_POINTS)
    shown = [one for at, one in enumerate(trace) if at % step == 0 or at == len(trace) - 1]
    bounded = [one for one in shown if one.low is not None and one.high is not None]
    if not shown:
        return Chart(24, label, words=(Words(0, 16, "no query is judged yet", kind="mute"),), width=width)
    delta = outcome.delta
    ends = [abs(end) for one in bounded for end in (one.low, one.high) if end is not None]
    # Early intervals are wide; the axis shows the part that decides.
    half = min(max([2 * delta, *sorted(ends)[: max(1, len(ends) * 3 // 4)]], default=0.2), LARGEST)
    half = max(half, *(abs(one.mean) for one in shown[-1:]), 2 * delta) * 1.08
    across = Axis(1, max(shown[-1].n, 2), LEFT, width - 8, "judged queries")
    up = Axis(-half, half, HEIGHT - FOOT, TOP, "mean difference")
    y = up.at
    strokes = [Stroke(f"M{LEFT},{y(tick):g}H{width - 8:g}", "grid") for tick in up.ticks(7)]
    if bounded:
        above = " ".join(f"{across.at(one.n)},{y(one.high or 0):g}" for one in bounded)
        below = " ".join(f"{across.at(one.n)},{y(one.low or 0):g}" for one in reversed(bounded))
        strokes.append(Stroke(f"M{above} L{below}Z", "soft"))
    strokes += [
        Stroke(f"M{LEFT},{y(delta):g}H{width - 8:g}M{LEFT},{y(-delta):g}H{width - 8:g}", "cut"),
        Stroke(f"M{LEFT},{y(0):g}H{width - 8:g}", "axis"),
        Stroke("M" + " ".join(f"{across.at(one.n)},{y(one.mean):g}" for one in shown), "line"),
    ]
    words = [
        Words(LEFT - 6, y(tick) + 4, f"{tick:+.2f}".replace("-", "−") if tick else "0", "end", "mute")
        for tick in up.ticks(7)
    ]
    whole = sorted({float(round(tick)) for tick in across.ticks(8) if tick >= 1})
    words += [Words(across.at(tick), HEIGHT - FOOT + 16, f"{tick:.0f}", "middle", "mute") for tick in whole]
    words.append(Words(width - 8, HEIGHT - 4, across.title, "end", "mute"))
    decided = next((one for one in trace if one.verdict != "undecided"), None)
    bounds = [{"difference": end} for end in (-delta, 0.0, delta)]
    verdicts = [vars(decided)] if decided else []
    layers = [
        Layer("area", {"x": "n", "y": "low", "y2": "high"}, kind="soft"),
        Layer("rule", {"y": "difference"}, kind="cut", rows=bounds),
        Layer("line", {"x": "n", "y": "mean"}),
        Layer("rule", {"x": "n"}, rows=verdicts),
        Layer("point", {"x": "n", "y": "mean"}, rows=verdicts),
    ]
    plot = Plot(across, up, [vars(one) for one in shown], layers)
    if decided is not None:
        x = across.at(decided.n)
        strokes += [Stroke(f"M{x},{TOP:g}V{HEIGHT - FOOT:g}", "here-line"), dot(x, y(decided.mean), "here", 5)]
        anchor = "end" if x > width / 2 else "start"
        words.append(Words(x + (-8 if anchor == "end" else 8), TOP + 8, f"{decided.verdict} at {decided.n:,}", anchor))
    return Chart(HEIGHT, label, tuple(strokes), words=tuple(words), width=width, plot=plot)


def sentence(decision: Decision, run: Run, verdict: str, numbers: Mapping[str, Any]) -> str:
    """Return the verdict as a sentence for people who do not know the method."""
    queries = amount(numbers["queries"], "query", "queries")
    if verdict == "better":
        return f"{run} is better than {decision.baseline}."
    if verdict == "worse":
        return f"{run} is worse than {decision.baseline}."
    if numbers.get("reason") == "identical_lists":
        return f"{run} and {decision.baseline} return the same documents, so there is no difference."
    if verdict == "equivalent":
        return f"{run} and {decision.baseline} differ by less than {number(decision.delta)}."
    if numbers.get("reason") == "plan_ended":
        return f"After all {queries}, it is undecided whether {run} is better than {decision.baseline}."
    return f"It is not decided yet whether {run} is better than {decision.baseline}."


def _tiers(decision: Decision, differences: Mapping[str, float]) -> list[Tier]:
    from assay.sequential.decide import decide_differences

    rows = Query.objects.filter(collection=decision.collection, query_id__in=list(differences)).exclude(tier="")
    tier_of = dict(rows.values_list("query_id", "tier"))
    tiers = []
    for name in TIERS:
        wanted = [query_id for query_id in differences if tier_of.get(query_id) == name]
        if not wanted:
            continue
        outcome = decide_differences(
            [differences[query_id] for query_id in wanted],
            [decision.weights[query_id] for query_id in wanted] if decision.weights else None,
            forecast=False,
            **live.rule_of(decision),
        )
        last = outcome.trace[-1]
        tiers.append(Tier(name, len(wanted), last.mean, last.low, last.high))
    return tiers


def _changed(
    decision: Decision, run: Run, query_ids: Sequence[str], differences: Mapping[str, float], labels: Labels
) -> dict[str, Changed]:
    before, after = decisions.lists_of(decision, decision.baseline), decisions.lists_of(decision, run)
    wanted = {doc_id for query_id in query_ids for lists in (before, after) for doc_id in lists[query_id]}
    rows = Document.objects.filter(collection=decision.collection, doc_id__in=wanted)
    titles = {doc_id: title or doc_id for doc_id, title in rows.values_list("doc_id", "title")}
    queries = Query.objects.filter(collection=decision.collection, query_id__in=query_ids)

    def places(ranking: Sequence[str], query_id: str) -> list[ListedDocument]:
        grades = labels.get(query_id, {})
        return [ListedDocument(rank, titles.get(one, one), grades.get(one)) for rank, one in enumerate(ranking, 1)]

    return {
        query.query_id: Changed(
            query,
            differences[query.query_id],
            places(before[query.query_id], query.query_id),
            places(after[query.query_id], query.query_id),
        )
        for query in queries
    }


def _could_change(decision: Decision, run: Run, judged: Judged, verdict: str) -> bool:
    """Return whether grades of the documents that raters could not judge could change the verdict."""
    if decision.round is None or verdict == "undecided":
        return False
    values = decision.round.scale.values()
    for favored in (decision.baseline, run):
        first, second = (
            decisions.lists_of(decision, one)
            for one in (favored, run if favored == decision.baseline else decision.baseline)
        )
        labels = {query_id: dict(of) for query_id, of in judged.labels.items()}
        for query_id, doc_id in judged.unrateable:
            helps = _rank(first[query_id], doc_id) < _rank(second[query_id], doc_id)
            labels.setdefault(query_id, {})[doc_id] = max(values) if helps else min(values)
        if live.outcome_of(decision, run, labels).verdict != verdict:
            return True
    return False


def _rank(ranking: Sequence[str], doc_id: str) -> int:
    return list(ranking).index(doc_id) if doc_id in ranking else len(ranking) + 1


def _waiting(decision: Decision, judged: Judged) -> dict[str, Any]:
    """Return the query that the verdict waits for with its missing answers, and the time of the last answer."""
    round_ = decision.round
    if round_ is None:
        return {}
    missing = Slot.objects.filter(round=round_, filled_by__isnull=True, pair__query__query_id=judged.waits_for)
    return {
        "waits_for": Query.objects.filter(collection=decision.collection, query_id=judged.waits_for).first(),
        "missing": missing.count(),
        "last_answer": round_.tallies.aggregate(last=Max("last_at"))["last"],
    }


def _agreement(decision: Decision) -> GateAnswer | None:
    """Return the agreement of the raters against the round's gate; None if pairs have one rating."""
    if decision.round is None or decision.round.ratings_per_pair < 2:
        return None
    return agreement_summary.of_report(decision.round, round_report.stored(decision.round).agreement)


def manifest_hash(decision: Decision, labels: Labels) -> str:
    """Return the hash of everything that the verdict depends on: settings, order, lists and labels."""
    runs = [decision.baseline, *(one.run for one in decision.candidates.select_related("run"))]
    content = {
        "settings": decisions.settings_of(decision),
        "order": decision.order,
        "weights": decision.weights,
        "runs": [run.sha256 for run in runs],
        "lists": [decisions.lists_of(decision, run) for run in runs],
        "labels": labels,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def report(decision: Decision) -> str:
    """Return the decision as one HTML document without references to other files."""
    styles = "".join(_style(name) for name in STYLES)
    context = {"decision": decision, "collection": decision.collection, **page(decision), "styles": mark_safe(styles)}  # noqa: S308
    return render_to_string("evaluation/decisions/report.html", context)


def _style(name: str) -> str:
    path = finders.find(f"css/{name}.css")
    if not isinstance(path, str):
        raise FileNotFoundError(f"css/{name}.css")
    with open(path, encoding="utf-8") as file:
        return file.read()
