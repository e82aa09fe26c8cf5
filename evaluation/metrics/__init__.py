"""Which ranking metrics are there? One line each; a new metric is one new file and one new line."""

from __future__ import annotations

from evaluation.metrics.declaration import Metric
from judgments.core.family import Family

TABLE = {
    "nDCG": "evaluation.metrics.ndcg:NDCG",
    "RR": "evaluation.metrics.reciprocal_rank:RR",
    "P": "evaluation.metrics.precision:P",
    "R": "evaluation.metrics.recall:R",
    "AP": "evaluation.metrics.average_precision:AP",
    "Success": "evaluation.metrics.success:SUCCESS",
    "Rprec": "evaluation.metrics.r_precision:RPREC",
    "Judged": "evaluation.metrics.judged:JUDGED",
}

METRICS: Family[Metric] = Family("metric", TABLE, group="assay.metrics")

DEFAULT_METRICS = ("nDCG@10", "RR@10", "R@100", "P@10", "AP", "Judged@10")
