"""Basic tables (qrels, runs, ratings), the registry of families, and the error classes.

The tables need numpy and are imported on first use, so that importing ``assay.core.errors`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.ratings import Ratings
    from assay.core.run import Run

__all__ = ["Qrels", "Ratings", "Run"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f"assay.core.{name.lower()}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
