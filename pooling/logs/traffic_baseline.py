"""Traffic behind a snapshot's queries: the traffic curve of the log, and the share of its searches that the queries
cover."""

from __future__ import annotations

from collections import Counter
from typing import Any

from judgments.models import QuerySample
from judgments.snapshots.baselines import Freezing
from pooling.logs import traffic


def baseline(freezing: Freezing) -> dict[str, Any]:
    """Return the traffic curve of the log and the share of its searches that judged queries cover."""
    samples = sorted(
        {query.sample for query in freezing.queries if query.sample},
        key=lambda sample: (sample.frame.get("searches") or 0, sample.pk),
    )
    if samples:
        return _of_sample(samples[-1], freezing)
    log = freezing.collection.query_logs.first()
    if log is None:
        return {"reason": "no query log was read"}
    log_figures = traffic.traffic(log)
    return {"log_sha256": log.sha256, "curve": [list(point) for point in log_figures.curve], "covered": None}


def _of_sample(sample: QuerySample, freezing: Freezing) -> dict[str, Any]:
    searches = Counter({query.query_id: query.frequency or 0 for query in freezing.queries if query.sample == sample})
    whole = sample.frame.get("searches") or 0
    return {
        "log_sha256": sample.log_sha256,
        "curve": sample.curve,
        "covered": sum(searches.values()) / whole if whole else None,
        "parameters": sample.parameters,
    }
