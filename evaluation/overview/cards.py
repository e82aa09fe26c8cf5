"""Cards of the overview page: a count, a state in words, a chart and an action for each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from django.urls import reverse

from assay.coefficients import COEFFICIENTS
from assay.coefficients.gate import reason_in_words
from assay.core.text_rules import agree, amount
from assay.staleness.unjudged_documents import UNJUDGED
from evaluation.freshness.freshness import age_in_words
from evaluation.models import Scoring
from evaluation.overview import card_charts
from evaluation.overview.next_step import Act, Look, Next
from evaluation.overview.stages import Step, gate_says
from evaluation.scoring import leaderboard
from evaluation.scoring.stored_scores import scorings_of
from judgments.charts import intervals
from judgments.charts.charts import Chart
from judgments.labels import grade_visibility
from judgments.models import Round
from judgments.progress import progress
from judgments.snapshots import snapshots
from judgments.web.figures import percent

METRIC = "nDCG@10"


@dataclass(frozen=True)
class Card:
    """The card of one step. ``count`` and ``unit`` are the large number and the small text after it."""

    count: str = ""
    unit: str = ""
    words: str = ""
    chart: Chart | None = None
    act: Act | None = None
    step: Step | None = field(default=None)
    main: bool = False


def cards(look: Look, steps: list[Step], due: Next | None) -> list[Card]:
    """Return the eight cards; the card of the next action has the page's primary button."""
    all_cards = []
    for step in steps:
        card = replace(CARDS[step.key](look), step=step)
        if due is not None and step.key == due.key:
            card = replace(card, act=due.act, main=True)
        elif card.act is not None and not look.may(card.act):
            card = replace(card, act=None)
        all_cards.append(card)
    return all_cards


def queries_card(look: Look) -> Card:
    counts, draws = look.standing.queries, look.standing.draws
    if not counts.total:
        return Card(words="Upload a query log or a file of queries, or type ten queries.")
    act = Act("View queries", reverse("queries", args=[look.slug]))
    count = f"{counts.total:,}"
    unit = agree(counts.total, "query", "queries")
    if not draws:
        return Card(
            count, unit, "The queries were not drawn from a log, so scores cannot be weighted by traffic.", act=act
        )
    sample = draws[0]
    frame = sample.frame
    days = sample.parameters.get("window_days")
    window = f", {amount(days, 'day')}" if days else ""
    how = "by traffic" if sample.method == "pps" else "by tier"
    words = (
        f"{sample.drawn:,} queries drawn {how} from {amount(frame['searches'], 'search', 'searches')}{window}, seed "
        f"{sample.seed}."
    )
    if rest := counts.drawn - sample.drawn:
        words += f" {rest:,} in {agree(len(draws) - 1, 'another draw', 'other draws')}."
    # Queries of other draws, or of none, are not in this count.
    if sample.drawn == counts.total:
        unit = f"of {frame['distinct']:,} in the log"
    cuts = [(tier, frame["tiers"][tier]["queries"], getattr(sample, tier)) for tier in ("head", "torso", "tail")]
    return Card(count, unit, words, card_charts.traffic(sample.curve, cuts), act)


def runs_card(look: Look) -> Card:
    standing = look.standing
    if not standing.runs:
        needs = (
            "Add the rankings of your systems, one file per system."
            if standing.queries.total
            else "Add queries first, then the rankings of your systems for these queries."
        )
        return Card(words=needs, act=Act("Add run", reverse("runs_new", args=[look.slug])))
    left = [run.name for run in standing.runs if run.pk not in standing.pooled]
    words = "Original files, with checksums."
    if standing.pool is not None and left:
        words = f"{_list(left)} {'is' if len(left) == 1 else 'are'} not in a pool yet."
    chart = None
    shared = standing.pool_of_runs
    if shared is not None:
        systems = [(row["name"], row["pairs"], row["unique"]) for row in shared.summary.get("systems", [])]
        chart = card_charts.overlap(systems, shared.summary.get("in_all", 0))
    act = Act("View runs", reverse("runs", args=[look.slug]))
    return Card(f"{len(standing.runs):,}", agree(len(standing.runs), "system", "systems"), words, chart, act)


def pool_card(look: Look) -> Card:
    pool = look.standing.pool
    if pool is None:
        ready = bool(look.standing.queries.total and look.standing.runs)
        act = Act("Create pool", reverse("pool_new", args=[look.slug]), lead_only=True) if ready else None
        return Card(
            words="A pool contains the pairs that people should judge. It needs two runs, or a list of pairs.", act=act
        )
    summary = pool.summary
    depth = pool.parameters.get("depth")
    unit = f"pairs, depth {depth}" if depth else f"pairs, {pool.strategy}"
    systems = len(summary.get("systems", []))
    words = (
        f"Drawn from {systems} {agree(systems, 'system', 'systems')}, seed {pool.seed}. Each pair records its runs."
        if systems
        else "A list of pairs from unknown systems, so the pool may favor some systems."
    )
    ranks = [(rank, pairs) for rank, pairs in summary.get("by_best_rank", [])]
    act = Act("View pairs", reverse("pool", args=[look.slug, pool.uuid]))
    return Card(f"{summary.get('pairs', 0):,}", unit, words, card_charts.best_ranks(ranks) if systems else None, act)


