"""Decisions: plan the judging of whole queries in random order, start it, and record the verdicts."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount
from assay.sequential import ALPHA, DELTA, METHODS
from evaluation.models import Candidate, Decision
from judgments.events.events import emit
from judgments.guidelines.guidelines import DEFAULT_TEMPLATE, add_version, latest
from judgments.imports.documents import stubs_for
from judgments.members import invite_links
from judgments.models import Collection, Query, Role, Round, User, audit
from judgments.models.fields import duplicates_raise
from judgments.models.round import DECISION
from judgments.rounds import rounds
from judgments.web import access
from pooling.models import Run
from pooling.pools import pools
from pooling.runs import runs as stored_runs

if TYPE_CHECKING:
    from assay.metrics.metric import BoundMetric

MOST_QUERIES, MOST_CANDIDATES, DEEPEST = 5_000, 8, 100
# More pairs take too long to create in a request, and to rate.
MOST_PAIRS = 100_000
METRIC = "nDCG@10"
# Metrics whose difference does not depend on documents at the same rank in both lists.
ADDITIVE = ("DCG", "P", "RBP")
# The relations that a look at a decision reads.
RELATED = ("round__scale", "baseline", "collection", "created_by")
# The settings that a decision stores unchanged.
COPIED = ("delta", "alpha", "method", "skips_same_rank", "closes", "seed")
Lists = Mapping[str, Mapping[str, Sequence[str]]]  # by id of the run and of the query


@dataclass(frozen=True)
class Settings:
    """What a decision is based on."""

    metric: str = METRIC
    delta: float = DELTA
    alpha: float = ALPHA
    method: str = "asymptotic"
    skips_same_rank: bool = False
    closes: bool = True
    weighted: bool = True
    seed: int = 1
    ratings_per_pair: int = 1
    overlap: float = 1.0


@dataclass(frozen=True)
class Plan:
    """The queries in the order of judging, with the documents of each that need judging."""

    settings: Settings
    depth: int
    order: tuple[str, ...]
    pairs: Mapping[str, Sequence[str]]  # queries whose lists are identical have none
    lists: Lists
    weights: Mapping[str, float]
    unanswered: int
    weightless: int

    @property
    def identical(self) -> int:
        return len(self.order) - len(self.pairs)

    @property
    def pair_count(self) -> int:
        return sum(map(len, self.pairs.values()))

    def pairs_after(self, queries: int) -> int:
        """Return the number of pairs of the first queries."""
        return sum(len(self.pairs.get(query_id, ())) for query_id in self.order[:queries])


def plan(
    baseline: Run, candidates: Sequence[Run], settings: Settings, *, query_ids: Sequence[str] | None = None
) -> Plan:
    """Plan a decision over the given queries of the collection, or over all that a system answers.

    Without candidates, the plan is to rate the documents of one system.
    """
    collection = baseline.collection
    depth = _check(baseline, candidates, settings)
    systems = [baseline, *candidates]
    ranked = {run: stored_runs.ranked(run) for run in systems}
    rows = collection.queries.all() if query_ids is None else collection.queries.filter(query_id__in=query_ids)
    known = list(rows.values_list("query_id", flat=True))
    answered = {run: set(ranked[run].query_ids) for run in systems}
    for run in systems:
        if not answered[run] & set(known):
            message = (
                f"{run} answers none of the {amount(len(known), 'query', 'queries')}. Check that its query ids are "
                "those of the collection."
            )
            raise NotValid(message, "queries")
    for run in candidates:
        if not answered[run] & answered[baseline] & set(known):
            message = f"{baseline} and {run} answer no query in common. Compare systems on the same queries."
            raise NotValid(message, "queries")
    weights, weightless = _weights(collection, known) if settings.weighted else ({}, 0)
    order = [query_id for query_id in known if any(query_id in answered[run] for run in systems)]
    unanswered = len(known) - len(order)
    order = sorted((one for one in order if not weights or weights[one] > 0), key=str.encode)
    if not order:
        raise NotValid("All queries have the weight 0.", {"queries": "Choose queries with traffic."})
    if len(order) > MOST_QUERIES:
        message = f"{len(order):,} queries exceed the limit of {MOST_QUERIES:,}. Draw a sample from the query log."
        raise NotValid(message, "queries")
    random.Random(f"{settings.seed} decision").shuffle(order)  # noqa: S311
    lists = {
        str(run.uuid): {query_id: tuple(ranked[run].ranking(query_id)[:depth]) for query_id in order} for run in systems
    }
    pairs = {}
    for query_id in order:
        of_query = [lists[str(run.uuid)][query_id] for run in systems]
        if not candidates or any(ranking != of_query[0] for ranking in of_query[1:]):
            pairs[query_id] = _documents(of_query, settings.skips_same_rank)
    if (count := sum(map(len, pairs.values()))) > MOST_PAIRS:
        message = f"{count:,} pairs exceed the limit of {MOST_PAIRS:,}. Choose fewer queries or a lower cutoff."
        raise NotValid(message, "metric")
    return Plan(settings, depth, tuple(order), pairs, lists, weights, unanswered, weightless)


def _check(baseline: Run, candidates: Sequence[Run], settings: Settings) -> int:
    """Check the settings and return the depth to which lists are judged."""
    if len(candidates) > MOST_CANDIDATES:
        raise NotValid("Too many candidates.", {"candidates": f"Choose at most {MOST_CANDIDATES}."})
    if len({baseline, *candidates}) <= len(candidates):
        raise NotValid(
            "A run cannot be compared with itself.", {"candidates": "Choose runs other than the baseline, each once."}
        )
    if len({run.collection_id for run in (baseline, *candidates)}) > 1:
        raise NotValid("Some runs belong to another collection.", {"candidates": "Choose runs of one collection."})
    if pools.is_large([baseline, *candidates]):
        message = "These runs are too large to compare on a page. Cut them to the first 100 documents of each query."
        raise NotValid(message, "candidates")
    bound = metric_of(settings.metric)
    if METHODS[settings.method].needs_bounded and (not bound.metric.bounded or bound.metric.mean == "geometric"):
        raise NotValid(f"The method {settings.method} needs a metric between 0 and 1, such as {METRIC}.", "method")
    if settings.skips_same_rank and bound.metric.name not in ADDITIVE:
        message = (
            f"Documents at the same rank affect the difference in {bound.name}. They can be skipped only for "
            f"{', '.join(ADDITIVE)}."
        )
        raise NotValid(message, "skips_same_rank")
    if not 0 < settings.delta < 1:
        raise NotValid("The smallest relevant difference is not valid.", {"delta": "Enter a number between 0 and 1."})
    if not 0 < settings.alpha < 0.5:
        raise NotValid("The error rate is not valid.", {"alpha": "Enter a number between 0 and 0.5, such as 0.05."})
    return int(bound.cutoff or 0)


def metric_of(name: str) -> BoundMetric:
    """Return the metric; it needs a cutoff, because lists are judged to this depth."""
    from assay.metrics.metric import parse_metrics

    try:
        bound, *more = parse_metrics(name)
    except NotValid as error:
        raise NotValid(str(error), "metric") from error
    if more:
        raise NotValid("A decision needs one metric.", {"metric": "Enter one metric, chosen beforehand."})
    if bound.metric.by_subtopic:
        raise NotValid(f"{bound.name} needs labels by subtopic, which rounds do not have.", "metric")
    if not isinstance(bound.cutoff, int) or not 1 <= bound.cutoff <= DEEPEST:
        message = f"Enter a metric with a cutoff from 1 to {DEEPEST}, such as {METRIC}: lists are judged to this depth."
        raise NotValid(message, "metric")
    return bound


def _weights(collection: Collection, query_ids: Sequence[str]) -> tuple[dict[str, float], int]:
    """Return the sampling weight of each query, if all have one, and the number of queries with the weight 0."""
    rows = {
        query_id: weight / probability
        for query_id, weight, probability, stratum in collection.queries.values_list(
            "query_id", "weight", "probability", "stratum"
        )
        if weight is not None and probability and stratum is None
    }
    if not set(query_ids) <= rows.keys() or not any(rows.values()):
        return {}, 0
    weights = {query_id: rows[query_id] for query_id in query_ids}
    # Equal weights change nothing.
    return ({}, 0) if len(set(weights.values())) == 1 else (weights, sum(not one for one in weights.values()))


def _documents(lists: Sequence[Sequence[str]], skip_same_rank: bool) -> list[str]:
    """Return the documents of a query to judge, alternately from each list."""
    ranks = range(max(map(len, lists)))
    rows = [[ranking[rank] if rank < len(ranking) else None for ranking in lists] for rank in ranks]
    rows = [row for row in rows if not skip_same_rank or any(doc_id != row[0] for doc_id in row)]
    return list(dict.fromkeys(doc_id for row in rows for doc_id in row if doc_id is not None))


def start(
    baseline: Run,
    candidates: Sequence[Run],
    *,
    actor: User,
    name: str,
    settings: Settings,
    query_ids: Sequence[str] | None = None,
    raters: Sequence[User] = (),
    people: Sequence[str] = (),
    role: str = Role.RATER,
) -> tuple[Decision, list[invite_links.Made]]:
    """Create the decision, open its round and invite people; without anything to judge, record the verdict at once."""
    if not candidates:
        raise NotValid("No candidate is selected.", {"candidates": "Choose at least one run to compare."})
    planned = plan(baseline, candidates, settings, query_ids=query_ids)
    collection, name = baseline.collection, name.strip()
    if not name:
        raise NotValid("The name is missing.", {"name": "Enter a name, such as the change that is tested."})
    taken = Conflict(f"Another decision or round is already called {name}. Choose another name.")
    if collection.decisions.filter(name=name).exists() or collection.rounds.filter(name=name).exists():
        raise taken
    path = keep_lists(planned, collection)
    try:
        with duplicates_raise(taken), transaction.atomic():
            made = _create_round(planned, [baseline, *candidates], actor, name, raters)
            links = invite_links.make_all(collection, people, actor=actor, round_=made, role=role)
            if made is not None:
                made = rounds.open_round(made, actor=actor)
            return record(planned, baseline, candidates, path, actor, name, made), links
    except BaseException:
        default_storage.delete(path)
        raise


@transaction.atomic
def rate_one(
    run: Run,
    *,
    actor: User,
    name: str,
    settings: Settings,
    query_ids: Sequence[str] | None = None,
    raters: Sequence[User] = (),
    people: Sequence[str] = (),
    role: str = Role.RATER,
) -> tuple[Round, list[invite_links.Made]]:
    """Open a round over the first documents of one system, and invite people; nothing is decided."""
    planned = plan(run, (), settings, query_ids=query_ids)
    pairs = [(query_id, doc_id) for query_id in planned.order for doc_id in planned.pairs[query_id]]
    collection = run.collection
    pool = pools.draw_pool(
        collection, strategy="list", runs=[run], parameters={"pairs": pairs}, seed=settings.seed, actor=actor
    )
    made = pools.make_round(
        pool,
        actor=actor,
        name=name,
        guidelines=latest(collection) or add_version(collection, markdown=DEFAULT_TEMPLATE, actor=actor),
        ratings_per_pair=settings.ratings_per_pair,
        overlap=settings.overlap,
        raters=raters,
        seed=settings.seed,
    )
    links = invite_links.make_all(collection, people, actor=actor, round_=made, role=role)
    return rounds.open_round(made, actor=actor), links


def keep_lists(planned: Plan, collection: Collection) -> str:
    """Store the first documents of each run in a file, and return its path."""
    content = gzip.compress(json.dumps(planned.lists).encode(), 6, mtime=0)
    return default_storage.save(f"decisions/{collection.slug}.json.gz", ContentFile(content))


def record(
    planned: Plan, baseline: Run, candidates: Sequence[Run], path: str, actor: User, name: str, made: Round | None
) -> Decision:
    """Store a decision with its round."""
    settings, collection = planned.settings, baseline.collection
    decision = Decision.objects.create(
        collection=collection,
        name=name,
        round=made,
        baseline=baseline,
        metric=metric_of(settings.metric).name,
        depth=planned.depth,
        **{name: getattr(settings, name) for name in COPIED},
        planned=len(planned.order) if METHODS[settings.method].needs_planned else None,
        order=list(planned.order),
        identical=planned.identical,
        weights={query_id: planned.weights[query_id] for query_id in planned.order} if planned.weights else {},
        path=path,
        unanswered=planned.unanswered,
        created_by=actor,
    )
    for run in candidates:
        Candidate.objects.create(decision=decision, run=run)
    sentence = f"{actor} started the decision {decision} between {baseline} and {', '.join(map(str, candidates))}"
    audit.record("decisions.start", sentence, actor=actor, collection=collection, target=decision, seed=settings.seed)
    if made is None:
        look(decision)
    return decision


def _create_round(
    planned: Plan, systems: Sequence[Run], actor: User, name: str, raters: Sequence[User]
) -> Round | None:
    if not planned.pairs:
        return None
    settings, collection = planned.settings, systems[0].collection
    guidelines = latest(collection) or add_version(collection, markdown=DEFAULT_TEMPLATE, actor=actor)
    parameters = {
        "metric": settings.metric,
        "depth": planned.depth,
        "skips_same_rank": settings.skips_same_rank,
        "queries": len(planned.order),
        "identical": planned.identical,
    }
    hashes = [{"sha256": run.sha256, "depth": run.depth} for run in systems]
    return rounds.create_round(
        collection,
        name=name,
        candidates=_candidates(planned, collection),
        provenance={
            "strategy": DECISION,
            "parameters": parameters,
            "seed": settings.seed,
            "runs": sorted(hashes, key=lambda row: str(row["sha256"])),
            "pairs": planned.pair_count,
        },
        guidelines=guidelines,
        actor=actor,
        ratings_per_pair=settings.ratings_per_pair,
        overlap=settings.overlap,
        raters=raters,
        seed=settings.seed,
    )


def _candidates(planned: Plan, collection: Collection) -> Iterator[rounds.Candidate]:
    queries = {row.query_id: row for row in Query.objects.filter(collection=collection, query_id__in=planned.pairs)}
    documents = stubs_for(collection, (doc_id for of_query in planned.pairs.values() for doc_id in of_query))
    for query_id in planned.order:
        for doc_id in planned.pairs.get(query_id, ()):
            yield rounds.Candidate(queries[query_id], documents[doc_id], {"strategy": DECISION})


@lru_cache(maxsize=16)
def stored_lists(path: str) -> Lists:
    """Return the first documents of each run from a decision's file, which never changes."""
    with default_storage.open(path) as stored, gzip.open(stored) as content:
        lists: Lists = json.load(content)
    return lists


