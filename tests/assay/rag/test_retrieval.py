"""RAG metrics of retrieval: values worked by hand, trec_eval's values, and where the two differ."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.rag import parse_metric
from tests.assay.rag.cases import ranked, result

# Relevant: a, b, c. Retrieved: a relevant document at ranks 2 and 4.
SPREAD = ranked("abc", "xaybz")
IDEAL = 1 + 1 / log2(3) + 1 / log2(4)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("recall@1", 0),
        ("recall@2", 1 / 3),
        ("recall@5", 2 / 3),
        ("precision@2", 1 / 2),
        ("precision@5", 2 / 5),
        ("precision@10", 2 / 5),
        ("evret_precision@10", 2 / 10),
        ("hit_rate@1", 0),
        ("hit_rate@2", 1),
        ("mrr", 1 / 2),
        ("mrr@1", 0),
        ("map", (1 / 2 + 2 / 4) / 2),
        ("map@3", 1 / 2),
        ("ndcg@5", (1 / log2(3) + 1 / log2(5)) / IDEAL),
        ("ndcg@1", 0),
        ("ndcg@2", (1 / log2(3)) / (1 + 1 / log2(3))),
    ],
)
def test_a_list_worked_by_hand(metric: str, value: float) -> None:
    assert result(metric, SPREAD).value == pytest.approx(value)


NAMES = ["recall@3", "precision@3", "evret_precision@3", "hit_rate@3", "mrr@3", "map@3", "ndcg@3"]


@pytest.mark.parametrize("name", NAMES)
def test_the_value_is_the_mean_over_samples_with_relevant_documents(name: str) -> None:
    cases = [SPREAD, ranked("a", "a"), ranked("", "ab"), ranked("ab", "")]
    scores = result(name, *cases)
    alone = [result(name, case).value for case in (SPREAD, ranked("a", "a"))]
    assert scores.per_sample == (*alone, None, 0.0)
    assert scores.value == pytest.approx(sum(alone) / 3)
    assert scores.details["num_samples"] == 3
    assert scores.details["skipped_empty_gold"] == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_count_of_samples_without_relevant_documents_is_there_when_it_is_zero(name: str) -> None:
    scores = result(name, SPREAD)
    assert (scores.details["skipped_empty_gold"], scores.details["skipped"]) == (0, {})


@pytest.mark.parametrize("name", NAMES)
def test_without_relevant_documents_nothing_is_measured(name: str) -> None:
    for sample in ({"relevant_docs": []}, {"relevant_docs": None}, {}):
        scores = result(name, (sample, {"retrieved": ["a"]}))
        assert (scores.value, scores.defined, scores.details["num_samples"]) == (0.0, False, 0)
        assert scores.details["skipped"] == {"empty_gold": 1}


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_output_and_an_empty_list_count_as_zero(name: str) -> None:
    scores = result(name, (ranked("a", "")[0], None), ranked("a", ""))
    assert (scores.value, scores.per_sample, scores.defined) == (0.0, (0.0, 0.0), True)


def test_a_document_that_comes_twice_counts_once_and_takes_its_place() -> None:
    twice = ranked("ab", "aab")
    values = {name: result(name, twice).value for name in ("recall@2", "precision@2", "map", "mrr", "hit_rate@1")}
    assert values == {"recall@2": 0.5, "precision@2": 0.5, "map": (1 + 2 / 3) / 2, "mrr": 1, "hit_rate@1": 1}
    assert result("ndcg@3", twice).value == pytest.approx((1 + 1 / log2(4)) / (1 + 1 / log2(3)))
    # A gold document that is named twice is one document.
    assert result("recall@1", ({"relevant_docs": ["a", "a"]}, {"retrieved": ["a"]})).value == 1


def test_ranks_decide_and_scores_do_not() -> None:
    rows = [{"doc_id": "x", "score": 1, "rank": 2}, {"doc_id": "a", "score": 0, "rank": 1}]
    assert result("mrr", ({"relevant_docs": ["a"]}, {"retrieved": rows})).value == 1
    assert (
        result("mrr", ({"relevant_docs": ["a"]}, {"retrieved": [{**row, "rank": None} for row in rows]})).value == 0.5
    )


LISTS = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10)
SAMPLES = st.lists(st.tuples(LISTS, LISTS), min_size=1, max_size=6)


@given(samples=SAMPLES, k=st.integers(1, 12))
def test_trec_eval_agrees_where_it_measures_the_same(samples: list[tuple[list[str], list[str]]], k: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels = {str(at): dict.fromkeys(gold, 1) for at, (gold, _) in enumerate(samples) if gold}
    run = {
        str(at): {doc: float(-rank) for rank, doc in enumerate(docs)}
        for at, (_, docs) in enumerate(samples)
        if docs and samples[at][0]
    }
    names = [f"recall_{k}", f"P_{k}", f"success_{k}", f"ndcg_cut_{k}", "recip_rank", "map"]
    measures = {f"recall.{k}", f"P.{k}", f"success.{k}", f"ndcg_cut.{k}", "recip_rank", "map"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run) if qrels else {}
    ours = [f"recall@{k}", f"evret_precision@{k}", f"hit_rate@{k}", f"ndcg@{k}", "mrr", "map"]
    for name, other in zip(ours, names, strict=True):
        scores = result(name, *(ranked(*case) for case in samples)).per_sample
        for at, (gold, docs) in enumerate(samples):
            expected = theirs.get(str(at), {}).get(other, 0.0) if gold else None
            if name == "map" and expected:
                # trec_eval divides by all relevant documents, this metric by those that were found.
                expected *= len(set(gold)) / len(set(gold) & set(docs))
            assert scores[at] == (None if expected is None else pytest.approx(expected, abs=1e-9))


@given(gold=LISTS.filter(bool), docs=st.lists(st.sampled_from("abcdefghij"), max_size=12), k=st.integers(1, 12))
def test_values_are_between_0_and_1_and_consistent(gold: list[str], docs: list[str], k: int) -> None:
    kinds = ("recall", "precision", "evret_precision", "hit_rate", "mrr", "map", "ndcg")
    value = {kind: result(f"{kind}@{k}", ranked(gold, docs)).value for kind in kinds}
    assert all(0 <= one <= 1 + 1e-12 for one in value.values())
    assert value["evret_precision"] <= value["precision"]
    assert (value["hit_rate"] == 1) == (value["recall"] > 0) == (value["mrr"] > 0) == (value["map"] > 0)
    assert value["recall"] <= result(f"recall@{k + 1}", ranked(gold, docs)).value
    # Relevant documents that nobody retrieved lower recall and nDCG, and do not touch the others.
    more = {kind: result(f"{kind}@{k}", ranked([*gold, "never"], docs)).value for kind in kinds}
    assert {kind for kind in kinds if more[kind] != value[kind]} <= {"recall", "ndcg"}


def test_the_names_of_the_specification_resolve_to_the_classes() -> None:
    named = {
        "recall@5": "RecallAtK(k=5)",
        "precision@5": "PrecisionAtK(k=5)",
        "evret_precision@5": "EvretPrecisionAtK(k=5)",
        "hit_rate@5": "HitRateAtK(k=5)",
        "mrr": "MRRAtK",
        "mrr@5": "MRRAtK(k=5)",
        "map": "MeanAveragePrecision",
        "map@5": "MeanAveragePrecision(k=5)",
        "ndcg@5": "NDCGAtK(k=5)",
    }
    for name, label in named.items():
        metric = parse_metric(name)
        assert (metric.name, metric.label) == (name, label)
        assert metric == parse_metric(label)
        assert metric.required_fields() == ["relevant_docs"]