def round_card(look: Look) -> Card:
    round_ = look.standing.round
    if round_ is None:
        return Card(words="A round needs a pool, guidelines and a rater. Agreement needs two raters.")
    act = Act("View progress", reverse("round_progress", args=[round_.uuid]))
    done = progress.progress(round_)
    words = _round_words(look, round_, done)
    if round_.state == Round.State.DRAFT:
        return Card(f"{done.pairs:,}", "pairs, draft", words, act=act)
    chart = card_charts.progress([(rater.pseudonym, rater.graded) for rater in done.raters], done.pairs)
    return Card(percent(done.share), f"{done.filled:,} of {amount(done.wanted, 'rating')}", words, chart, act)


def _round_words(look: Look, round_: Round, done: progress.Progress) -> str:
    many = "all pairs" if round_.overlap == 1 else f"{percent(round_.overlap)} of the pairs"
    raters = (
        "one rater per pair"
        if round_.ratings_per_pair == 1
        else f"{amount(round_.ratings_per_pair, 'rater')} on {many}"
    )
    words = f"{round_}{' is closed' if round_.state == Round.State.CLOSED else ''}, {raters}."
    if round_.state == Round.State.OPEN and not done.left:
        words += " All ratings are in."
    elif round_.state == Round.State.OPEN and done.hours_left is not None:
        words += f" {_hours(done.hours_left)} left."
    return words + (
        f" {look.standing.stubs:,} of its documents {agree(look.standing.stubs, 'has', 'have')} no text."
        if look.standing.stubs
        else ""
    )


def agreement_card(look: Look) -> Card:
    standing, round_ = look.standing, look.standing.judged_round
    if round_ is None:
        return Card(words="Agreement needs pairs with grades from two raters.")
    act = Act("View agreement", reverse("round_agreement", args=[round_.uuid]))
    answer = standing.gate
    if answer.value is None:
        reason = reason_in_words(standing.agreement["coefficients"][answer.coefficient]["reason"])
        return Card("Not defined", words=f"{reason.capitalize()}.", act=act)
    _, word, why = gate_says(answer)
    named = "Ordinal alpha" if answer.coefficient == "alpha-ordinal" else COEFFICIENTS[answer.coefficient].title
    number = look.conflicts.number
    open_ = f" {amount(number, 'conflict')} {agree(number, 'is', 'are')} open." if number else ""
    words = (
        f"{named}, {word}: {why}.{open_}"
        if answer.low is not None
        else f"{named}; too few queries for an interval.{open_}"
    )
    interval = f"{answer.low:.3f}–{answer.high:.3f}, ".replace("-", "−") if answer.low is not None else ""
    chart = intervals.gate(answer.value, answer.low, answer.high, answer.threshold)
    shown, of = f"{answer.value:.3f}".replace("-", "−"), amount(answer.n, "pair")
    return Card(shown, f"({interval}{of})", words, chart, act)


def snapshot_card(look: Look) -> Card:
    standing, snapshot = look.standing, look.standing.snapshot
    freeze = Act("Freeze labels", reverse("snapshot_new", args=[look.slug]), lead_only=True)
    if snapshot is None:
        ready = standing.judged_round is not None and standing.judged_filled.filled
        if ready:
            return Card(
                words="No snapshot yet. A snapshot stores the labels with a hash and cannot be changed.", act=freeze
            )
        return Card(words="A snapshot stores the labels with a hash and cannot be changed. It needs judgments.")
    words = f"{amount(snapshot.summary['queries'], 'query', 'queries')}, label rule {snapshot.rule}"
    if grade_visibility.may_read_hashes(look.user, snapshot.collection):
        words += f", sha256 {snapshot.content_sha256[:8]}…"
    if not standing.judged_round_is_frozen and standing.judged_round is not None:
        words = f"The newest snapshot is {snapshot}. It does not contain {standing.judged_round} yet."
    # The counts by grade are hidden, because their difference from the visible grades would reveal hidden ones.
    visible = not snapshots.withheld_queries(look.user, snapshot)
    chart = (
        card_charts.grades(snapshot.summary.get("by_grade", {}), f"{snapshot}, labels by grade") if visible else None
    )
    act = Act(f"Open {_short(str(snapshot))}", reverse("snapshot", args=[snapshot.uuid]))
    return Card(f"{snapshot.summary['labels']:,}", f"labels in {_short(str(snapshot))}", words, chart, act)


