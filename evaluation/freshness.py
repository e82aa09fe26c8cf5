"""Do a snapshot's labels still fit what systems return and what documents say today?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.cache import cache
from django.db.models import Count, F, Q
from django.utils import timezone

from evaluation import scoring
from evaluation.models import Scoring
from judgments.core.errors import NotValid
from judgments.models import Judgment, Snapshot
from pooling import runs as runs_of
from pooling.models import Run

DEPTH = 10
JUDGED = f"Judged@{DEPTH}"
# The shares of unjudged documents at which the seed asks for more judging, and no longer trusts the list.
WATCH, STALE = 0.20, 0.30
# Reading larger runs would keep a page waiting; their holes are known once they are scored.
ROWS_AT_ONCE = 200_000
DAY = 24 * 3600


@dataclass(frozen=True)
class RunHoles:
    """What one run returns among its first ten that nobody judged. None: the run is too large to look at here."""

    name: str
    holes: int | None
    judged: float | None  # mean Judged@10


@dataclass(frozen=True)
class Freshness:
    """How far a snapshot still fits.

    Attributes
    ----------
    runs : list of RunHoles
        By name.
    graded, changed : int
        Documents with a human grade behind the snapshot; those whose content is another one now.
    age : timedelta
        Since it was frozen.
    embedding_changed_at : datetime or None
        When a lead said that the vector space changed.
    ratings, older : int
        Human grades behind the snapshot; those given before that.
    """

    runs: list[RunHoles]
    graded: int
    changed: int
    age: timedelta
    embedding_changed_at: datetime | None
    ratings: int
    older: int

    @property
    def holes(self) -> int:
        return sum(run.holes or 0 for run in self.runs)

    @property
    def unjudged(self) -> float | None:
        """The largest share of unjudged documents in a run's first ten."""
        known = [1 - run.judged for run in self.runs if run.judged is not None]
        return max(known, default=None)

    @property
    def state(self) -> str:
        if self.older or self.changed or (self.unjudged or 0) > WATCH:
            return "warn"
        return "done"


def look(snapshot: Snapshot, runs: Sequence[Run], scorings: Sequence[Scoring]) -> Freshness:
    """Compare a snapshot with the runs, documents and declarations of today.

    Parameters
    ----------
    snapshot : Snapshot
        Whose labels.
    runs : sequence of Run
        The collection's runs.
    scorings : sequence of Scoring
        Those of the snapshot; what they know of a run's holes is not counted again.
    """
    collection = snapshot.collection
    graded = Judgment.objects.counted().filter(pair__round__in=snapshot.rounds.all())
    changed = ~Q(document_sha256=F("pair__document__content_sha256"))
    since = collection.embedding_changed_at
    counts = graded.aggregate(
        documents=Count("pair__document", distinct=True),
        changed=Count("pair__document", filter=changed, distinct=True),
        ratings=Count("pk"),
        **({"older": Count("pk", filter=Q(created_at__lt=since))} if since else {}),
    )
    return Freshness(
        runs=[_holes(snapshot, run, scorings) for run in runs],
        graded=counts["documents"],
        changed=counts["changed"],
        age=timezone.now() - snapshot.created_at,
        embedding_changed_at=since,
        ratings=counts["ratings"],
        older=counts.get("older", 0),
    )


def _holes(snapshot: Snapshot, run: Run, scorings: Sequence[Scoring]) -> RunHoles:
    scored = next((scoring for scoring in scorings if scoring.run_id == run.pk), None)
    means = {score.metric: score.mean for score in scored.scores.all()} if scored else {}
    if scored and JUDGED in means:
        return RunHoles(run.name, scored.diagnostics[f"holes@{DEPTH}"], means[JUDGED])
    if run.rows > ROWS_AT_ONCE:
        return RunHoles(run.name, None, None)
    # Both sides are files that never change: what was counted once holds for good.
    key = f"holes:{snapshot.content_sha256}:{run.sha256}"
    counted = cache.get(key)
    if counted is None:
        counted = _count(snapshot, run)
        cache.set(key, counted, DAY)
    return RunHoles(run.name, *counted)


def _count(snapshot: Snapshot, run: Run) -> tuple[int, float]:
    from evaluation.metrics.evaluate import evaluate

    try:
        (found,) = evaluate(scoring.labels(snapshot), [runs_of.ranked(run)], [JUDGED], ranges=False).runs
    except NotValid:  # the run answers none of the judged queries
        return 0, 0.0
    return found.diagnostics.as_json()[f"holes@{DEPTH}"], found.metrics[JUDGED].mean or 0.0
