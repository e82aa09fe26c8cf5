"""Facts of a collection, read once for the navigation, the overview cards and the method checklist."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, Q, Sum

from evaluation.freshness import freshness
from evaluation.models import Scoring
from evaluation.scoring.stored_scores import scorings_of
from judgments.agreement import conflicts, round_gate, round_report
from judgments.agreement.agreement_summary import AgreementSummary
from judgments.agreement.round_gate import GateAnswer
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
    """How many queries there are, and how many of them have a need, a tier, a draw behind them."""

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
    """How many of a round's ratings are there; ``growing`` while more pairs are being chosen for it."""

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
    """The facts of one collection, each read from the database when it is first asked for.

    With a viewer, agreement is what this user may see of it.
    """

    def __init__(self, collection: Collection, viewer: Any = None) -> None:
        self.collection, self.viewer = collection, viewer

    @property
    def nothing(self) -> bool:
        """Whether nobody has brought anything yet."""
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
        """The draws that queries here came from, with ``drawn`` and the number of each tier; the largest first."""
        tiers = {tier: Count("queries", filter=Q(queries__tier=tier)) for tier in Query.Tier.values}
        rows = self.collection.query_samples.annotate(drawn=Count("queries"), **tiers)
        return list(rows.filter(drawn__gt=0).order_by("-drawn", "-created_at", "-pk"))

    @property
    def sample(self) -> QuerySample | None:
        """The draw that most queries came from."""
        return next(iter(self.draws), None)

    @cached_property
    def logs(self) -> int:
        return self.collection.query_logs.count()

    @cached_property
    def documents(self) -> int:
        """Documents with content; a stub is only an id that a run or a label named."""
        return self.collection.documents.filter(stub=False).count()

    @cached_property
    def stubs(self) -> int:
        """Ids without content among the documents of the round in question, where a rater would meet nothing."""
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
        """The newest pool that was drawn from two or more runs: what says how far systems overlap."""
        if self.pool is None or len(self.pool.summary.get("systems", ())) > 1:
            return self.pool
        rest = self.collection.pools.active().annotate(systems=Count("runs")).filter(systems__gt=1)
        return rest.first()

    @cached_property
    def pooled(self) -> set[int]:
        """The runs that some pool was drawn from."""
        return set(Pool.runs.through.objects.filter(pool__collection=self.collection).values_list("run_id", flat=True))

    @cached_property
    def rounds(self) -> list[Round]:
        """The newest first."""
        return list(self.collection.rounds.active().filter(dimension="").select_related("guidelines", "scale"))

    @cached_property
    def round(self) -> Round | None:
        """The round in question: the newest that is open, else the newest."""
        is_open = [round_ for round_ in self.rounds if round_.state == Round.State.OPEN]
        return next(iter([*is_open, *self.rounds]), None)

    @cached_property
    def judged_round(self) -> Round | None:
        """The round whose grades are looked at: the newest that was opened, the open one first."""
        begun = [round_ for round_ in self.rounds if round_.state != Round.State.DRAFT]
        return next((round_ for round_ in begun if round_.state == Round.State.OPEN), next(iter(begun), None))

    @cached_property
    def filled(self) -> Filled:
        """Ratings of the round in question."""
        return _filled(self.round)

    @cached_property
    def judged_filled(self) -> Filled:
        """Ratings of the round whose grades are looked at."""
        return self.filled if self.judged_round == self.round else _filled(self.judged_round)

    @cached_property
    def agreement(self) -> dict[str, Any] | None:
        """The agreement of the judged round, of a large one as it was lately; None before a round was opened."""
        return None if self._summary is None else self._summary.agreement

    @cached_property
    def _summary(self) -> AgreementSummary | None:
        if self.judged_round is None:
            return None
        return AgreementSummary(self.judged_round, round_report.look(self.judged_round), self.viewer)

    @cached_property
    def stored_agreement(self) -> dict[str, Any] | None:
        """The judged round's agreement as it was stored last: what the navigation shows, which computes nothing."""
        if self.judged_round is None:
            return None
        return round_report.stored(self.judged_round).agreement

    @cached_property
    def stored_gate(self) -> GateAnswer | None:
        """What the gate says of that."""
        if self.judged_round is None or self.stored_agreement is None:
            return None
        return round_gate.of_report(self.judged_round, self.stored_agreement)

    @cached_property
    def gate(self) -> GateAnswer | None:
        """What the judged round's own gate says of it; None before a round was opened."""
        return None if self._summary is None else self._summary.gate

    def conflicts(self, viewer: Any = None) -> conflicts.Open:
        """Conflicts of the judged round that nobody settled; without those that a viewer may still have to grade."""
        if self.judged_round is None:
            return conflicts.Open(0, 0)
        return conflicts.count_open(self.judged_round, viewer=viewer)

    @cached_property
    def settled(self) -> int:
        """Conflicts of the judged round that a person settled."""
        if self.judged_round is None:
            return 0
        return conflicts.in_conflict(self.judged_round, viewer=None).order_by().filter(resolved=True).count()

    @cached_property
    def guidelines(self) -> GuidelinesVersion | None:
        """The newest version for rounds of documents."""
        return guidelines.latest(self.collection)

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """The newest snapshot."""
        return self.collection.snapshots(manager="of_documents").prefetch_related("rounds").first()

    @cached_property
    def judged_round_is_frozen(self) -> bool:
        """Whether the newest snapshot holds the judged round."""
        return self.snapshot is not None and self.judged_round in self.snapshot.rounds.all()

    @cached_property
    def scorings(self) -> list[Scoring]:
        """The scorings of the newest snapshot."""
        if self.snapshot is None:
            return []
        return scorings_of(self.snapshot)

    @cached_property
    def unscored(self) -> list[Run]:
        """Runs that were not scored on the newest snapshot."""
        done = {scoring.run_id for scoring in self.scorings}
        return [run for run in self.runs if run.pk not in done]

    @cached_property
    def fresh(self) -> freshness.Freshness | None:
        """How far the newest snapshot still fits, a large one as it was read last; None before there is one."""
        return None if self.snapshot is None else freshness.shown(self.snapshot)

    @cached_property
    def stored_fresh(self) -> freshness.Freshness | None:
        """The same as it was stored last, for the navigation; as it is now on a page that shows it anyway."""
        if "fresh" in vars(self):
            return self.fresh
        return None if self.snapshot is None else freshness.glance(self.snapshot)


def _filled(round_: Round | None) -> Filled:
    if round_ is None:
        return Filled(0, 0)
    filled = Tally.objects.filter(round=round_).aggregate(number=Sum("filled"))["number"] or 0
    return Filled(round_.slots_made, filled, growing=round_.growing)
