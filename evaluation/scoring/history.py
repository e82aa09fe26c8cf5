"""Scores over the snapshots of a collection, and the changes between successive snapshots."""

from __future__ import annotations

import hashlib
from collections.abc import Collection as Some
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.core.cache import cache

from assay.core.errors import NotFound
from evaluation.freshness import freshness
from evaluation.models import Score
from evaluation.scoring.scoring import in_order
from evaluation.scoring.stored_scores import scorings_of
from judgments.labels import grade_visibility
from judgments.models import Collection, Snapshot
from judgments.snapshots import snapshots
from pooling.models import Run

NUMBERS = ("mean", "low", "high", "weighted", "weighted_low", "weighted_high", "queries")
MONTH = 30 * 24 * 3600


@dataclass(frozen=True)
class Change:
    """The changes of a snapshot since the previous one."""

    labels_added: int
    labels_removed: int
    labels_changed: int
    queries_added: int
    queries_removed: int
    rounds_added: tuple[str, ...] = ()
    rounds_removed: tuple[str, ...] = ()
    rule: tuple[str, str] | None = None
    guidelines: tuple[str, str] | None = None
    software: tuple[str, str] | None = None

    @property
    def sentences(self) -> list[str]:
        """Return the changes in words, most important first; one sentence if nothing changed."""
        sentences = [*self._counts(), *self._settings()]
        return sentences or ["The labels are the same."]

    def _counts(self) -> list[str]:
        counted = (
            (self.labels_added, "label", "added"),
            (self.labels_changed, "label", "changed"),
            (self.labels_removed, "label", "removed"),
            (self.queries_added, "query", "added"),
            (self.queries_removed, "query", "removed"),
        )
        return [f"{number:,} {_noun(noun, number)} {done}" for number, noun, done in counted if number]

    def _settings(self) -> list[str]:
        moved = (("rule", self.rule), ("guidelines", self.guidelines), ("software", self.software))
        sentences = [f"{name} {pair[0]} → {pair[1]}" for name, pair in moved if pair]
        sentences += [f"round {name} added" for name in self.rounds_added]
        return sentences + [f"round {name} removed" for name in self.rounds_removed]

    def as_json(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Point:
    """One snapshot with its scores by run name and its changes since the previous snapshot."""

    snapshot: Snapshot
    scores: Mapping[str, Score]
    change: Change | None


def metrics_of(collection: Collection) -> list[str]:
    """Return all metrics with scores, default metrics first."""
    rows = Score.objects.filter(scoring__collection=collection)
    return in_order(rows.order_by().values_list("metric", flat=True).distinct())


def chosen_run(collection: Collection, text: str) -> Run | None:
    """Return the run with this id or name, or None if none is given."""
    if not text:
        return None
    rows = collection.runs.defer("report", "health")
    match = next((run for run in rows if text in (str(run.uuid), run.name)), None)
    if match is None:
        raise NotFound("This collection has no such run.")
    return match


def points_for(reader: Any, collection: Collection, metric: str, newest: int) -> list[Point]:
    """Return the snapshots in order of time, with the scores that the reader may see."""
    # The oldest one is needed for the changes of the next one.
    rows = collection.snapshots(manager="of_documents").all()[: newest + 1]
    hidden = grade_visibility.hidden_keys(reader, collection)
    left_out = {snapshot.pk: snapshots.withheld_queries(reader, snapshot, hidden) for snapshot in rows}
    return points(collection, metric, newest=newest, left_out=left_out)


def points(
    collection: Collection, metric: str, *, newest: int, left_out: Mapping[int, Some[str]] | None = None
) -> list[Point]:
    """Return the newest snapshots of a collection in order of time, with every run's score."""

    def withheld_queries(old: Snapshot, snapshot: Snapshot) -> frozenset[str]:
        by_snapshot = left_out or {}
        return frozenset(by_snapshot.get(old.pk, ())) | frozenset(by_snapshot.get(snapshot.pk, ()))

    rows = list(collection.snapshots(manager="of_documents").all()[: newest + 1])[::-1]
    before = rows[:-1] if len(rows) <= newest else rows
    shown = rows if len(rows) <= newest else rows[1:]
    earlier: list[Snapshot | None] = [*([None] if len(rows) <= newest else []), *before]
    scores = _scores(shown, metric, left_out or {})
    return [
        Point(
            snapshot,
            scores.get(snapshot.pk, {}),
            None if old is None else change(old, snapshot, withheld_queries(old, snapshot)),
        )
        for snapshot, old in zip(shown, earlier, strict=False)
    ]


def _scores(
    snapshots: Sequence[Snapshot], metric: str, left_out: Mapping[int, Some[str]]
) -> dict[int, dict[str, Score]]:
    whole = [snapshot for snapshot in snapshots if not left_out.get(snapshot.pk)]
    rows = Score.objects.filter(scoring__snapshot__in=whole, metric=metric).defer("per_query")
    scores_by_snapshot: dict[int, dict[str, Score]] = {}
    for score in rows.select_related("scoring__run"):
        scores_by_snapshot.setdefault(score.scoring.snapshot_id, {})[score.scoring.run.name] = score
    for snapshot in snapshots:
        if withheld := left_out.get(snapshot.pk):
            theirs = [(one.run.name, one.scores.all()) for one in scorings_of(snapshot, left_out=withheld)]
            scores_by_snapshot[snapshot.pk] = {
                name: score for name, scores in theirs for score in scores if score.metric == metric
            }
    return scores_by_snapshot


def as_json(metric: str, points: Sequence[Point], run: Run | None = None) -> dict[str, Any]:
    """Return the history as a dict, for the file and the API."""
    return {
        "metric": metric,
        "snapshots": [
            {
                "snapshot": str(point.snapshot.uuid),
                "name": point.snapshot.name,
                "content_sha256": point.snapshot.content_sha256,
                "created_at": point.snapshot.created_at.isoformat(),
                "queries": point.snapshot.summary["queries"],
                "labels": point.snapshot.summary["labels"],
                "change": point.change.as_json() if point.change else None,
                "runs": [_run_json(score) for name, score in point.scores.items() if run is None or name == run.name],
            }
            for point in points
        ],
        "freshness": freshness.look(points[-1].snapshot).as_json() if points else None,
    }


def _run_json(score: Score) -> dict[str, Any]:
    run = score.scoring.run
    head = {"run": str(run.uuid), "name": run.name, "sha256": run.sha256}
    return head | {name: getattr(score, name) for name in NUMBERS} | ({"reason": score.reason} if score.reason else {})


def change(before: Snapshot, after: Snapshot, left_out: Some[str] = ()) -> Change:
    """Compare two snapshots without hidden queries; cached because snapshots never change."""
    pair = f"{before.content_sha256}:{after.content_sha256}:{before.pk}:{after.pk}:{sorted(left_out)}"
    key = f"change:{hashlib.sha256(pair.encode()).hexdigest()}"
    result: Change | None = cache.get(key)
    if result is None:
        result = _compared(before, after, left_out)
        cache.set(key, result, MONTH)
    return result


def _compared(before: Snapshot, after: Snapshot, left_out: Some[str]) -> Change:
    old, new = (_visible_labels(snapshot, left_out) for snapshot in (before, after))
    pairs_before = {(query_id, doc_id): grade for query_id, grades in old.items() for doc_id, grade in grades.items()}
    pairs_after = {(query_id, doc_id): grade for query_id, grades in new.items() for doc_id, grade in grades.items()}
    both = pairs_before.keys() & pairs_after.keys()
    rounds = _rounds(before), _rounds(after)
    return Change(
        labels_added=len(pairs_after) - len(both),
        labels_removed=len(pairs_before) - len(both),
        labels_changed=sum(pairs_before[pair] != pairs_after[pair] for pair in both),
        queries_added=len(new.keys() - old.keys()),
        queries_removed=len(old.keys() - new.keys()),
        rounds_added=tuple(name for name in rounds[1] if name not in rounds[0]),
        rounds_removed=tuple(name for name in rounds[0] if name not in rounds[1]),
        rule=_moved(before.rule, after.rule),
        guidelines=_moved(_guidelines(before), _guidelines(after)),
        software=_moved(_software(before), _software(after)),
    )


def _visible_labels(snapshot: Snapshot, left_out: Some[str]) -> dict[str, Mapping[str, float]]:
    labels = snapshot.qrels().to_dict()
    return {query_id: grades for query_id, grades in labels.items() if query_id not in left_out}


def _moved(before: str, after: str) -> tuple[str, str] | None:
    return (before, after) if before != after else None


def _rounds(snapshot: Snapshot) -> dict[str, int]:
    return {entry["name"]: entry["guidelines_version"] for entry in snapshot.manifest.get("rounds", [])}


def _guidelines(snapshot: Snapshot) -> str:
    numbers = sorted(set(_rounds(snapshot).values()))
    return ", ".join(f"version {number}" for number in numbers) or "none"


def _software(snapshot: Snapshot) -> str:
    return str(snapshot.manifest.get("provenance", {}).get("software", "unknown"))


def _noun(noun: str, number: int) -> str:
    return noun if number == 1 else {"query": "queries"}.get(noun, f"{noun}s")
