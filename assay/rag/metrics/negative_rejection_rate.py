"""The share of unanswerable questions that the system declines to answer."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.errors import NotValid
from assay.rag.metric import SampleMetric, Skip, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.words import response_text

REFUSALS = ("i don't know", "cannot answer", "not enough information")


@dataclass(frozen=True)
class NegativeRejectionRate(SampleMetric):
    """The share of unanswerable questions that the system declines."""

    target = TargetCategory.NEGATIVE_REJECTION
    title = "Negative rejection rate"
    description = "The share of unanswerable questions (scenario `unanswerable`) that the system declines to answer."
    formula = "unanswerable samples whose answer contains a refusal / unanswerable samples"
    source = "Auepora metrics specification, 6.2"
    pattern = "negative_rejection_rate"
    needs = ("response",)

    refusal_patterns: tuple[str, ...] = option(
        REFUSALS, "An answer that contains one of these texts counts as a refusal."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(map(_plain, self.refusal_patterns)):
            raise NotValid(
                "NegativeRejectionRate: one of the refusal_patterns is empty, and every answer would match it; "
                "remove it"
            )

    def required_fields(self) -> list[str]:
        return ["labels.scenario", "response"]

    def skip(self, sample: EvaluationSample, output: SystemOutputs) -> Skip | None:
        if sample.labels.get("scenario") != "unanswerable":
            return Skip("not_selected")
        return super().skip(sample, output)

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float:
        answer = _plain(response_text(output))
        return float(any(_plain(pattern) in answer for pattern in self.refusal_patterns))


def _plain(text: str) -> str:
    return " ".join(text.lower().replace("’", "'").split())
