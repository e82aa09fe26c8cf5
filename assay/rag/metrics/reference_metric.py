"""The base class of metrics that compare the answer with a reference answer, or with the query."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from assay.rag.metric import SampleMetric, Skip, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.words import response_text


@dataclass(frozen=True)
class ReferenceMetric(SampleMetric):
    """The similarity of the answer to the closest reference answer, or to the query."""

    target = TargetCategory.GENERATION_CORRECTNESS
    needs = ("response",)

    compare_to: str = option("reference", "The text with which the answer is compared.", choices=("reference", "query"))

    @property
    def category(self) -> TargetCategory:
        """Return the target: correctness for the reference answer, relevance for the query."""
        return TargetCategory.GENERATION_RELEVANCE if self.compare_to == "query" else self.target

    def required_fields(self) -> list[str]:
        return ["response", "query" if self.compare_to == "query" else "reference_answer"]

    def skip(self, sample: EvaluationSample, output: SystemOutputs) -> Skip | None:
        return super().skip(sample, output) or (None if self._targets(sample) else Skip("no_reference"))

    def scores(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> list[float | Skip]:
        """Return the best similarity of each answer, all computed together; an empty answer counts as 0."""
        pairs = [
            (place, response_text(output), target)
            for place, (sample, output) in enumerate(zip(samples, outputs, strict=True))
            if response_text(output).strip()
            for target in self._targets(sample)
        ]
        values: list[float | Skip] = [0.0] * len(samples)
        if not pairs:
            return values
        places, answers, targets = zip(*pairs, strict=True)
        similarities: dict[int, list[float | Skip]] = {}
        for place, similarity in zip(places, self.similarities(answers, targets), strict=True):
            similarities.setdefault(place, []).append(similarity)
        for place, candidates in similarities.items():
            values[place] = max((one for one in candidates if not isinstance(one, Skip)), default=candidates[0])
        return values

    @abstractmethod
    def similarities(self, answers: Sequence[str], targets: Sequence[str]) -> Sequence[float | Skip]:
        """Return the similarity of each answer to its target."""

    def _targets(self, sample: EvaluationSample) -> list[str]:
        return [sample.query] if self.compare_to == "query" else sample.references
