"""Traffic behind a snapshot's queries: the curve of the log, and the share of its searches that they cover."""

from __future__ import annotations

from collections import Counter
from typing import Any

from judgments.baselines import Freezing
from judgments.models import QuerySample
from pooling import log_traffic


def traffic(freezing: Freezing) -> dict[str, Any]:
    """The curve of the log, and the share of its searches that are for judged queries.

    Where several draws are behind the queries, the one with the most traffic speaks: a stratum's own draw knows only a
    part. Queries that were not drawn have the newest log beside them, and no share.
    """
    samples = sorted(
        {query.sample for query in freezing.queries if query.sample},
        key=lambda sample: (sample.frame.get("searches") or 0, sample.pk),
    )
    if samples:
        return _of_sample(samples[-1], freezing)
    log = freezing.collection.query_logs.first()
    if log is None:
        return {"reason": "no query log was read"}
    told = log_traffic.traffic(log)
    return {"log_sha256": log.sha256, "curve": [list(point) for point in told.curve], "covered": None}


def _of_sample(sample: QuerySample, freezing: Freezing) -> dict[str, Any]:
    searches = Counter({query.query_id: query.frequency or 0 for query in freezing.queries if query.sample == sample})
    whole = sample.frame.get("searches") or 0
    return {
        "log_sha256": sample.log_sha256,
        "curve": sample.curve,
        "covered": sum(searches.values()) / whole if whole else None,
        "parameters": sample.parameters,
    }
