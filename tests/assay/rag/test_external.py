"""RAG metrics against numpy, scikit-learn and nltk on random samples."""

from __future__ import annotations

import random

import numpy as np
import pytest

from assay.rag.metrics.embedding_similarity import EmbeddingSimilarity
from tests.assay.rag.cases import answered, ranked, result

SAMPLES = 40


@pytest.mark.parametrize("k", [1, 3, 10])
def test_precision_is_that_of_scikit_learn(k: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    draw = random.Random(k)
    cases = [
        (draw.sample("abcdefgh", draw.randint(1, 8)), draw.sample("abcdefgh", draw.randint(1, 8)))
        for _ in range(SAMPLES)
    ]
    expected = [
        metrics.precision_score([one in gold for one in docs[:k]], [True] * len(docs[:k])) for gold, docs in cases
    ]
    values = result(f"PrecisionAtK(k={k})", *(ranked(*case) for case in cases))
    assert values.per_sample == pytest.approx(expected)
    assert values.value == pytest.approx(np.mean(expected))


def test_average_precision_of_the_documents_found_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    draw = random.Random(5)
    cases = [
        (draw.sample("abcdefghij", draw.randint(1, 5)), draw.sample("abcdefghij", draw.randint(1, 8)))
        for _ in range(SAMPLES)
    ]
    relevant = [[one in gold for one in docs] for gold, docs in cases]
    # scikit-learn knows the documents of the list alone, so it leaves out those that were not retrieved, as here.
    expected = [metrics.average_precision_score(row, range(len(row), 0, -1)) if any(row) else 0.0 for row in relevant]
    values = result("MeanAveragePrecision", *(ranked(*case) for case in cases))
    assert values.per_sample == pytest.approx(expected)
    assert values.value == pytest.approx(np.mean(expected))


def test_cosines_are_those_of_scikit_learn() -> None:
    pairwise = pytest.importorskip("sklearn.metrics.pairwise")
    draw = np.random.default_rng(7)
    vectors = draw.normal(size=(2 * SAMPLES, 16))
    names = [f"text {at}" for at in range(2 * SAMPLES)]
    metric = EmbeddingSimilarity(embed_fn=lambda texts: [vectors[names.index(text)] for text in texts])
    values = result(metric, *(answered(*pair) for pair in zip(names[:SAMPLES], names[SAMPLES:], strict=True)))
    expected = np.diag(pairwise.cosine_similarity(vectors[:SAMPLES], vectors[SAMPLES:]))
    assert values.per_sample == pytest.approx(expected)
    assert values.value == pytest.approx(expected.mean())


@pytest.mark.parametrize("k", [2, 4])
def test_intra_list_diversity_is_that_of_scikit_learn(k: int) -> None:
    pairwise = pytest.importorskip("sklearn.metrics.pairwise")
    lists = np.random.default_rng(k).normal(size=(SAMPLES, 5, 8))
    docs = [[{"doc_id": str(at), "embedding": one.tolist()} for at, one in enumerate(vectors)] for vectors in lists]
    expected = [pairwise.cosine_distances(vectors[:k])[np.triu_indices(k, 1)].mean() for vectors in lists]
    values = result(f"IntraListDiversity(top_k={k})", *(({}, {"retrieved": one}) for one in docs))
    assert values.per_sample == pytest.approx(expected)
    assert values.value == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("quantile", [0.05, 0.5, 0.9, 0.95, 1])
def test_latency_is_that_of_numpy(quantile: float) -> None:
    for number in (1, 7, SAMPLES):
        seconds = np.random.default_rng(number).exponential(size=number)
        cases = [({}, {"timings": {"end_to_end": one}}) for one in seconds.tolist()]
        expected = np.quantile(seconds, quantile, method="inverted_cdf")
        assert result(f"QuantileLatency(quantile={quantile})", *cases).value == expected
        assert result("MeanLatency", *cases).value == pytest.approx(seconds.mean())


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ngrams_are_those_of_nltk(n: int) -> None:
    nltk = pytest.importorskip("nltk")
    draw = random.Random(n)
    answers = [draw.choices("abcdef", k=draw.randint(n, 20)) for _ in range(SAMPLES)]
    every = [one for answer in answers for one in nltk.ngrams(answer, n)]
    cases = [({}, {"response": " ".join(answer)}) for answer in answers]
    assert result(f"DistinctN(n={n})", *cases).value == pytest.approx(len(set(every)) / len(every))
    evidence = draw.choices("abcdef", k=12)
    known = set(nltk.ngrams(evidence, n))
    shares = [np.mean([one in known for one in nltk.ngrams(answer, n)]) for answer in answers]
    docs = [{"doc_id": "d", "text": " ".join(evidence)}]
    values = result(
        f"EvidenceOverlapFaithfulness(n={n})", *((sample, row | {"retrieved": docs}) for sample, row in cases)
    )
    assert values.per_sample == pytest.approx(shares)
    assert values.value == pytest.approx(np.mean(shares))
