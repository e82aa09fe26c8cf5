"""Facts of a collection, read once for the navigation, the overview cards and the method checklist."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Q, Sum

from assay.coefficients.gate import GateAnswer
from evaluation.freshness import freshness
from evaluation.models import Scoring
from evaluation.scoring.stored_scores import scorings_of
from judgments.agreement import agreement_summary, conflicts, round_report
from judgments.agreement.agreement_summary import AgreementSummary
from judgments.guidelines import guidelines
from judgments.models import (
    Collection,
    Document,
    GuidelinesVersion,
    Query,
    QuerySample,
    Round,
    Snapshot,
    Tally,
)
from pooling.models import Pool, Run


@dataclass(frozen=True)
class QueryCounts:
    """Number of queries: in total, with a need, with a tier, and drawn from a log."""

    total: int
    with_need: int
    drawn: int
    head: int
    torso: int
    tail: int

    @property
    def tiered(self) -> int:
        return self.head + self.torso + self.tail


@dataclass(frozen=True)
class Filled:
    """Progress of a round's ratings; ``growing`` while pairs are still being added."""

    wanted: int
    filled: int
    growing: bool = False

    @property
    def share(self) -> float:
        return self.filled / self.wanted if self.wanted else 0.0

    @property
    def full(self) -> bool:
        return self.wanted > 0 and self.filled >= self.wanted and not self.growing


