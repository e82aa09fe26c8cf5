"""The plain tables, the registry and the error tree that every other room stands on.

The tables need numpy; they are imported when they are first asked for, so that ``judgments.core.errors`` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgments.core.qrels import Qrels
    from judgments.core.ratings import Ratings
    from judgments.core.run import Run

__all__ = ["Qrels", "Ratings", "Run"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f"judgments.core.{name.lower()}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