def lists_of(decision: Decision, run: Run) -> Mapping[str, Sequence[str]]:
    """Return the first documents of a run by query, as they were when the decision started."""
    return stored_lists(decision.path)[str(run.uuid)]


def look(decision: Decision) -> None:
    """Record the verdicts that the judgments allow now, and close the round if the lead wants that."""
    from evaluation.decisions.live import standing

    open_ = list(decision.candidates.filter(verdict="undecided").select_related("run"))
    if not open_:
        return
    outcomes = {one.pk: standing(decision, one.run).outcome for one in open_}
    reached: list[Candidate] = []
    with transaction.atomic():
        row = Decision.objects.select_for_update(of=("self",)).select_related("round", "collection").get(pk=decision.pk)
        for one in (
            row.candidates.select_for_update().filter(pk__in=outcomes, verdict="undecided").select_related("run")
        ):
            outcome = outcomes[one.pk]
            if outcome.verdict == "undecided":
                continue
            one.verdict, one.result, one.decided_at = outcome.verdict, outcome.to_dict(), timezone.now()
            one.save(update_fields=["verdict", "result", "decided_at"])
            reached.append(one)
            audit.record(
                "decisions.look",
                f"The decision {row} found {one.run} {outcome.verdict} after "
                f"{amount(outcome.queries, 'query', 'queries')}",
                actor=None,
                target=row,
                verdict=outcome.verdict,
            )
        decided = not row.candidates.filter(verdict="undecided").exists()
        if decided and row.closes and row.round is not None and row.round.state == Round.State.OPEN:
            actor = row.created_by
            if actor is not None:
                rounds.close_round(row.round, actor=actor)
        # After the round closed, its raters may see the verdict.
        for one in reached:
            _emit_verdict(row, one)


