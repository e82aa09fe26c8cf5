"""The diversity of the retrieved documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from assay.llm.judges.semantic import embed
from assay.rag.embeddings import EmbedFn, Floats, as_matrix, directions, vectors_of
from assay.rag.metric import SampleMetric, Skip, option
from assay.rag.records import EvaluationSample, RetrievedDocument, SystemOutputs, TargetCategory


@dataclass(frozen=True)
class IntraListDiversity(SampleMetric):
    """1 minus the mean cosine of the first k documents."""

    target = TargetCategory.DIVERSITY
    title = "Intra-list diversity"
    description = "How different the first k retrieved documents are from each other, by their embeddings."
    formula = "1 - mean cosine over all pairs of the first k documents"
    source = "Auepora metrics specification, 7.2.2"
    pattern = r"intra_list_diversity@(?P<top_k>\d+)"
    higher_is_better = None
    shown = ("top_k",)

    top_k: int = option(5, "The number of retrieved documents that count.", minimum=2)
    model: str | None = option(
        None, "The sentence-transformers model that embeds the texts; none to use the embeddings in the file."
    )
    embed_fn: EmbedFn | None = field(default=None, compare=False)

    def _embed(self) -> EmbedFn | None:
        return self.embed_fn or (partial(embed, self.model) if self.model else None)

    def required_fields(self) -> list[str]:
        return ["retrieved.text" if self._embed() else "retrieved.embedding"]

    def missing_value(self) -> Skip:
        """Return a skip, because a missing output has no list."""
        return Skip("missing_output")

    def scores(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> list[float | Skip]:
        """Return the values of all samples, embedding their texts together if needed."""
        embed_fn = self._embed()
        lists = [output.retrieved[: self.top_k] for output in outputs]
        computed = iter(())
        if embed_fn is not None:
            texts = [one.doc.text for docs in lists if _have_texts(docs) for one in docs]
            computed = iter(vectors_of(texts, embed_fn, "IntraListDiversity"))
        values: list[float | Skip] = []
        for sample, docs in zip(samples, lists, strict=True):
            vectors: Floats | None
            if embed_fn is not None:
                vectors = np.array([next(computed) for _ in docs]) if _have_texts(docs) else None
            else:
                vectors = _given(sample.sample_id, docs)
            values.append(_diversity(vectors))
        return values


def _have_texts(docs: Sequence[RetrievedDocument]) -> bool:
    return all(one.doc.text.strip() for one in docs)


def _given(sample_id: str, docs: Sequence[RetrievedDocument]) -> Floats | None:
    given = [one.doc.metadata.get("embedding") for one in docs]
    if any(one is None for one in given):
        return None
    return as_matrix(given, len(given), f"sample {sample_id!r}") if given else np.zeros((0, 0))


def _diversity(vectors: Floats | None) -> float | Skip:
    if vectors is None:
        return Skip("missing_embedding")
    if len(vectors) < 2:
        return Skip("fewer_than_two_documents")
    if not vectors.any(axis=1).all():
        return Skip("zero_vector")
    units = directions(vectors)
    number = len(units)
    # The squared length of the sum contains each pair twice, and each vector with itself once.
    total = float(np.square(units.sum(axis=0)).sum())
    return 1 - (total - number) / (number * (number - 1))
