"""What do clicks say about documents? Weak labels, a source of their own beside people's judgments.

Clicks are counted by query, document and rank (`evidence`), set against what a document in that place usually gets
(`position_bias`), and become a label with an interval by one of the models in `CLICK_MODELS` (`labelling`). Grades come
of labels by cuts that somebody chose (`cuts`), never by themselves.
"""

from __future__ import annotations

from judgments.core.family import Family
from pooling.clicks.model import ClickModel

CLICK_MODELS: Family[ClickModel] = Family(
    "click model",
    {
        "coec": "pooling.clicks.coec:COEC",
        "ctr": "pooling.clicks.ctr:CTR",
    },
    group="assay.click_models",
)

__all__ = ["CLICK_MODELS", "ClickModel"]
