"""Pool strategies: which documents to judge, and in which order.

A strategy turns rankings and existing judgments into the next pairs. `STRATEGIES` is the table of strategies;
`pool.build_pool` applies one of them with a budget and a residual stratum, and `preview.preview` describes such a
pool before anything is judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgments.core.family import Family
from pooling.strategies.pair import PoolPair

if TYPE_CHECKING:
    # Its arithmetic needs numpy, and the help of a command shall not wait for that.
    from pooling.strategies.strategy import Strategy

STRATEGIES: Family[Strategy] = Family(
    "pool strategy",
    {
        "depth": "pooling.strategies.depth:DEPTH",
        "rbp": "pooling.strategies.rbp:RBP",
        "rrf": "pooling.strategies.rrf:RRF",
        "variable-depth": "pooling.strategies.variable_depth:VARIABLE_DEPTH",
        "move-to-front": "pooling.strategies.move_to_front:MOVE_TO_FRONT",
        "thompson": "pooling.strategies.thompson:THOMPSON",
        "hedge": "pooling.strategies.hedge:HEDGE",
        "text-learning": "pooling.strategies.text_learning:TEXT_LEARNING",
        "list": "pooling.strategies.list:LIST",
    },
    group="assay.strategies",
)

__all__ = ["STRATEGIES", "PoolPair"]
