"""Support of an answer by its evidence: sentences of the passages that share words with the answer."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from assay.core.sentences import Sentence, sentences

# Minimum share of an answer sentence's words, weighted by rarity, in a supporting sentence.
LEAST_SHARE = 0.5
# Further sentences are not compared: the time grows with the product of both numbers.
MOST_ANSWER_SENTENCES, MOST_EVIDENCE_SENTENCES = 100, 2_000
CITATION = re.compile(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
# Scripts without spaces between words, in which two neighboring letters count as a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+(?:['’][^\W{_UNSPACED}]+)*")
_LETTERS = re.compile(rf"[{_UNSPACED}]")


def supported_sentences(
    answer: str, passages: Sequence[str], *, least_share: float = LEAST_SHARE
) -> list[dict[Sentence, tuple[int, ...]]]:
    """Find the sentences of the evidence that share words with a sentence of the answer.

    Examples
    --------
    >>> supported_sentences("The shell is waterproof [1].", ["It is blue. The shell is waterproof.", "Wash it."])
    [{(12, 36): (1,)}, {}]
    """
    wanted = [_words(CITATION.sub(" ", answer[slice(*one)])) for one in sentences(answer)[:MOST_ANSWER_SENTENCES]]
    spans = [sentences(text) for text in passages]
    room = MOST_EVIDENCE_SENTENCES
    held: list[list[set[str]]] = []
    for text, places in zip(passages, spans, strict=True):
        held.append([_words(text[slice(*one)]) for one in places[: max(room, 0)]])
        room -= len(places)
    frequency = Counter(word for passage in held for one in passage for word in one)
    number = sum(map(len, held))

    def weight(words: set[str]) -> float:
        return math.fsum(math.log((1 + number) / (0.5 + max(frequency[word], 1))) for word in words)

    marked: list[dict[Sentence, tuple[int, ...]]] = [{} for _ in passages]
    for sentence, words in enumerate(wanted, 1):
        whole = weight(words)
        for place, passage in enumerate(held):
            best, at = 0.0, -1
            for candidate, other in enumerate(passage):
                shared = words & other
                # One word in common says little, unless the sentence has no other.
                if len(shared) < 2 and shared != words:
                    continue
                share = weight(shared) / whole if whole else 0.0
                if share > best and share >= least_share:
                    best, at = share, candidate
            if at >= 0:
                span = spans[place][at]
                marked[place][span] = (*marked[place].get(span, ()), sentence)
    return [dict(sorted(one.items())) for one in marked]


def _words(text: str) -> set[str]:
    """Return the distinct words of a text, case folded."""
    words: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if len(word) > 1 and _LETTERS.match(word):
            words |= {word[at : at + 2] for at in range(len(word) - 1)}
        else:
            words.add(word)
    return words
