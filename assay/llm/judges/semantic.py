"""Judge that matches a text with the expected answer by the cosine of their embeddings. The rule is from Evret's
judge design: yes if the cosine is at least the threshold. The model is any model that sentence-transformers can
load: a name, a folder, or the weights inside an installed package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.errors import NotValid
from assay.core.parameters import Parameter
from assay.llm.judge import Context, JudgeKind, Outcome
from assay.llm.judges.embeddings import Floats, embed

MODEL = "all-MiniLM-L6-v2"
# Cosines are computed in float32.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Semantic:
    """The judge with its parameters."""

    threshold: float = 0.7
    model: str = MODEL

    def __post_init__(self) -> None:
        if not -1 <= self.threshold <= 1:
            raise NotValid(f"threshold is {self.threshold!r}; use a cosine from -1 to 1")
        if not self.model.strip():
            raise NotValid("the judge semantic needs a model: a name, a folder, or package:NAME")

    def judge(self, context: Context) -> bool:
        """Return whether the cosine of the text with an expected answer reaches the threshold."""
        return self.batch_judge([context])[0]

    def batch_judge(self, contexts: Sequence[Context]) -> list[bool]:
        """Judge several contexts, in order; their distinct texts are encoded together."""
        return [self._enough(cosine) for cosine in self.grades(contexts)]

    def grade(self, context: Context) -> float:
        """Return the cosine of the text with the nearest expected answer; -1 for an empty text."""
        return self.grades([context])[0]

    def grades(self, contexts: Sequence[Context]) -> list[float]:
        """Return the cosines of several contexts."""
        if any(not context.expected for context in contexts):
            raise NotValid("semantic matches a text with an expected answer, and there is none; add one")
        texts = list(dict.fromkeys(text for one in contexts for text in (*one.expected, one.text) if text.strip()))
        if not texts:
            return [-1.0] * len(contexts)
        place = {text: at for at, text in enumerate(texts)}
        vectors = embed(self.model, texts)
        return [_nearest(context, place, vectors) for context in contexts]

    def outcomes(self, contexts: Sequence[Context]) -> list[Outcome]:
        """Return grade 1 and relevant at or above the threshold, otherwise grade 0 and not relevant."""
        return [self._outcome(cosine) for cosine in self.grades(contexts)]

    def _enough(self, cosine: float) -> bool:
        return cosine >= self.threshold - ROUNDING

    def _outcome(self, cosine: float) -> Outcome:
        yes = self._enough(cosine)
        return Outcome(
            "graded", int(yes), yes, rationale=f"cosine {cosine:.3f}, threshold {self.threshold:g}", cost_usd=0.0
        )


def _nearest(context: Context, place: dict[str, int], vectors: Floats) -> float:
    if not context.text.strip():
        return -1.0
    text = vectors[place[context.text]]
    expected = vectors[[place[answer] for answer in context.expected if answer.strip()]]
    return float(np.max(expected @ text)) if len(expected) else -1.0


SEMANTIC = JudgeKind(
    name="semantic",
    title="Semantic similarity",
    description="Matches a text with the expected answer by embeddings; recognizes paraphrases but not negation.",
    source="Evret, judge design, SemanticJudge",
    needs=("expected",),
    parameters=(
        Parameter("threshold", "Threshold", "The minimum cosine for a match.", 0.7, -1, 1),
        Parameter(
            "model", "Model", "A name, a folder, or package:NAME for the weights of an installed package.", MODEL
        ),
    ),
    build=Semantic,
    extra="semantic",
)
