"""Table of the ranking metrics. A new metric needs a `Metric` in a file of this folder, and a line in the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.registry import Family

if TYPE_CHECKING:
    from assay.metrics.metric import Metric

TABLE = {
    "nDCG": "assay.metrics.dcg:NDCG",
    "RR": "assay.metrics.top_ranks:RR",
    "P": "assay.metrics.top_ranks:P",
    "R": "assay.metrics.top_ranks:R",
    "AP": "assay.metrics.average_precision:AP",
    "Success": "assay.metrics.top_ranks:SUCCESS",
    "Rprec": "assay.metrics.r_precision:RPREC",
    "Judged": "assay.metrics.top_ranks:JUDGED",
    "Bpref": "assay.metrics.bpref:BPREF",
    "infAP": "assay.metrics.inferred_ap:INFAP",
    "IPrec": "assay.metrics.interpolated_precision:IPREC",
    "11pt_avg": "assay.metrics.eleven_point:ELEVEN_POINT",
    "GMAP": "assay.metrics.gmap:GMAP",
    "RBP": "assay.metrics.rbp:RBP",
    "RBPresid": "assay.metrics.rbp_residual:RBP_RESIDUAL",
    "DCG": "assay.metrics.dcg:DCG",
    "F": "assay.metrics.f_score:F",
    "R-cap": "assay.metrics.top_ranks:CAPPED_RECALL",
    "SetP": "assay.metrics.set_precision:SET_PRECISION",
    "SetR": "assay.metrics.set_recall:SET_RECALL",
    "SetF": "assay.metrics.set_f:SET_F",
    "NumQ": "assay.metrics.counts:NUM_Q",
    "NumRet": "assay.metrics.counts:NUM_RET",
    "NumRel": "assay.metrics.counts:NUM_REL",
    "NumRelRet": "assay.metrics.counts:NUM_REL_RET",
    "ERR": "assay.metrics.expected_reciprocal_rank:ERR",
    "INST": "assay.metrics.inst:INST",
    "Compat": "assay.metrics.compatibility:COMPAT",
    "alpha_nDCG": "assay.metrics.alpha_ndcg:ALPHA_NDCG",
    "ERR_IA": "assay.metrics.err_ia:ERR_IA",
    "MeanLabel": "assay.metrics.mean_label:MEAN_LABEL",
    "MaxLabel": "assay.metrics.max_label:MAX_LABEL",
    "PairwiseAccuracy": "assay.metrics.pairwise_accuracy:PAIRWISE_ACCURACY",
}

METRICS: Family[Metric] = Family("metric", TABLE, group="assay.metrics")

DEFAULT_METRICS = ("nDCG@10", "RR@10", "R@100", "P@10", "AP", "Judged@10")
