"""Changes between two stored snapshots, and their effect on the ranking of the runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotValid
from evaluation.effects.round_runs import METRIC, metric_on, runs_of
from evaluation.scoring import rankings
from judgments.jobs.single_flight import compute_once, hashed_key
from judgments.models import Snapshot
from judgments.snapshots import snapshots
from pooling.runs import runs as stored_runs

if TYPE_CHECKING:
    from assay.effects.label_set_changes import Boards, LabelChanges

DAY = 24 * 3600
FORM = 1
RESAMPLES = 1_000
Key = tuple[str, str]


@dataclass(frozen=True)
class SnapshotComparison:
    """Comparison of a first and a second snapshot."""

    metric: str
    changes: LabelChanges
    agreement: dict[str, Any]
    boards: Boards | None
    left_out: str = ""

    def as_json(self, a: Snapshot, b: Snapshot) -> dict[str, Any]:
        """Return the format of the API, without the list of pairs."""
        changes = self.changes
        return {
            "a": str(a.uuid),
            "b": str(b.uuid),
            "same_content": a.content_sha256 == b.content_sha256,
            "metric": self.metric,
            "labels": {
                "same": changes.same,
                "changed": len(changes.changed),
                "added": len(changes.added),
                "gone": len(changes.gone),
            },
            "queries_added": changes.queries_added,
            "queries_gone": changes.queries_gone,
            "confusion": [
                {"old": old, "new": new, "pairs": number} for (old, new), number in sorted_cells(changes.confusion)
            ],
            "agreement": self.agreement or None,
            "leaderboard": self.boards.as_json() if self.boards else None,
            "left_out": self.left_out,
        }


def sorted_cells(confusion: dict[tuple[Any, Any], int]) -> list[tuple[tuple[Any, Any], int]]:
    """Return the cells by old and new grade; "no label" comes last."""
    return sorted(confusion.items(), key=lambda cell: [(one is None, one or 0) for one in cell[0]])


def compare(a: Snapshot, b: Snapshot, *, metric: str = METRIC, reader: Any) -> SnapshotComparison:
    """Compare a second snapshot with a first one."""
    if a.pk == b.pk or a.collection_id != b.collection_id:
        raise NotValid("A comparison needs two snapshots of one collection.", {"b": "Choose a snapshot other than a."})
    for one in (a, b):
        snapshots.check_reader(one, reader)
    bound = metric_on(metric, max(rankings.top_grade(a), rankings.top_grade(b)))
    runs, left_out = [], ""
    try:
        runs = runs_of(a.collection)
    except NotValid as error:
        left_out = str(error)
    files = [(run.name, run.sha256) for run in runs]
    key = hashed_key(f"snapshots:{FORM}", str(a.uuid), str(b.uuid), bound.name, files)

    def compute() -> SnapshotComparison:
        from assay.effects.label_set_changes import boards, label_changes

        first, second = _labels(a), _labels(b)
        tables = [stored_runs.ranked(run) for run in runs]
        leaderboards = boards(first, second, tables, bound) if tables else None
        if leaderboards is not None and not leaderboards.standings:
            leaderboards = None
        why = left_out or ("" if leaderboards else "No run has results for a query of these snapshots.")
        scale = sorted({*a.manifest["scale"]["grades"], *b.manifest["scale"]["grades"]})
        return SnapshotComparison(
            bound.name, label_changes(first, second), _agreement(first, second, scale), leaderboards, why
        )

    return compute_once(key, compute, keep=DAY)


def _labels(snapshot: Snapshot) -> dict[Key, float]:
    labels = snapshots.labels_of(snapshot)
    return {(query_id, doc_id): grade for query_id, grades in labels.items() for doc_id, grade in grades.items()}


def _agreement(first: dict[Key, float], second: dict[Key, float], scale: list[int]) -> dict[str, Any]:
    """Compute ordinal alpha and quadratic kappa of the two labels of each pair, as if they came from two raters."""
    from assay.coefficients import agreement_report
    from assay.core.ratings import Ratings

    both = first.keys() & second.keys()
    rows = [row for key in both for row in ((*key, "a", int(first[key])), (*key, "b", int(second[key])))]
    if not rows:
        return {}
    values = sorted({*scale, *(row[3] for row in rows)})
    report = agreement_report(Ratings.from_rows(rows), tuple(values), bootstrap=RESAMPLES, seed=0).as_json()
    kappa = report["cohen"][0] if report["cohen"] else None
    return {
        "alpha": report["alpha"]["ordinal"],
        "kappa": None if kappa is None else {"value": kappa["quadratic"], **kappa["intervals"]["quadratic"]},
        "percent_agreement": report["percent_agreement"],
    }
