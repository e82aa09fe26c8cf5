"""Evaluation of systems, raters and judges with the judgments of a collection.

From Python, without Django: ``from evaluation import compare, evaluate``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.scoring.evaluate import evaluate as evaluate
    from assay.significance.compare import compare as compare

PUBLIC = {"compare": "assay.significance.compare", "evaluate": "assay.scoring.evaluate"}


def __getattr__(name: str) -> Any:
    # Imported on first use: Django loads this package as an app, and that should not import numpy.
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
