"""Pool strategies: which documents to judge, and in which order.

A strategy turns rankings and existing judgments into the next pairs. `STRATEGIES` is the table of strategies;
`pool.build_pool` applies one of them with a budget and a residual stratum, and `preview.preview` describes such a
pool before anything is judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.registry import Family
from assay.strategies.pooled_pair import PoolPair

if TYPE_CHECKING:
    # Its arithmetic needs numpy, but the help of a command must not wait for this import.
    from assay.strategies.strategy import Strategy

STRATEGIES: Family[Strategy] = Family(
    "pool strategy",
    {
        "depth": "assay.strategies.depth:DEPTH",
        "rbp": "assay.strategies.rbp:RBP",
        "rrf": "assay.strategies.rrf:RRF",
        "variable-depth": "assay.strategies.variable_depth:VARIABLE_DEPTH",
        "move-to-front": "assay.strategies.move_to_front:MOVE_TO_FRONT",
        "thompson": "assay.strategies.thompson:THOMPSON",
        "hedge": "assay.strategies.hedge:HEDGE",
        "text-learning": "assay.strategies.text_learning:TEXT_LEARNING",
        "list": "assay.strategies.given_pairs:LIST",
    },
    group="assay.strategies",
)

__all__ = ["STRATEGIES", "PoolPair"]
