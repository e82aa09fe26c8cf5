"""Evaluation of RAG systems: metrics over samples and outputs.

``import assay.rag`` is fast, because the libraries of a metric are imported on first use.
"""

from assay.rag.comparison import RagComparison, compare
from assay.rag.critic import CriticError, LLMCritic
from assay.rag.evaluation import RagEvaluation, Score, SystemScores, evaluate
from assay.rag.human_grades import PeopleComparison, compare_with_people
from assay.rag.metric import Metric, MetricResult, SampleMetric, Skip
from assay.rag.metric_names import parse_metric
from assay.rag.metrics import METRICS
from assay.rag.provider_critic import ProviderCritic
from assay.rag.reader import read_outputs, read_samples
from assay.rag.records import (
    Answer,
    Document,
    EvaluationSample,
    RetrievedDocument,
    SystemOutputs,
    TargetCategory,
)

__all__ = [
    "METRICS",
    "Answer",
    "CriticError",
    "Document",
    "EvaluationSample",
    "LLMCritic",
    "Metric",
    "MetricResult",
    "PeopleComparison",
    "ProviderCritic",
    "RagComparison",
    "RagEvaluation",
    "RetrievedDocument",
    "SampleMetric",
    "Score",
    "Skip",
    "SystemOutputs",
    "SystemScores",
    "TargetCategory",
    "compare",
    "compare_with_people",
    "evaluate",
    "parse_metric",
    "read_outputs",
    "read_samples",
]