RELATIONS = {"better": "is better than", "worse": "is worse than", "equivalent": "is equivalent to"}


def _emit_verdict(decision: Decision, candidate: Candidate) -> None:
    against = f"{RELATIONS[candidate.verdict]} {decision.baseline}"
    emit(
        "verdict.reached",
        decision.collection,
        text=f"Decision {decision}: {candidate.run} {against}.",
        page=reverse("decision", args=[decision.collection.slug, decision.uuid]),
        data={
            "decision": str(decision.uuid),
            "name": decision.name,
            "candidate": candidate.run.name,
            "baseline": decision.baseline.name,
            "verdict": candidate.verdict,
        },
    )


def decision_for(collection: Collection, uuid: Any) -> Decision:
    """Return a decision of a collection."""
    rows = collection.decisions.select_related(*RELATED).filter(uuid=uuid)
    return access.existing(rows, "This collection has no such decision.")


def needed_by(run: Run) -> str:
    """Return why a run cannot be deleted: a decision uses it. Empty if it can."""
    first = Decision.objects.filter(Q(baseline=run) | Q(candidates__run=run)).first()
    return f"The decision {first} uses this run." if first else ""


def settings_of(decision: Decision) -> dict[str, Any]:
    """Return the settings of a decision, as its report and its API name them."""
    names = sorted(["metric", *COPIED])
    settings = {name: getattr(decision, name) for name in [*names, "depth", "planned"]}
    return settings | {"weighted": bool(decision.weights)}
