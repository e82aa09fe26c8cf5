"""Table of the ranking metrics. One line each; a new metric is one new file and one new line."""

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
    "Bpref": "evaluation.metrics.bpref:BPREF",
    "infAP": "evaluation.metrics.inferred_ap:INFAP",
    "IPrec": "evaluation.metrics.interpolated_precision:IPREC",
    "11pt_avg": "evaluation.metrics.eleven_point:ELEVEN_POINT",
    "GMAP": "evaluation.metrics.gmap:GMAP",
    "RBP": "evaluation.metrics.rbp:RBP",
    "RBPresid": "evaluation.metrics.rbp_residual:RBP_RESIDUAL",
    "DCG": "evaluation.metrics.dcg:DCG",
    "F": "evaluation.metrics.f_score:F",
    "R-cap": "evaluation.metrics.capped_recall:CAPPED_RECALL",
    "SetP": "evaluation.metrics.set_precision:SET_PRECISION",
    "SetR": "evaluation.metrics.set_recall:SET_RECALL",
    "SetF": "evaluation.metrics.set_f:SET_F",
    "NumQ": "evaluation.metrics.counts:NUM_Q",
    "NumRet": "evaluation.metrics.counts:NUM_RET",
    "NumRel": "evaluation.metrics.counts:NUM_REL",
    "NumRelRet": "evaluation.metrics.counts:NUM_REL_RET",
    "ERR": "evaluation.metrics.expected_reciprocal_rank:ERR",
    "INST": "evaluation.metrics.inst:INST",
    "Compat": "evaluation.metrics.compatibility:COMPAT",
    "alpha_nDCG": "evaluation.metrics.alpha_ndcg:ALPHA_NDCG",
    "ERR_IA": "evaluation.metrics.err_ia:ERR_IA",
    "MeanLabel": "evaluation.metrics.mean_label:MEAN_LABEL",
    "MaxLabel": "evaluation.metrics.max_label:MAX_LABEL",
    "PairwiseAccuracy": "evaluation.metrics.pairwise_accuracy:PAIRWISE_ACCURACY",
}

METRICS: Family[Metric] = Family("metric", TABLE, group="assay.metrics")

DEFAULT_METRICS = ("nDCG@10", "RR@10", "R@100", "P@10", "AP", "Judged@10")
