"""Words and texts of answers for RAG metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.rag.records import EvaluationSample, SystemOutputs

EVIDENCE = ("retrieved", "relevant")
_TOKEN = re.compile(r"\w+(?:['’]\w+)*")


def tokens(text: str) -> list[str]:
    """Split a text into lower-case runs of letters and digits.

    Examples
    --------
    >>> tokens("Don't re-heat 2 soups.")
    ["don't", 're', 'heat', '2', 'soups']
    """
    return _TOKEN.findall(text.lower())


def ngrams(sequence: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    """Yield the n neighboring tokens at each position."""
    return zip(*(sequence[at:] for at in range(n)), strict=False)


def response_text(output: SystemOutputs) -> str:
    """Return the answer; empty if missing."""
    return output.response.text if output.response is not None else ""


def evidence(sample: EvaluationSample, output: SystemOutputs, source: str, top_k: int | None = None) -> list[str]:
    """Return the texts of the evidence, from the retrieved or the relevant documents."""
    if source == "relevant":
        docs = list(sample.relevant_docs or ())
    else:
        docs = [one.doc for one in output.retrieved[:top_k]]
    return [doc.text for doc in docs if doc.text.strip()]
