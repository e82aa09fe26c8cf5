"""Model providers, one module for each protocol.

A new protocol needs a new file and a new line. `calls` sends many questions in parallel, within limits and a budget.
"""

from __future__ import annotations

from assay.core.registry import Family
from assay.llm.providers.protocol import Protocol, Question

__all__ = ["PROTOCOLS", "Protocol", "Question"]

PROTOCOLS: Family[Protocol] = Family(
    "provider",
    {
        "openai": "assay.llm.providers.openai:OPENAI",
        "anthropic": "assay.llm.providers.anthropic:ANTHROPIC",
        "gemini": "assay.llm.providers.gemini:GEMINI",
    },
    group="assay.providers",
)
