"""Relevance judgments and the evaluation of search and RAG systems, without a database.

``import assay`` is fast, because each function is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay import rag
    from assay.client.client import Client
    from assay.coefficients.report import agreement
    from assay.core.qrels import Qrels
    from assay.core.ratings import Ratings
    from assay.core.run import Run
    from assay.formats.qrels_and_runs import read_qrels, read_run
    from assay.sampling.sample import sample
    from assay.scoring.evaluate import evaluate
    from assay.sequential.decide import decide
    from assay.significance.compare import compare
    from assay.strategies.pool import pool

__all__ = [
    "Client",
    "Qrels",
    "Ratings",
    "Run",
    "agreement",
    "compare",
    "decide",
    "evaluate",
    "pool",
    "rag",
    "read_qrels",
    "read_run",
    "sample",
]

_MODULES = {
    "Client": "assay.client.client",
    "Qrels": "assay.core.qrels",
    "Ratings": "assay.core.ratings",
    "Run": "assay.core.run",
    "agreement": "assay.coefficients.report",
    "compare": "assay.significance.compare",
    "decide": "assay.sequential.decide",
    "evaluate": "assay.scoring.evaluate",
    "pool": "assay.strategies.pool",
    "read_qrels": "assay.formats.qrels_and_runs",
    "read_run": "assay.formats.qrels_and_runs",
    "sample": "assay.sampling.sample",
}


def __getattr__(name: str) -> Any:
    if name == "rag":
        return import_module("assay.rag")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
