"""Model providers, one file for each protocol.

A new protocol is one new file and one new line. `calls` sends many questions at once, within limits and a budget.
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
