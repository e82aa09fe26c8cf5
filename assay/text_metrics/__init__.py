"""Text metrics that compare an answer with accepted answers."""

from __future__ import annotations

from assay.core.registry import Family
from assay.text_metrics.text_metric import TextMetric

__all__ = ["TEXT_METRICS", "TextMetric"]

TEXT_METRICS: Family[TextMetric] = Family(
    "text metric",
    {
        "exact_match": "assay.text_metrics.exact_match:EXACT_MATCH",
        "token_f1": "assay.text_metrics.token_f1:TOKEN_F1",
        "accuracy": "assay.text_metrics.accuracy:ACCURACY",
        "rouge_l": "assay.text_metrics.rouge:ROUGE_L",
    },
    group="assay.text_metrics",
)