class Standing:
    """The facts of one collection, each read from the database at first access."""

    def __init__(self, collection: Collection, viewer: Any = None) -> None:
        self.collection, self.viewer = collection, viewer

    @property
    def nothing(self) -> bool:
        """Whether the collection is empty."""
        return not (self.queries.total or self.logs or self.documents or self.runs or self.rounds)

    @cached_property
    def queries(self) -> QueryCounts:
        tiers = {tier: Count("pk", filter=Q(tier=tier)) for tier in Query.Tier.values}
        return QueryCounts(
            **self.collection.queries.aggregate(
                total=Count("pk"),
                with_need=Count("pk", filter=~Q(narrative="")),
                drawn=Count("pk", filter=Q(sample__isnull=False)),
                **tiers,
            )
        )

    @cached_property
    def draws(self) -> list[Any]:
        """The draws of the collection's queries, with ``drawn`` and the number of each tier; largest first."""
        tiers = {tier: Count("queries", filter=Q(queries__tier=tier)) for tier in Query.Tier.values}
        rows = self.collection.query_samples.annotate(drawn=Count("queries"), **tiers)
        return list(rows.filter(drawn__gt=0).order_by("-drawn", "-created_at", "-pk"))

    @property
    def sample(self) -> QuerySample | None:
        """The draw from which most queries came."""
        return next(iter(self.draws), None)

    @cached_property
    def logs(self) -> int:
        return self.collection.query_logs.count()

    @cached_property
    def documents(self) -> int:
        """Number of documents with content; a stub is only an id from a run or a label."""
        return self.collection.documents.filter(stub=False).count()

    @cached_property
    def stubs(self) -> int:
        """Number of ids without content among the documents of the current round."""
        if self.round is None:
            return 0
        return Document.objects.filter(stub=True, pairs__round=self.round).distinct().count()

    @cached_property
    def runs(self) -> list[Run]:
        return list(self.collection.runs.active().defer("report"))

    @cached_property
    def pool(self) -> Pool | None:
        """The newest pool."""
        return self.collection.pools.active().first()

    @cached_property
    def pool_of_runs(self) -> Pool | None:
        """The newest pool that was drawn from two or more runs, which shows how far systems overlap."""
        if self.pool is None or len(self.pool.summary.get("systems", ())) > 1:
            return self.pool
        rest = self.collection.pools.active().annotate(systems=Count("runs")).filter(systems__gt=1)
        return rest.first()

    @cached_property
    def pooled(self) -> set[int]:
        """The runs that any pool was drawn from."""
        return set(Pool.runs.through.objects.filter(pool__collection=self.collection).values_list("run_id", flat=True))

    @cached_property
    def rounds(self) -> list[Round]:
        """The rounds, newest first."""
        return list(self.collection.rounds.active().filter(dimension="").select_related("guidelines", "scale"))

    @cached_property
    def round(self) -> Round | None:
        """The current round: the newest open round, otherwise the newest."""
        is_open = [round_ for round_ in self.rounds if round_.state == Round.State.OPEN]
        return next(iter([*is_open, *self.rounds]), None)

    @cached_property
    def judged_round(self) -> Round | None:
        """The round whose grades are evaluated: an open round first, then the newest that was opened."""
        begun = [round_ for round_ in self.rounds if round_.state != Round.State.DRAFT]
        return next((round_ for round_ in begun if round_.state == Round.State.OPEN), next(iter(begun), None))

    @cached_property
    def filled(self) -> Filled:
        """The ratings of the current round."""
        return _filled(self.round)

    @cached_property
    def judged_filled(self) -> Filled:
        """The ratings of the judged round."""
        return self.filled if self.judged_round == self.round else _filled(self.judged_round)

    @cached_property
    def agreement(self) -> dict[str, Any] | None:
        """The agreement of the judged round, the stored result for a large round; None before a round was opened."""
        return None if self._summary is None else self._summary.agreement

    @cached_property
    def _summary(self) -> AgreementSummary | None:
        if self.judged_round is None:
            return None
        return AgreementSummary(self.judged_round, round_report.look(self.judged_round), self.viewer)

    @cached_property
    def stored_agreement(self) -> dict[str, Any] | None:
        """The stored agreement of the judged round, for the navigation, which computes nothing."""
        if self.judged_round is None:
            return None
        return round_report.stored(self.judged_round).agreement

    @cached_property
    def stored_gate(self) -> GateAnswer | None:
        """The gate's result for that agreement."""
        if self.judged_round is None or self.stored_agreement is None:
            return None
        return agreement_summary.of_report(self.judged_round, self.stored_agreement)

    @cached_property
    def gate(self) -> GateAnswer | None:
        """The result of the judged round's own gate; None before a round was opened."""
        return None if self._summary is None else self._summary.gate

    def conflicts(self, viewer: Any = None) -> conflicts.Open:
        """Return the open conflicts of the judged round, without those that the viewer may still grade."""
        if self.judged_round is None:
            return conflicts.Open(0, 0)
        return conflicts.count_open(self.judged_round, viewer=viewer)

    @cached_property
    def settled(self) -> int:
        """The resolved conflicts of the judged round."""
        if self.judged_round is None:
            return 0
        return conflicts.in_conflict(self.judged_round, viewer=None).order_by().filter(resolved=True).count()

    @cached_property
    def guidelines(self) -> GuidelinesVersion | None:
        """The newest guidelines version for rounds of documents."""
        return guidelines.latest(self.collection)

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """The newest snapshot."""
        return self.collection.snapshots(manager="of_documents").prefetch_related("rounds").first()

    @cached_property
    def judged_round_is_frozen(self) -> bool:
        """Whether the newest snapshot contains the judged round."""
        return self.snapshot is not None and self.judged_round in self.snapshot.rounds.all()

    @cached_property
    def scorings(self) -> list[Scoring]:
        """The scorings of the newest snapshot."""
        if self.snapshot is None:
            return []
        return scorings_of(self.snapshot)

    @cached_property
    def unscored(self) -> list[Run]:
        """The runs without scores on the newest snapshot."""
        done = {scoring.run_id for scoring in self.scorings}
        return [run for run in self.runs if run.pk not in done]

    @cached_property
    def fresh(self) -> freshness.Freshness | None:
        """The freshness of the newest snapshot, the stored reading for a large one; None without a snapshot."""
        return None if self.snapshot is None else freshness.shown(self.snapshot)

    @cached_property
    def stored_fresh(self) -> freshness.Freshness | None:
        """The stored freshness for the navigation; the current one on a page that shows it anyway."""
        if "fresh" in vars(self):
            return self.fresh
        return None if self.snapshot is None else freshness.glance(self.snapshot)


def _filled(round_: Round | None) -> Filled:
    if round_ is None:
        return Filled(0, 0)
    filled = Tally.objects.filter(round=round_).aggregate(number=Sum("filled"))["number"] or 0
    return Filled(round_.slots_made, filled, growing=round_.growing)
