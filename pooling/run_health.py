"""Current health of a stored run: its figures, its unjudged documents and similar runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from judgments import snapshots
from judgments.computed import once
from judgments.core.unjudged import Unjudged, count_unjudged
from judgments.models import Snapshot
from pooling import overlap as overlaps
from pooling import runs
from pooling.health.figures import Figures, depths, figures
from pooling.health.likeness import DEPTH, Likeness, Tops, likeness, tops
from pooling.models import Run

DAY = 24 * 3600


@dataclass(frozen=True)
class Unlabeled:
    """Of a run's first documents for the queries of a snapshot: how many the snapshot has no label for."""

    snapshot: Snapshot
    found: Unjudged

    @property
    def queries(self) -> int:
        return len(self.found.queries)

    @property
    def documents(self) -> int:
        return self.found.returned

    @property
    def unlabeled(self) -> int:
        return self.found.documents

    @property
    def share(self) -> float | None:
        """The mean over the queries; None where the run answers none of the snapshot's queries."""
        return self.found.share


@dataclass(frozen=True)
class Other:
    """Another run of the collection, and how alike the first ten of both are."""

    run: Run
    likeness: Likeness


@dataclass(frozen=True)
class Health:
    """What to know about a run: of its file, and of the collection as it is now.

    Attributes
    ----------
    figures : Figures
        Depths, ties, ranks.
    depths : list of (from, to, queries)
        How many queries have how many documents.
    now : Part
        Unjudged@10 by people's grades, and the queries that it leaves out.
    strange : int
        Queries that it answers and the collection does not have.
    stayed_out, twice : int
        Rows of its file that were odd and stayed out, and how many of these named a document a second time.
    snapshot : Unlabeled or None
        What the newest snapshot does not know; None without a snapshot.
    others : list of Other
        The other runs, the most alike first.
    """

    figures: Figures
    depths: list[tuple[int, int, int]]
    now: overlaps.Part
    strange: int
    stayed_out: int
    twice: int
    snapshot: Unlabeled | None
    others: list[Other]

    def as_json(self) -> dict[str, Any]:
        """Plain numbers under plain names."""
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


def look(run: Run) -> Health:
    """Look at a run and at what the collection says of it now."""
    queries = sorted(run.collection.queries.values_list("query_id", flat=True))
    found, counts, answered = _of_file(run)
    bins = run.report.get("bins", {})
    return Health(
        figures=found,
        depths=depths(counts),
        now=overlaps.overlap(run.collection, [run]).parts[0],
        strange=len(answered - set(queries)),
        stayed_out=bins.get("rejected", 0) + bins.get("conflict", 0),
        twice=bins.get("conflict", 0),
        snapshot=_unlabeled(run),
        others=_others(run, queries),
    )


def _of_file(run: Run) -> tuple[Figures, list[int], frozenset[str]]:
    """What never changes about the file: its figures, the depth of each query, its queries."""

    def read() -> tuple[Figures, list[int], frozenset[str]]:
        table = runs.ranked(run)
        counts = [int(end - start) for start, end in zip(table.offsets[:-1], table.offsets[1:], strict=True)]
        return figures(runs.opened(run).rows()), counts, frozenset(table.query_ids)

    return once(f"figures:{run.sha256}:{run.path}", read, keep=DAY)


def jaccards(chosen: Sequence[Run]) -> list[list[float | None]]:
    """How alike each two runs are: the Jaccard of `Likeness`, shape (runs, runs); None where no query is answered."""
    if not chosen:
        return []
    queries = sorted(chosen[0].collection.queries.values_list("query_id", flat=True))
    liken = _comparer(queries)
    return [[1.0 if one == other else liken(one, other).jaccard for other in chosen] for one in chosen]


def _others(run: Run, queries: Sequence[str]) -> list[Other]:
    liken = _comparer(queries)
    others = run.collection.runs.active().exclude(pk=run.pk).select_related("collection")
    found = [Other(other, liken(run, other)) for other in others]
    return sorted(found, key=lambda other: (-(other.likeness.rbo or 0.0), other.run.name))


def _comparer(queries: Sequence[str]) -> Callable[[Run, Run], Likeness]:
    """Compares two runs; what was compared before, either way round, is known: the same runs are always as alike."""
    over = hashlib.sha256("\n".join(queries).encode()).hexdigest()
    known: dict[str, Tops] = {}

    def of(run: Run) -> Tops:
        if run.path not in known:
            known[run.path] = tops(runs.ranked(run), queries)
        return known[run.path]

    def compare(one: Run, other: Run) -> Likeness:
        first, second = sorted((one, other), key=lambda run: run.path)
        key = f"like:{first.path}:{second.path}:{over}"
        return once(key, lambda: likeness(of(first), of(second)), keep=DAY)

    return compare


def _unlabeled(run: Run) -> Unlabeled | None:
    snapshot = run.collection.snapshots(manager="of_documents").order_by("-created_at", "-pk").first()
    if snapshot is None:
        return None

    def count() -> Unjudged:
        from judgments.formats.trec_qrels import load_qrels

        labels = load_qrels(
            snapshots.read_file(snapshot, snapshots.FILES["trec-qrels"]), f"{snapshot}/qrels.txt"
        ).to_dict()
        return count_unjudged(labels, overlaps.first(run, DEPTH).items(), DEPTH)

    return Unlabeled(snapshot, once(f"unlabeled@{DEPTH}:{run.path}:{snapshot.content_sha256}", count, keep=DAY))
