"""ROUGE, and ROUGE-L: the longest common subsequence of words in the answer and an accepted answer.

rouge-score, whose tokenizer splits the words, is imported when the first answer is scored; it comes with the extra
``rag``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from assay.core.errors import NotValid
from assay.text_metrics.text_metric import TextMetric

LONGEST_CACHED = 4_000


def rouge_l(answer: str, accepted: Sequence[str]) -> float:
    """Compute ROUGE-L with the closest accepted answer."""
    right = [text for text in accepted if text.strip()]
    if not right or not answer.strip():
        return float(not right and not answer.strip())
    words = rouge_words(answer, False)
    return max(rouge_f1("rougeL", rouge_words(text, False), words) for text in right)


def rouge_f1(variant: str, target: Sequence[str], prediction: Sequence[str]) -> float:
    """Compute the F1 of ``rouge1``, ``rouge2``, ... or ``rougeL`` over words."""
    if variant == "rougeL":
        shared, total = common_subsequence(target, prediction), (len(target), len(prediction))
    else:
        size = int(variant.removeprefix("rouge"))
        both = [Counter(zip(*(words[at:] for at in range(size)), strict=False)) for words in (target, prediction)]
        shared, total = (both[0] & both[1]).total(), (both[0].total(), both[1].total())
    precision, recall = shared / max(total[1], 1), shared / max(total[0], 1)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Compute the length of the longest common subsequence.

    The bits of a number represent a row of the usual table (Hyyrö 2004), so that long answers are fast.

    Examples
    --------
    >>> common_subsequence("the cat sat down".split(), "the dog sat down".split())
    3
    """
    if len(first) > len(second):
        first, second = second, first
    places: dict[str, int] = {}
    for at, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << at
    whole = row = (1 << len(first)) - 1
    for word in second:
        if match := row & places.get(word, 0):
            row = ((row + match) | (row - match)) & whole
    return len(first) - row.bit_count()


def rouge_words(text: str, stemmed: bool) -> list[str]:
    """Split a text like rouge-score; callers must not modify the list."""
    # The variants of ROUGE share the words; caching those of long texts would fill a server's memory.
    return _cached_words(text, stemmed) if len(text) <= LONGEST_CACHED else _words(text, stemmed)


def _words(text: str, stemmed: bool) -> list[str]:
    if find_spec("rouge_score") is None:
        raise NotValid("ROUGE needs rouge-score; install it with: pip install 'assay[rag]'")
    from rouge_score.tokenize import tokenize

    return list(tokenize(text, _stemmer() if stemmed else None))


_cached_words = lru_cache(maxsize=1 << 15)(_words)


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    class Stemmer:
        stem = staticmethod(lru_cache(maxsize=1 << 17)(PorterStemmer().stem))

    return Stemmer()


ROUGE_L = TextMetric(
    name="rouge_l",
    title="ROUGE-L",
    description="How long a sequence of words the answer shares with the closest accepted answer; order matters.",
    formula="2 c / (a + b), where c is the length of the longest common subsequence of words, and a and b are "
    "the lengths of the answers",
    source="Lin 2004; the implementation of rouge-score",
    score=rouge_l,
)
