"""Agreement of a round: coefficients, gate, conflicts and resolutions.

The coefficients are in `assay.coefficients` and can still be imported from here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    coefficients = import_module("assay.coefficients")
    if name in coefficients.__all__:
        return getattr(coefficients, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
