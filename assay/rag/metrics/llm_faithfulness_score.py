"""Faithfulness to the evidence, scored by a critic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.rag.critic import SCALES, LLMCritic, scored
from assay.rag.metric import SampleMetric, Skip, option
from assay.rag.prompts import FAITHFULNESS, SYSTEM, filled
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.words import EVIDENCE, evidence, response_text


@dataclass(frozen=True)
class LLMFaithfulnessScore(SampleMetric):
    """The mean of a critic's scores for how well the evidence supports the answer."""

    target = TargetCategory.GENERATION_FAITHFULNESS
    title = "Faithfulness (critic)"
    description = "How well the evidence supports the answer, scored by a model and rescaled to 0-1."
    formula = "mean of (score - lowest) / (highest - lowest)"
    source = "Auepora metrics specification, 4.4.2"
    template = FAITHFULNESS
    pattern = "llm_faithfulness"
    needs = ("response",)

    evidence_source: str = option("retrieved", "The documents used as evidence.", choices=EVIDENCE)
    scale: str = option("0-1", "The scale of the critic's scores.", choices=SCALES)
    top_k: int | None = option(None, "The number of retrieved documents used as evidence; none for all.", minimum=1)
    critic: LLMCritic | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        return "llm_faithfulness"

    def required_fields(self) -> list[str]:
        """Return the fields that a sample needs to have a value."""
        return ["response", "relevant_docs" if self.evidence_source == "relevant" else "retrieved"]

    def skip(self, sample: EvaluationSample, output: SystemOutputs) -> Skip | None:
        """Return why the sample has no value: the critic is not asked about an answer without claims."""
        why = super().skip(sample, output)
        if why is None and not output.missing:
            if not response_text(output).strip():
                return Skip("empty_answer")
            if not evidence(sample, output, self.evidence_source, self.top_k):
                return Skip("no_evidence")
        return why

    def scores(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> list[float | Skip]:
        """Ask the critic about all answers together."""
        prompts, about = [], []
        for sample, output in zip(samples, outputs, strict=True):
            texts = evidence(sample, output, self.evidence_source, self.top_k)
            values = {"question": sample.query, "answer": response_text(output), "evidence": texts}
            prompts.append(filled(FAITHFULNESS, values, self.scale))
            about.append({"sample_id": sample.sample_id, "metric": self.name, "scale": self.scale, "system": SYSTEM})
        return scored(self.critic, prompts, about, self.scale) if prompts else []
