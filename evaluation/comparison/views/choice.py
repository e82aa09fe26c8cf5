"""URL parameters of a comparison: two runs, a metric and the weighting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.comparison import comparison
from evaluation.models import Scoring
from evaluation.scoring import leaderboard, stored_scores
from evaluation.scoring.views.scores import TRAFFIC


@dataclass(frozen=True)
class Choice:
    """The two runs, the metric and the weighting of a comparison."""

    a: Scoring
    b: Scoring
    metric: str
    metrics: list[str]
    weighted: bool
    can_weigh: bool
    notes: list[str]

    def address(self, params: Mapping[str, str]) -> dict[str, str]:
        """Return the complete URL parameters of this comparison."""
        depth = params.get("depth", "")
        return {
            "snapshot": str(self.a.snapshot.uuid),
            "a": str(self.a.run.uuid),
            "b": str(self.b.run.uuid),
            "metric": self.metric,
            **({"weight": TRAFFIC} if self.weighted else {}),
            **({"depth": depth} if depth else {}),
        }


def chosen(scorings: Sequence[Scoring], params: Mapping[str, str]) -> Choice | None:
    """Read the choice from the URL. Run a is the baseline by default, other runs are the best ones."""
    of = {
        name: [row.scoring for row in leaderboard.rows(scorings, name) if row.score]
        for name in stored_scores.metrics_of(scorings)
    }
    metrics = [name for name, order in of.items() if len(order) > 1]
    if not metrics:
        return None
    notes, metric = [], params.get("metric", "") or metrics[0]
    if metric not in metrics:
        notes.append(f"Fewer than two runs have scores for {metric} on this snapshot. The page shows {metrics[0]}.")
        metric = metrics[0]
    runs = {key: comparison.named(of[metric], params.get(key, "")) for key in ("a", "b")}
    for key, one in runs.items():
        if one is None and params.get(key):
            notes.append(
                f"The run {params[key]} has no score for {metric} on this snapshot. The page shows another run."
            )
    if runs["a"] and runs["a"] == runs["b"]:
        notes.append(f"{runs['a'].run} cannot be compared with itself. The page shows another baseline.")
        runs["a"] = None
    baseline = next((one for one in of[metric] if one.run.baseline), None)
    if runs["a"] is None and baseline != runs["b"]:
        runs["a"] = baseline
    rest = [one for one in of[metric] if one not in runs.values()]
    second = runs["b"] or rest.pop(0)
    first = runs["a"] or rest.pop(0)
    can_weigh, why_not = leaderboard.weighting(leaderboard.rows([first, second], metric))
    weighted = params.get("weight") == TRAFFIC
    notes += [why_not or "A mean weighted by traffic is not available."] if weighted and not can_weigh else []
    return Choice(first, second, metric, metrics, weighted and can_weigh, can_weigh, notes)
