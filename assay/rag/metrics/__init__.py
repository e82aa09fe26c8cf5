"""The RAG metrics, one file each. Other packages add metrics through the entry point ``assay.rag_metrics``."""

from __future__ import annotations

from assay.core.registry import Family
from assay.rag.metric import Metric

METRICS: Family[type[Metric]] = Family(
    "RAG metric",
    {
        "RecallAtK": "assay.rag.metrics.recall_at_k:RecallAtK",
        "PrecisionAtK": "assay.rag.metrics.precision_at_k:PrecisionAtK",
        "EvretPrecisionAtK": "assay.rag.metrics.evret_precision_at_k:EvretPrecisionAtK",
        "HitRateAtK": "assay.rag.metrics.hit_rate_at_k:HitRateAtK",
        "MRRAtK": "assay.rag.metrics.mrr_at_k:MRRAtK",
        "MeanAveragePrecision": "assay.rag.metrics.mean_average_precision:MeanAveragePrecision",
        "NDCGAtK": "assay.rag.metrics.ndcg_at_k:NDCGAtK",
        "ExactMatch": "assay.rag.metrics.exact_match:ExactMatch",
        "TokenF1": "assay.rag.metrics.token_f1:TokenF1",
        "Rouge1": "assay.rag.metrics.rouge1:Rouge1",
        "Rouge2": "assay.rag.metrics.rouge2:Rouge2",
        "RougeL": "assay.rag.metrics.rouge_l:RougeL",
        "BleuScore": "assay.rag.metrics.bleu_score:BleuScore",
        "BertScoreMetric": "assay.rag.metrics.bert_score_metric:BertScoreMetric",
        "EmbeddingSimilarity": "assay.rag.metrics.embedding_similarity:EmbeddingSimilarity",
        "EvidenceOverlapFaithfulness": "assay.rag.metrics.evidence_overlap_faithfulness:EvidenceOverlapFaithfulness",
        "LLMFaithfulnessScore": "assay.rag.metrics.llm_faithfulness_score:LLMFaithfulnessScore",
        "LLMAnswerQuality": "assay.rag.metrics.llm_answer_quality:LLMAnswerQuality",
        "NoiseRobustness": "assay.rag.metrics.noise_robustness:NoiseRobustness",
        "NegativeRejectionRate": "assay.rag.metrics.negative_rejection_rate:NegativeRejectionRate",
        "CounterfactualConsistency": "assay.rag.metrics.counterfactual_consistency:CounterfactualConsistency",
        "MeanLatency": "assay.rag.metrics.mean_latency:MeanLatency",
        "QuantileLatency": "assay.rag.metrics.quantile_latency:QuantileLatency",
        "DistinctN": "assay.rag.metrics.distinct_n:DistinctN",
        "IntraListDiversity": "assay.rag.metrics.intra_list_diversity:IntraListDiversity",
        "SlicedMetric": "assay.rag.metrics.sliced_metric:SlicedMetric",
    },
    group="assay.rag_metrics",
)