def scores_card(look: Look) -> Card:
    standing = look.standing
    if standing.snapshot is None or not standing.runs:
        return Card(words="Scores need a snapshot and a run. They include means with intervals, and values by query.")
    act = Act("View scores", reverse("scores", args=[look.slug]))
    if not standing.scorings:
        return Card(
            f"0 of {len(standing.runs)}", "runs scored", f"No run has scores on {standing.snapshot} yet.", act=act
        )
    left_out = snapshots.withheld_queries(look.user, standing.snapshot)
    scorings = scorings_of(standing.snapshot, left_out=left_out) if left_out else standing.scorings
    rows = estimates(scorings)
    label = f"{METRIC} of {amount(len(rows), 'run')}: " + ", ".join(f"{one.name} {one.value:.3f}" for one in rows)
    chart = intervals.leaders(rows, label, METRIC) if rows else None
    unit = f"{agree(len(scorings), 'run', 'runs')} on {_short(str(standing.snapshot))}"
    return Card(
        f"{len(scorings):,}", unit, _leader_in_words(scorings, rows, left_out) or f"On {standing.snapshot}.", chart, act
    )


def _leader_in_words(scorings: list[Scoring], rows: list[intervals.NamedInterval], left_out: frozenset[str]) -> str:
    """Return the difference between the first two runs, and whether it is significant."""
    if len(rows) < 2:
        return ""
    apart = leaderboard.compared(leaderboard.rows(scorings, METRIC), left_out)
    first = next(one for one in rows if not apart.baseline or one.name != apart.reference)
    if apart.baseline:
        words = apart.in_words(first.name)
        return f"{first.name} is {words}." if words else f"Too few queries to compare {first.name} with the baseline."
    second = rows[1]
    lead = f"{first.name} is {first.value - second.value:.3f} ahead of {second.name}"
    if not apart.letters:
        return f"{lead}. Too few queries for a significance test."
    significant = not set(apart.letters[first.name]) & set(apart.letters[second.name])
    verdict = "significantly different" if significant else "not significantly different"
    return f"{lead}: {verdict}. Compare them query by query."


def estimates(scorings: list[Scoring], metric: str = METRIC) -> list[intervals.NamedInterval]:
    """Return the runs' means under a metric, best first, without runs that have no mean."""
    scores = [(scoring, score) for scoring in scorings for score in scoring.scores.all() if score.metric == metric]
    rows = [
        intervals.NamedInterval(scoring.run.name, score.mean, score.low, score.high)
        for scoring, score in scores
        if score.mean is not None
    ]
    return sorted(rows, key=lambda one: (-one.value, one.name))


def freshness_card(look: Look) -> Card:
    standing, fresh = look.standing, look.standing.fresh
    if fresh is None:
        return Card(
            words="Freshness covers unjudged documents that systems return, and changes since the freeze. It needs a "
            "snapshot."
        )
    words = f"Frozen {age_in_words(standing.snapshot.created_at)}, "
    words += f"checked {age_in_words(fresh.checked_at)}." if fresh.checked_at else "not checked yet."
    asking = [one.signal.title for one in fresh.report.asking]
    words += f" {_list(asking)}." if asking else ""
    left = standing.queries.total - standing.snapshot.summary["queries"]
    if left > 0:
        words += (
            f" {left:,} of {amount(standing.queries.total, 'query', 'queries')} {agree(left, 'has', 'have')} no label."
        )
    unknown = len(fresh.report.unknown)
    if unknown:
        words += f" {unknown} of {len(fresh.report.findings)} freshness signals {agree(unknown, 'is', 'are')} unknown."
    known = [(run.name, 1 - run.mean) for run in fresh.report.runs if run.mean is not None]
    chart = card_charts.judged(known, 1 - (UNJUDGED.stale or 0.0)) if known else None
    act = Act("View signals", reverse("freshness", args=[look.slug]))
    # Counted per run: a document that two runs return counts twice.
    over = f" of {len(fresh.report.runs):,} runs" if len(fresh.report.runs) > 1 else ""
    unit = f"{fresh.holes:,} {agree(fresh.holes, 'unjudged', 'unjudged')}{over}, {fresh.changed:,} changed"
    return Card(fresh.word, unit, words, chart, act)


CARDS: dict[str, Callable[[Look], Card]] = {
    "queries": queries_card,
    "runs": runs_card,
    "pool": pool_card,
    "round": round_card,
    "agreement": agreement_card,
    "snapshot": snapshot_card,
    "scores": scores_card,
    "freshness": freshness_card,
}


def _list(names: list[str]) -> str:
    shown = ", ".join(names[:2])
    return shown if len(names) <= 2 else f"{shown} and {len(names) - 2} more"


def _short(name: str) -> str:
    return name if len(name) <= 24 else name[:23] + "…"


def _hours(hours: float) -> str:
    return (
        f"About {hours:,.0f} rater hours"
        if hours >= 1.5
        else f"About {amount(max(1, round(hours * 60)), 'rater minute')}"
    )
