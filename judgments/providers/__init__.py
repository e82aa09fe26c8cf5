"""Whose models can be asked, and in which words does each provider want to be asked?

One file for each protocol; a new one is one new file and one new line. `calls` asks many questions at once, within
limits and a budget.
"""

from __future__ import annotations

from judgments.core.family import Family
from judgments.providers.protocol import Protocol, Question

__all__ = ["PROTOCOLS", "Protocol", "Question"]

PROTOCOLS: Family[Protocol] = Family(
    "provider",
    {
        "openai": "judgments.providers.openai:OPENAI",
        "anthropic": "judgments.providers.anthropic:ANTHROPIC",
        "gemini": "judgments.providers.gemini:GEMINI",
    },
    group="assay.providers",
)
