"""RAG metrics of latency and diversity."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.rag import evaluate
from assay.rag.metrics.embedding_similarity import EmbeddingSimilarity
from assay.rag.metrics.intra_list_diversity import IntraListDiversity
from assay.rag.records import Document, RetrievedDocument, SystemOutputs
from tests.assay.rag.cases import Row, result


def timed(*seconds: float | None, stage: str = "end_to_end") -> list[tuple[Row, Row]]:
    return [({}, {"timings": {stage: one}}) for one in seconds]


def test_mean_latency_leaves_out_what_is_not_timed() -> None:
    scores = result("MeanLatency", *timed(1, None, 3), ({}, None))
    assert (scores.value, scores.per_sample) == (2.0, (1.0, None, 3.0, None))
    assert scores.details["skipped"] == {"no_timing": 1, "missing_output": 1}
    stage = result("MeanLatency(timing_key=retrieval)", *timed(1, 3, stage="retrieval"))
    assert stage.value == 2.0
    for metric in ("MeanLatency", "QuantileLatency"):
        nothing = result(metric, *timed(1, 3, stage="retrieval"))
        assert (nothing.value, nothing.defined, nothing.details["num_samples"]) == (0.0, False, 0)


@pytest.mark.parametrize(
    ("quantile", "number", "place"),
    # ceil(q n), also where q n is a whole number that floating point misses: 0.07 * 100 is 7.000000000000001.
    [(0.95, 100, 95), (0.07, 100, 7), (0.29, 100, 29), (0.57, 100, 57), (0.5, 4, 2), (0.5, 5, 3), (0.9, 10, 9),
     (0.99, 10, 10), (1, 7, 7), (0.001, 7, 1), (0.95, 1, 1), (0.95, 20, 19), (0.95, 21, 20)],
)  # fmt: skip
def test_quantile_latency_by_hand(quantile: float, number: int, place: int) -> None:
    seconds = list(range(1, number + 1))
    random.Random(0).shuffle(seconds)
    scores = result(f"QuantileLatency(quantile={quantile})", *timed(*seconds))
    assert scores.value == place
    assert scores.details["quantile"] == quantile
    assert scores.details["num_samples"] == number


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=50),
    st.integers(1, 100),
    st.integers(1, 100),
    st.randoms(use_true_random=False),
)
def test_quantiles_are_times_rise_and_do_not_depend_on_order(
    seconds: list[float], first: int, second: int, draw: random.Random
) -> None:
    low, high = (
        result(f"QuantileLatency(quantile={one / 100})", *timed(*seconds)).value for one in sorted((first, second))
    )
    assert low <= high
    assert {low, high} <= set(seconds)
    # At least the share asked for was answered within the time, and less than that share in less time.
    share = max(first, second) / 100
    assert sum(one <= high for one in seconds) >= share * len(seconds) - 1e-9
    assert sum(one < high for one in seconds) < share * len(seconds) + 1e-9
    shuffled = draw.sample(seconds, len(seconds))
    assert result(f"QuantileLatency(quantile={share})", *timed(*shuffled)).value == high


@pytest.mark.parametrize("quantile", ["0", "-0.5", "1.5", "nan"])
def test_a_quantile_off_its_range_is_refused(quantile: str) -> None:
    with pytest.raises(NotValid, match="quantile"):
        result(f"QuantileLatency(quantile={quantile})", *timed(1))


def responses(*texts: str | None) -> list[tuple[Row, Row]]:
    return [({}, {"response": text}) for text in texts]


@pytest.mark.parametrize(
    ("n", "texts", "value", "total"),
    [
        (1, ["a b a"], 2 / 3, 3),
        (2, ["a b a b"], 2 / 3, 3),
        (2, ["a b", "A b!", "b a"], 2 / 3, 3),
        (2, ["a", "b c"], 1, 1),
        (3, ["a b c d", "b c d"], 2 / 3, 3),
    ],
)
def test_distinct_n_by_hand(n: int, texts: list[str], value: float, total: int) -> None:
    scores = result(f"DistinctN(n={n})", *responses(*texts))
    assert scores.value == pytest.approx(value)
    assert scores.details["num_ngrams"] == total


def test_distinct_n_of_nothing_is_undefined() -> None:
    scores = result("distinct_2", *responses("", "one", None), ({}, None))
    assert (scores.value, scores.defined, scores.details["num_samples"]) == (0.0, False, 0)
    assert scores.details["skipped"] == {"empty_answer": 1, "short_answer": 1, "no_response": 1, "missing_output": 1}


@given(
    st.lists(st.text("ab ", max_size=12), min_size=1, max_size=6), st.integers(1, 4), st.randoms(use_true_random=False)
)
def test_distinct_n_is_a_share_and_does_not_depend_on_order(texts: list[str], n: int, draw: random.Random) -> None:
    scores = result(f"DistinctN(n={n})", *responses(*texts))
    assert 0 <= scores.value <= 1
    assert result(f"DistinctN(n={n})", *responses(*draw.sample(texts, len(texts)))).value == scores.value
    # Saying everything twice adds no n-gram.
    assert result(f"DistinctN(n={n})", *responses(*texts, *texts)).value == pytest.approx(scores.value / 2)


def listed(*vectors: list[float] | None) -> tuple[Row, Row]:
    docs = [{"doc_id": f"d{at}", "text": f"text {at}", "embedding": one} for at, one in enumerate(vectors)]
    return {}, {"retrieved": docs}


@pytest.mark.parametrize(
    ("vectors", "value"),
    [
        (([1, 0], [0, 1]), 1),
        (([1, 0], [2, 0]), 0),
        (([1, 0], [-1, 0]), 2),
        (([1, 0], [0, 3], [0.6, 0.8]), 1 - (0 + 0.6 + 0.8) / 3),
    ],
)
def test_intra_list_diversity_by_hand(vectors: tuple[list[float], ...], value: float) -> None:
    assert result("IntraListDiversity", listed(*vectors)).value == pytest.approx(value)


def test_intra_list_diversity_takes_the_first_documents_and_skips_what_it_cannot_measure() -> None:
    cases = [
        listed([1, 0], [0, 1], [1, 0]),
        listed([1, 0], None),
        listed([1, 0]),
        listed(),
        listed([1, 0], [0, 0]),
        ({}, None),
    ]
    scores = result("IntraListDiversity(top_k=2)", *cases)
    assert scores.per_sample == (1.0, None, None, None, None, None)
    assert scores.details["skipped"] == {
        "missing_embedding": 1,
        "fewer_than_two_documents": 2,
        "zero_vector": 1,
        "missing_output": 1,
    }
    assert result("intra_list_diversity@3", cases[0]).value == pytest.approx(1 - 1 / 3)
    # Beyond the first k nothing is looked at.
    assert result("IntraListDiversity(top_k=2)", listed([1, 0], [0, 1], None)).value == 1


@pytest.mark.parametrize(
    "vectors", [([1, 0], [1, 0, 0]), ([1, 0], ["x", 0]), ([1, 0], [float("inf"), 0]), ([1, 0], [[1], [0]]), ([1, 0], 5)]
)
def test_embeddings_that_cannot_be_compared_are_an_error_that_names_the_output(
    vectors: tuple[list[float], ...],
) -> None:
    with pytest.raises(NotValid, match="`embedding` in `retrieved`"):
        result("IntraListDiversity", listed([1, 0], [0, 1]), listed(*vectors))
    docs = [Document(str(at), metadata={"embedding": vector}) for at, vector in enumerate(vectors)]
    output = SystemOutputs("s1", tuple(RetrievedDocument(doc, at) for at, doc in enumerate(docs, 1)))
    with pytest.raises(NotValid, match="s1"):
        evaluate([{"id": "s1", "query": "q"}], [output], "IntraListDiversity")


def test_documents_without_text_are_not_taken_for_equal() -> None:
    metric = IntraListDiversity(embed_fn=lambda texts: [[1.0, len(text)] for text in texts])
    scores = result(metric, ({}, {"retrieved": ["d1", "d2"]}), listed(None, None))
    assert scores.per_sample == (None, pytest.approx(0))
    assert scores.details["skipped"] == {"missing_embedding": 1}


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_the_length_of_embeddings_does_not_matter(size: float) -> None:
    assert result("IntraListDiversity", listed([size, 0], [0, size])).value == pytest.approx(1)
    assert result("IntraListDiversity", listed([size, 0], [1, 0])).value == pytest.approx(0)
    metric = EmbeddingSimilarity(embed_fn=lambda texts: [[size * len(text), size] for text in texts])
    assert result(metric, ({"reference_answer": "a"}, {"response": "b"})).value == pytest.approx(1)


def test_intra_list_diversity_embeds_all_texts_at_once_where_a_function_is_given() -> None:
    calls: list[list[str]] = []

    def embed(texts: list[str]) -> list[list[float]]:
        calls.append(texts)
        return [[1, 0] if text.endswith(("0", "2")) else [0, 1] for text in texts]

    scores = result(
        IntraListDiversity(top_k=3, embed_fn=embed), listed(None, None, None), listed(None, None), listed(None)
    )
    assert scores.per_sample == (pytest.approx(1 - 1 / 3), 1.0, None)
    assert [sorted(call) for call in calls] == [["text 0", "text 1", "text 2"]]
