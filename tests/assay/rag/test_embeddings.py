"""RAG metrics that compare embeddings, with functions whose vectors are known and, where it is there, a real model."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay.core.errors import NotValid
from assay.llm.judges.semantic import embed
from assay.rag import evaluate
from assay.rag.metrics.embedding_similarity import EmbeddingSimilarity
from tests.assay.llm.judges.test_semantic import D1, D2, E1, E2, MODEL, QUERY, needs_model
from tests.assay.rag.cases import answered, result

LAYERS = 6  # of MiniLM; bert-score knows the number of layers of published names alone


def letters(texts: list[str]) -> list[list[float]]:
    return [[text.count("a"), text.count("b"), text.count("c")] for text in texts]


def similarity(**named: Any) -> EmbeddingSimilarity:
    return EmbeddingSimilarity(**{"embed_fn": letters, **named})


def test_the_cosine_by_hand() -> None:
    scores = result(similarity(), answered("aab", "abb"), answered("a", "b"), answered(["c", "ab"], "aabb"))
    assert scores.per_sample == pytest.approx((4 / 5, 0, 1))
    assert scores.value == pytest.approx(1.8 / 3)
    assert scores.details["num_samples"] == 3


def test_missing_answers_are_skipped_and_empty_ones_are_zero_and_not_embedded() -> None:
    texts: list[str] = []

    def embed_fn(batch: list[str]) -> list[list[float]]:
        texts.extend(batch)
        return letters(batch)

    cases = [
        answered("ab", "ab"),
        answered("ab", " "),
        answered(None, "ab"),
        answered("ab", None),
        (answered("ab", "")[0], None),
        answered("xyz", "ab"),
    ]
    scores = result(similarity(embed_fn=embed_fn), *cases)
    assert scores.per_sample == (pytest.approx(1), 0, None, None, 0, None)
    assert scores.details["skipped"] == {"no_reference": 1, "no_response": 1, "zero_vector": 1}
    assert sorted(texts) == ["ab", "xyz"]
    nothing = result(similarity(), answered(None, "ab"))
    assert (nothing.value, nothing.defined, nothing.details["num_samples"]) == (0.0, False, 0)


def test_the_answer_is_compared_with_the_question_on_request() -> None:
    metric = similarity(compare_to="query")
    assert result(metric, ({"query": "ab"}, {"response": "aabb"})).value == pytest.approx(1)
    assert metric.category == "generation_relevance"


@pytest.mark.parametrize(
    ("embed_fn", "named"),
    [
        (lambda texts: [[1.0] * (1 + at) for at, _ in enumerate(texts)], "1 and 2 numbers"),
        (lambda texts: [[1.0, 2.0]], "1 vectors for 2"),
        (lambda texts: [[math.nan, 1.0] for _ in texts], "not finite"),
        (lambda texts: [["a", "b"] for _ in texts], "list of numbers"),
        (lambda texts: [1.0 for _ in texts], "list of numbers"),
        (lambda texts: [[[1.0], [2.0]] for _ in texts], "list of numbers"),
        (lambda texts: None, "list of numbers"),
        (lambda texts: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_function_that_returns_no_vectors_is_an_error(embed_fn: Callable[[list[str]], Any], named: str) -> None:
    with pytest.raises(NotValid, match=f"EmbeddingSimilarity.*{named}"):
        result(similarity(embed_fn=embed_fn), answered("a", "b"))


def test_the_function_is_called_once_with_each_text_once_and_takes_arrays() -> None:
    calls: list[list[str]] = []

    def embed_fn(texts: list[str]) -> np.ndarray:
        calls.append(texts)
        return np.array(letters(texts), dtype=np.float32)

    samples = [{"id": str(at), "question": "q", "ground_truth": "ab"} for at in range(50)]
    outputs = [{"id": str(at), "answer": "abc" if at % 2 else "ab"} for at in range(50)]
    evaluation = evaluate(samples, outputs, "EmbeddingSimilarity", embed_fn=embed_fn)
    assert calls == [["ab", "abc"]] or calls == [["abc", "ab"]]
    assert evaluation.systems[0].scores["EmbeddingSimilarity"].value == pytest.approx((1 + 2 / math.sqrt(6)) / 2)


CASES = [answered([E1, E2], D1), answered(E1, D2), answered(E2, E2), answered(E1, ""), answered(None, D1)]


@needs_model
@pytest.mark.filterwarnings("ignore")
def test_similarity_with_a_real_model() -> None:
    scores = result(f"EmbeddingSimilarity(model='{MODEL}')", *CASES)
    vectors = {text: embed(MODEL, [text])[0].astype(float) for text in (E1, E2, D1, D2)}
    best = max(vectors[D1] @ vectors[E1], vectors[D1] @ vectors[E2])
    assert scores.per_sample == pytest.approx((best, vectors[D2] @ vectors[E1], 1, 0, None), abs=1e-5)
    assert best > 0.7 > scores.per_sample[1]
    compared = result(f"EmbeddingSimilarity(model='{MODEL}', compare_to=query)", ({"query": QUERY}, {"response": D1}))
    assert compared.value == pytest.approx(float(vectors[D1] @ embed(MODEL, [QUERY])[0].astype(float)), abs=1e-5)


@needs_model
@pytest.mark.filterwarnings("ignore")
def test_diversity_of_documents_with_a_real_model() -> None:
    from assay.rag.metrics.intra_list_diversity import IntraListDiversity

    metric = IntraListDiversity(top_k=3, embed_fn=lambda texts: embed(MODEL, texts))
    docs = [
        [{"doc_id": str(at), "text": text} for at, text in enumerate(texts)] for texts in ((D1, E1, E2), (D1, D2, "x"))
    ]
    scores = result(metric, *(({}, {"retrieved": one}) for one in docs))
    vectors = embed(MODEL, [D1, E1, E2]).astype(float)
    cosines = vectors @ vectors.T
    assert scores.per_sample[0] == pytest.approx(1 - (cosines[0, 1] + cosines[0, 2] + cosines[1, 2]) / 3, abs=1e-5)
    assert scores.per_sample[1] is not None
    assert scores.per_sample[1] > scores.per_sample[0]


@needs_model
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "place"), [("Precision", 0), ("Recall", 1), ("F1", 2)])
def test_bert_score_is_that_of_bert_score(kind: str, place: int) -> None:
    from bert_score import score

    from assay.llm.judges.semantic import packaged

    metric = f"BertScoreMetric(model_type='{MODEL}', num_layers={LAYERS}, score_type={kind})"
    scores = result(metric, *CASES)
    folder = str(packaged(MODEL.removeprefix("package:")))
    theirs = [
        score([answer], [right], model_type=folder, num_layers=LAYERS, device="cpu")[place].item()
        for answer, right in ((D1, E1), (D1, E2), (D2, E1), (E2, E2))
    ]
    expected = (max(theirs[:2]), theirs[2], theirs[3], 0, None)
    assert scores.per_sample == pytest.approx(expected, abs=1e-5)
    assert theirs[3] == pytest.approx(1, abs=1e-5)
    assert scores.details["num_samples"] == 4
    assert scores.value == pytest.approx(sum(one for one in expected if one is not None) / 4, abs=1e-5)


FIXED = [answered("two spare rubber seals", "Two rubber seals."), answered("eight hours", "It shines for 8 hours.")]


@needs_model
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("metric", "values"),
    [
        (f"BertScoreMetric(model_type='{MODEL}', num_layers={LAYERS}, score_type=Precision)", (0.930083, 0.436227)),
        (f"BertScoreMetric(model_type='{MODEL}', num_layers={LAYERS}, score_type=Recall)", (0.842862, 0.875697)),
        (f"BertScoreMetric(model_type='{MODEL}', num_layers={LAYERS})", (0.884327, 0.582355)),
        (f"EmbeddingSimilarity(model='{MODEL}')", (0.898472, 0.573193)),
    ],
)
def test_values_of_a_real_model_stay_the_same(metric: str, values: tuple[float, float]) -> None:
    scores = result(metric, *FIXED)
    assert scores.per_sample == pytest.approx(values, abs=1e-5)
    assert scores.value == pytest.approx(sum(values) / 2, abs=1e-5)


@needs_model
@pytest.mark.filterwarnings("ignore")
def test_consistency_of_counterfactual_answers_with_a_real_model() -> None:
    labels = {"variant_of": "s0", "scenario": "counterfactual"}
    cases = [({}, {"response": D1}), ({"labels": labels}, {"response": E1}), ({"labels": labels}, {"response": D2})]
    for inner in (
        f"EmbeddingSimilarity(model='{MODEL}')",
        f"BertScoreMetric(model_type='{MODEL}', num_layers={LAYERS})",
    ):
        scores = result(f"CounterfactualConsistency({inner})", *cases)
        assert scores.per_sample[1] is not None
        assert scores.per_sample[2] is not None
        assert scores.per_sample[1] > scores.per_sample[2]


def test_bert_score_asks_no_model_about_empty_answers() -> None:
    scores = result("BertScoreMetric", answered("a", ""), answered("a", " "), answered(None, "a"))
    assert scores.per_sample == (0, 0, None)


@needs_model
@pytest.mark.filterwarnings("ignore")
def test_bert_score_needs_the_layer_of_a_folder() -> None:
    with pytest.raises(NotValid, match="num_layers"):
        result(f"BertScoreMetric(model_type='{MODEL}')", answered("a", "a"))
    with pytest.raises(NotValid, match="cannot load"):
        result(f"BertScoreMetric(model_type='{MODEL}', num_layers=99)", answered("a", "a"))
