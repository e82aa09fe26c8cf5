"""The ROUGE metrics, with the tokenizer of rouge-score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, ClassVar, Self

from assay.core.errors import NotValid
from assay.rag.metric import option
from assay.rag.metrics.reference_metric import ReferenceMetric

LONGEST_CACHED = 4_000


@dataclass(frozen=True)
class Rouge(ReferenceMetric):
    """A variant of ROUGE, as F1, for the closest reference answer or the query."""

    extra = "rag"
    variant: ClassVar[str]

    use_stemmer: bool = option(True, "Compare word stems (Porter) for words of more than three letters.")

    @property
    def name(self) -> str:
        return f"{self.variant}_{'answer' if self.compare_to == 'reference' else 'query'}"

    @classmethod
    def from_name(cls, text: str) -> Self | None:
        """Return the metric with this name, or None."""
        compare_to = {f"{cls.variant}_answer": "reference", f"{cls.variant}_query": "query"}.get(text)
        return None if compare_to is None else cls(compare_to=compare_to)

    def similarities(self, answers: Sequence[str], targets: Sequence[str]) -> list[float]:
        """Return the ROUGE of each answer and its target."""
        return [
            rouge_f1(self.variant, rouge_words(target, self.use_stemmer), rouge_words(answer, self.use_stemmer))
            for answer, target in zip(answers, targets, strict=True)
        ]


@dataclass(frozen=True)
class Rouge1(Rouge):
    """ROUGE-1 computed like rouge-score."""

    title = "ROUGE-1"
    description = "How many words the answer shares with the reference answer, as F1."
    formula = "2 P R / (P + R) of the shared 1-grams, with multiplicity"
    source = "Lin 2004; Auepora metrics specification, 4.2.1"
    variant = "rouge1"


@dataclass(frozen=True)
class Rouge2(Rouge):
    """ROUGE-2 computed like rouge-score."""

    title = "ROUGE-2"
    description = "How many pairs of neighboring words the answer shares with the reference answer, as F1."
    formula = "2 P R / (P + R) of the shared 2-grams, with multiplicity"
    source = "Lin 2004; Auepora metrics specification, 4.2.1"
    variant = "rouge2"


@dataclass(frozen=True)
class RougeL(Rouge):
    """ROUGE-L computed like rouge-score."""

    title = "ROUGE-L"
    description = "The longest sequence of words shared by the answer and the reference answer, as F1; order matters."
    formula = (
        "2 P R / (P + R), where P and R are the longest common subsequence as a share of the answer's and "
        "of the reference answer's words"
    )
    source = "Lin 2004; Auepora metrics specification, 4.2.1"
    differs = (
        "The judges' text metric `rouge_l` compares words. Here, word stems are compared by default, as in the "
        "specification; `RougeL(use_stemmer=False)` gives the same values."
    )
    variant = "rougeL"


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
