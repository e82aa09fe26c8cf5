"""ROUGE-L: the longest common subsequence of words in the answer and an accepted answer.

rouge-score is imported when the first answer is scored; it comes with the extra ``rag``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from assay.core.errors import NotValid
from assay.text_metrics.text_metric import TextMetric


def rouge_l(answer: str, accepted: Sequence[str]) -> float:
    """Compute ROUGE-L with the closest accepted answer."""
    right = [text for text in accepted if text.strip()]
    if not right or not answer.strip():
        return float(not right and not answer.strip())
    scorer = _scorer()
    return max(float(scorer.score(text, answer)["rougeL"].fmeasure) for text in right)


@lru_cache(maxsize=1)
def _scorer() -> Any:
    if find_spec("rouge_score") is None:
        raise NotValid("the text metric rouge_l needs rouge-score; install it with: pip install 'assay[rag]'")
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], use_stemmer=False)


ROUGE_L = TextMetric(
    name="rouge_l",
    title="ROUGE-L",
    description="How long a sequence of words the answer shares with the closest accepted answer; order matters.",
    formula="2 c / (a + b), where c is the length of the longest common subsequence of words, and a and b are "
    "the lengths of the answers",
    source="Lin 2004; the implementation of rouge-score",
    score=rouge_l,
)
