"""Weak labels from clicks: a separate label source, distinct from human judgments.

Clicks are counted by query, document and rank (`click_counts`), compared with what a document at that rank usually gets
(`labeling`), and turned into a label with an interval by one of the models in `CLICK_MODELS` (`labeling`).
Labels become grades only through chosen cuts (`grade_cuts`), never automatically.
"""

from __future__ import annotations

from assay.clicks.click_model import ClickModel
from assay.core.registry import Family

CLICK_MODELS: Family[ClickModel] = Family(
    "click model",
    {
        "coec": "assay.clicks.coec:COEC",
        "ctr": "assay.clicks.ctr:CTR",
    },
    group="assay.click_models",
)

__all__ = ["CLICK_MODELS", "ClickModel"]
