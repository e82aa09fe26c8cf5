"""Default metrics for scoring a snapshot."""

from __future__ import annotations

from judgments.models import Snapshot


def relevant_from(snapshot: Snapshot) -> int:
    """Return the lowest relevant grade for binary metrics, as the manifest records it."""
    return int(snapshot.manifest.get("scale", {}).get("relevant_from") or 1)


def usual_metrics(snapshot: Snapshot) -> list[str]:
    """Return the default metrics, with the scale's threshold for binary metrics."""
    from assay.metrics import DEFAULT_METRICS

    threshold = relevant_from(snapshot)
    return [name if threshold == 1 else with_threshold(name, threshold) for name in DEFAULT_METRICS]


def with_threshold(name: str, threshold: int) -> str:
    """Return the metric with this relevance threshold; a metric without a threshold stays as it is."""
    from assay.metrics.metric_names import parse_metric

    if not any(parameter.name == "rel" for parameter in parse_metric(name).metric.parameters):
        return name
    head, at, cutoff = name.partition("@")
    return parse_metric(f"{head}(rel={threshold}){at}{cutoff}").name
