"""Check that two sides compute the same scores, because speed counts only with exact results.

    python benchmarks/side_by_side/agreement.py OURS PEER

OURS is the output of ``assay evaluate --format json``, PEER the output of peers.py. Prints JSON: the largest
difference of a mean and of a single query's value over the metrics that both have, and the names of these metrics.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def largest(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> dict[str, Any]:
    """Compare run by run."""
    if [run["name"] for run in ours] != [run["name"] for run in theirs]:
        raise SystemExit("the two sides did not score the same runs")
    means, queries, metrics = [0.0], [0.0], set()
    for one, other in zip(ours, theirs, strict=True):
        for metric in one["metrics"].keys() & other["means"].keys():
            metrics.add(metric)
            means.append(abs(one["metrics"][metric]["mean"] - other["means"][metric]))
        for query, values in other.get("per_query", {}).items():
            own = one["per_query"][query]
            queries.extend(abs(own[metric] - values[metric]) for metric in own.keys() & values.keys())
    return {"means": max(means), "queries": max(queries), "metrics": sorted(metrics)}


if __name__ == "__main__":
    left, right = (json.loads(Path(path).read_text()) for path in sys.argv[1:3])
    print(json.dumps(largest(left["runs"], right)))
