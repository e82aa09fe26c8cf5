"""Bias and interval coverage of weighted means over many seeded draws.

    python estimates.py DRAWS

The log has 5,000 queries whose traffic falls as one over the rank. Frequent queries have better results, as in a
shop.
"""

from __future__ import annotations

import json
import sys
import time

FRAME = 5_000
SAMPLE = 300
BY_TIER = {"head": 100, "torso": 125, "tail": 75}
SEED = 11


def main(draws: int) -> None:
    """Print bias and coverage of both designs."""
    import numpy as np

    from assay.sampling.draw import draw_pps, draw_stratified
    from assay.sampling.query_table import LogQuery
    from assay.sampling.tiers import cut_tiers
    from assay.sampling.traffic_estimate import weighted_mean

    random = np.random.default_rng(SEED)
    counts = np.maximum(1, 1_000_000 // np.arange(1, FRAME + 1))
    ease = np.log(counts) / np.log(counts[0])
    values = random.beta(1 + 3 * ease, 2.2 - ease)
    truth = float(counts @ values / counts.sum())
    cut = cut_tiers([LogQuery(f"q{at:06}", "", int(count), None, 1, at) for at, count in enumerate(counts)])
    errors = {}
    for design in ("pps", "stratified"):
        began = time.perf_counter()
        means, held = [], 0
        for seed in range(draws):
            sample = draw_pps(cut, SAMPLE, seed) if design == "pps" else draw_stratified(cut, BY_TIER, seed)
            estimate = weighted_mean(
                [float(values[int(str(drawn.query.raw))]) for drawn in sample.queries],
                [drawn.weight for drawn in sample.queries],
                [drawn.probability for drawn in sample.queries],
                None if design == "pps" else [drawn.tier for drawn in sample.queries],
            )
            if estimate.mean is None or estimate.low is None or estimate.high is None:
                raise AssertionError(estimate.reason)
            means.append(estimate.mean)
            held += estimate.low <= truth <= estimate.high
        errors[design] = {
            "bias": float(np.mean(means)) - truth,
            "coverage": held / draws,
            "seconds": time.perf_counter() - began,
        }
    print(json.dumps(errors))


if __name__ == "__main__":
    main(int(sys.argv[1]))
