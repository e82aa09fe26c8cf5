"""Which documents of which runs deserve a judgment, and in which order?

A strategy turns runs into ordered pairs. The family's table is `STRATEGIES`; `pool.build_pool` applies one of them
with a budget and a residual stratum, `preview.preview` says what such a pool looks like before anybody judges it.
"""

from __future__ import annotations

from judgments.core.family import Family
from pooling.strategies.pair import PoolPair, Strategy

STRATEGIES: Family[Strategy] = Family(
    "pool strategy",
    {
        "depth": "pooling.strategies.depth:DEPTH",
        "rbp": "pooling.strategies.rbp:RBP",
        "list": "pooling.strategies.list:LIST",
    },
    group="assay.strategies",
)

__all__ = ["STRATEGIES", "PoolPair", "Strategy"]
