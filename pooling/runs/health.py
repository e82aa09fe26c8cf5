"""Current health of a stored run: its statistics, its unjudged documents and similar runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assay.core.unjudged import Unjudged, count_unjudged
from assay.formats.stored_run import Figures, depths, figures
from assay.scoring.run_similarity import DEPTH, Likeness, Tops, likeness, tops
from judgments.jobs.single_flight import compute_once
from judgments.models import Snapshot
from pooling.models import Run
from pooling.runs import overlap, runs

DAY = 24 * 3600


@dataclass(frozen=True)
class Unlabeled:
    """Unlabeled documents among a run's first documents for the queries of a snapshot."""

    snapshot: Snapshot
    holes: Unjudged

    @property
    def queries(self) -> int:
        return len(self.holes.queries)

    @property
    def documents(self) -> int:
        return self.holes.returned

    @property
    def unlabeled(self) -> int:
        return self.holes.documents

    @property
    def share(self) -> float | None:
        """Return the mean share per query; None if the run answers no query of the snapshot."""
        return self.holes.share


@dataclass(frozen=True)
class Other:
    """Another run of the collection, and the similarity of both runs' first ten documents."""

    run: Run
    likeness: Likeness


@dataclass(frozen=True)
class Health:
    """Quality statistics of a run, from its file and from the current state of the collection."""

    figures: Figures
    depths: list[tuple[int, int, int]]
    now: overlap.Part
    strange: int
    stayed_out: int
    twice: int
    snapshot: Unlabeled | None
    others: list[Other]

    def as_json(self) -> dict[str, Any]:
        """Return the statistics as a dict."""
        snapshot = self.snapshot
        return {
            **asdict(self.figures),
            "depths": [{"from": low, "to": high, "queries": queries} for low, high, queries in self.depths],
            "queries_left_out": self.now.left_out,
            "queries_not_here": self.strange,
            "rows_left_out": self.stayed_out,
            "rows_twice": self.twice,
            "unjudged_at_10": self.now.unjudged_share,
            "newest_snapshot": snapshot and {"id": str(snapshot.snapshot.uuid), "unlabeled_at_10": snapshot.share},
            "runs": [
                {"id": str(other.run.uuid), "name": other.run.name, **asdict(other.likeness)} for other in self.others
            ],
        }


def check(run: Run) -> Health:
    """Return the current quality statistics of a run."""
    queries = sorted(run.collection.queries.values_list("query_id", flat=True))
    figures, counts, answered = _of_file(run)
    bins = run.report.get("bins", {})
    return Health(
        figures=figures,
        depths=depths(counts),
        now=overlap.overlap(run.collection, [run]).parts[0],
        strange=len(answered - set(queries)),
        stayed_out=bins.get("rejected", 0) + bins.get("conflict", 0),
        twice=bins.get("conflict", 0),
        snapshot=_unlabeled(run),
        others=_others(run, queries),
    )


def _of_file(run: Run) -> tuple[Figures, list[int], frozenset[str]]:
    """Return the statistics that depend only on the file: its figures, the depth of each query, its queries."""

    def read() -> tuple[Figures, list[int], frozenset[str]]:
        table = runs.ranked(run)
        counts = [int(end - start) for start, end in zip(table.offsets[:-1], table.offsets[1:], strict=True)]
        return figures(runs.opened(run).rows()), counts, frozenset(table.query_ids)

    return compute_once(f"figures:{run.sha256}:{run.path}", read, keep=DAY)


def jaccards(chosen: Sequence[Run]) -> list[list[float | None]]:
    """Return the Jaccard similarity of all runs, of shape (runs, runs); None if no query is answered."""
    if not chosen:
        return []
    queries = sorted(chosen[0].collection.queries.values_list("query_id", flat=True))
    liken = _comparer(queries)
    return [[1.0 if one == other else liken(one, other).jaccard for other in chosen] for one in chosen]


def _others(run: Run, queries: Sequence[str]) -> list[Other]:
    liken = _comparer(queries)
    others = run.collection.runs.active().exclude(pk=run.pk).select_related("collection")
    compared = [Other(other, liken(run, other)) for other in others]
    return sorted(compared, key=lambda other: (-(other.likeness.rbo or 0.0), other.run.name))


def _comparer(queries: Sequence[str]) -> Callable[[Run, Run], Likeness]:
    """Return a function that compares two runs in either order and caches the result."""
    over = hashlib.sha256("\n".join(queries).encode()).hexdigest()
    known: dict[str, Tops] = {}

    def of(run: Run) -> Tops:
        if run.path not in known:
            known[run.path] = tops(runs.ranked(run), queries)
        return known[run.path]

    def compare(one: Run, other: Run) -> Likeness:
        first, second = sorted((one, other), key=lambda run: run.path)
        key = f"like:{first.path}:{second.path}:{over}"
        return compute_once(key, lambda: likeness(of(first), of(second)), keep=DAY)

    return compare


def _unlabeled(run: Run) -> Unlabeled | None:
    snapshot = run.collection.snapshots(manager="of_documents").order_by("-created_at", "-pk").first()
    if snapshot is None:
        return None

    def count() -> Unjudged:
        return count_unjudged(snapshot.qrels().to_dict(), overlap.first(run, DEPTH).items(), DEPTH)

    return Unlabeled(snapshot, compute_once(f"unlabeled@{DEPTH}:{run.path}:{snapshot.content_sha256}", count, keep=DAY))
