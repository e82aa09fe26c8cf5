"""Judge that matches a text with the expected answer by shared words. The rule is from Evret's judge design; the
defaults (15 shared tokens, 0.6) are those of its package.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from assay.core.errors import NotValid
from assay.core.parameters import Parameter
from assay.llm.judge import Context, JudgeKind, Outcome

Match = Literal["first", "all"]


class YesNoJudge(Protocol):
    """A judge that says yes or no to a batch of contexts."""

    def batch_judge(self, contexts: Sequence[Context]) -> list[bool]:
        """Judge several contexts, in order."""


def matched(
    judge: YesNoJudge, query: str, expected: Sequence[str], retrieved: Sequence[str], *, match: Match = "first"
) -> list[tuple[int, ...]]:
    """Find the expected answers that each retrieved text matches, judging all combinations in one batch.

    Examples
    --------
    >>> from assay.llm.judges.token_overlap import TokenOverlap
    >>> matched(TokenOverlap(), "tent", ["a tent", "tent"], ["A tent for two", "a stove"], match="all")
    [(0, 1), ()]
    """
    if match not in ("first", "all"):
        raise NotValid(f"match must be first or all, not {match!r}")
    contexts = [Context(query, text, (answer,)) for text in retrieved for answer in expected]
    verdicts = judge.batch_judge(contexts)
    width = len(expected)
    rows = [verdicts[at * width : (at + 1) * width] for at in range(len(retrieved))]
    places = [tuple(place for place, yes in enumerate(row) if yes) for row in rows]
    return [matches_of_place[:1] if match == "first" else matches_of_place for matches_of_place in places]


def recall(matches: Sequence[Sequence[int]], expected: int, k: int) -> float | None:
    """Compute recall at k: the share of the expected answers that the first k texts are credited with.

    Examples
    --------
    >>> recall([(0,), (0,), (1,)], 2, 2), recall([], 2, 2), recall([()], 0, 2)
    (0.5, 0.0, None)
    """
    if k < 1:
        raise NotValid(f"the cutoff is {k}; use 1 or more")
    return len({place for places in matches[:k] for place in places}) / expected if expected else None


class _Blanks(dict[int, int]):
    """Translation table from punctuation, symbols and controls to a blank; filled on first use of each character."""

    def __missing__(self, code: int) -> int:
        self[code] = 0x20 if unicodedata.category(chr(code))[0] in "PSZC" else code
        return self[code]


_BLANKS = _Blanks()


def normalized(text: str) -> str:
    """Fold case, turn punctuation into blanks, and leave one blank between words.

    Examples
    --------
    >>> normalized("Retrieval-augmented   generation, improves LLM responses!")
    'retrieval augmented generation improves llm responses'
    >>> normalized(" -- ")
    ''
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().translate(_BLANKS).split())


RELAXED = 0.75
# 0.75 * 0.8 is slightly more than 0.6 in floating point, but 3 of 5 tokens must still reach it.
ROUNDING = 1e-12
RELEVANT, NOT_RELEVANT = 1, 0


class _Finding(NamedTuple):
    """Comparison of an expected answer with the text: share of its tokens, required share, and explanation."""

    grade: float
    limit: float
    why: str

    @property
    def matches(self) -> bool:
        return self.grade >= self.limit - ROUNDING


@dataclass(frozen=True)
class TokenOverlap:
    """The judge with its parameters.

    Examples
    --------
    >>> judge = TokenOverlap(min_tokens=1)
    >>> expected = ("RAG combines retrieval with generation for better accuracy",)
    >>> context = Context("What is RAG?", "RAG is a technique that combines retrieval with generation", expected)
    >>> judge.judge(context), judge.grade(context)
    (True, 0.625)
    """

    min_tokens: int = 15
    threshold: float = 0.6
    query_boost: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise NotValid(f"threshold is {self.threshold!r}; use a share above 0 and at most 1")

    def judge(self, context: Context) -> bool:
        """Return whether the text matches an expected answer."""
        return self._best(context).matches

    def batch_judge(self, contexts: Sequence[Context]) -> list[bool]:
        """Judge several contexts, in order."""
        return [self.judge(context) for context in contexts]

    def grade(self, context: Context) -> float:
        """Return the share of the best matching expected answer that is in the text, from 0 to 1."""
        return self._best(context).grade

    def outcomes(self, contexts: Sequence[Context]) -> list[Outcome]:
        """Return grade 1 and relevant for a match, otherwise grade 0 and not relevant."""
        return [self._outcome(self._best(context)) for context in contexts]

    def _outcome(self, finding: _Finding) -> Outcome:
        grade = RELEVANT if finding.matches else NOT_RELEVANT
        return Outcome("graded", grade, finding.matches, rationale=finding.why, cost_usd=0.0)

    def _best(self, context: Context) -> _Finding:
        if not context.expected:
            raise NotValid("the judge token_overlap needs an expected answer, and there is none; add one")
        query, text = set(normalized(context.query).split()), normalized(context.text)
        findings = [self._compare(normalized(expected), text, query) for expected in context.expected]
        return max(findings, key=lambda finding: (finding.matches, finding.grade))

    def _compare(self, expected: str, text: str, query: set[str]) -> _Finding:
        if not expected or not text:
            return _Finding(0.0, self.threshold, "the text is empty" if expected else "the expected answer is empty")
        if expected == text:
            return _Finding(1.0, self.threshold, "equal to the expected answer")
        if expected in text or text in expected:
            return _Finding(1.0, self.threshold, "one contains the other")
        tokens = set(expected.split())
        shared = tokens & set(text.split())
        overlap = f"{len(shared)} of {len(tokens)} expected tokens"
        if len(shared) < self.min_tokens:
            return _Finding(0.0, self.threshold, f"{overlap}, fewer than {self.min_tokens}")
        boosted = self.query_boost and not shared.isdisjoint(query)
        limit = self.threshold * RELAXED if boosted else self.threshold
        return _Finding(len(shared) / len(tokens), limit, f"{overlap}, threshold {limit:g}")


TOKEN_OVERLAP = JudgeKind(
    name="token_overlap",
    title="Token overlap",
    description="Matches a text with the expected answer by shared words; fast and offline, but does not "
    "recognize paraphrases.",
    source="Evret, judge design, TokenOverlapJudge",
    needs=("expected",),
    parameters=(
        Parameter("min_tokens", "Shared tokens", "Minimum number of distinct shared tokens.", 15, 0),
        Parameter(
            "threshold", "Threshold", "Minimum share of the expected tokens that the text contains.", 0.6, 0.01, 1
        ),
        Parameter(
            "query_boost", "Query boost", "Multiply the threshold by 0.75 if the query contains a shared token.", True
        ),
    ),
    build=TokenOverlap,
)
