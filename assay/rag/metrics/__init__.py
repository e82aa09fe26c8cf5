"""The RAG metrics, one file for each kind. Other packages add metrics through the entry point ``assay.rag_metrics``."""

from __future__ import annotations

from assay.core.registry import Family
from assay.rag.metric import Metric

METRICS: Family[type[Metric]] = Family(
    "RAG metric",
    {
        "RecallAtK": "assay.rag.metrics.ranking:RecallAtK",
        "PrecisionAtK": "assay.rag.metrics.ranking:PrecisionAtK",
        "EvretPrecisionAtK": "assay.rag.metrics.ranking:EvretPrecisionAtK",
        "HitRateAtK": "assay.rag.metrics.ranking:HitRateAtK",
        "MRRAtK": "assay.rag.metrics.ranking:MRRAtK",
        "MeanAveragePrecision": "assay.rag.metrics.ranking:MeanAveragePrecision",
        "NDCGAtK": "assay.rag.metrics.ranking:NDCGAtK",
        "ExactMatch": "assay.rag.metrics.word_match:ExactMatch",
        "TokenF1": "assay.rag.metrics.word_match:TokenF1",
        "Rouge1": "assay.rag.metrics.rouge:Rouge1",
        "Rouge2": "assay.rag.metrics.rouge:Rouge2",
        "RougeL": "assay.rag.metrics.rouge:RougeL",
        "BleuScore": "assay.rag.metrics.bleu_score:BleuScore",
        "BertScoreMetric": "assay.rag.metrics.bert_score_metric:BertScoreMetric",
        "EmbeddingSimilarity": "assay.rag.metrics.embedding_similarity:EmbeddingSimilarity",
        "EvidenceOverlapFaithfulness": "assay.rag.metrics.evidence_overlap_faithfulness:EvidenceOverlapFaithfulness",
        "LLMFaithfulnessScore": "assay.rag.metrics.critics:LLMFaithfulnessScore",
        "LLMAnswerQuality": "assay.rag.metrics.critics:LLMAnswerQuality",
        "NoiseRobustness": "assay.rag.metrics.noise_robustness:NoiseRobustness",
        "NegativeRejectionRate": "assay.rag.metrics.negative_rejection_rate:NegativeRejectionRate",
        "CounterfactualConsistency": "assay.rag.metrics.counterfactual_consistency:CounterfactualConsistency",
        "MeanLatency": "assay.rag.metrics.latency:MeanLatency",
        "QuantileLatency": "assay.rag.metrics.latency:QuantileLatency",
        "DistinctN": "assay.rag.metrics.distinct_n:DistinctN",
        "IntraListDiversity": "assay.rag.metrics.intra_list_diversity:IntraListDiversity",
        "SlicedMetric": "assay.rag.metrics.sliced_metric:SlicedMetric",
    },
    group="assay.rag_metrics",
)
