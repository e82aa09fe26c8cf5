"""Text metrics: how close an answer is to a reference. A new one is one new file and one new line."""

from __future__ import annotations

from judgments.core.family import Family
from judgments.textmetrics.declaration import TextMetric

__all__ = ["TEXT_METRICS", "TextMetric"]

TEXT_METRICS: Family[TextMetric] = Family(
    "text metric",
    {
        "exact_match": "judgments.textmetrics.exact_match:EXACT_MATCH",
        "token_f1": "judgments.textmetrics.token_f1:TOKEN_F1",
        "accuracy": "judgments.textmetrics.accuracy:ACCURACY",
        "rouge_l": "judgments.textmetrics.rouge:ROUGE_L",
    },
    group="assay.text_metrics",
)
