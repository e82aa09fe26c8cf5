"""RAG metrics of robustness: noisy variants, unanswerable questions, counterfactual variants."""

from __future__ import annotations

import pytest

from assay.core.errors import NotValid
from assay.rag import Metric, evaluate, parse_metric
from assay.rag.metric import REASONS
from assay.rag.metrics.counterfactual_consistency import CounterfactualConsistency
from assay.rag.metrics.embedding_similarity import EmbeddingSimilarity
from tests.assay.rag.cases import Row, result


def case(sample_id: str, reference: str | None, response: str | None, **labels: str) -> tuple[Row, Row | None]:
    sample = {"sample_id": sample_id, "reference_answer": reference, "labels": labels}
    return sample, {"response": response}


CLEAN = [case("a", "two seals", "two seals"), case("b", "eight hours", "eight days")]


def test_noise_robustness_is_the_ratio_of_two_means() -> None:
    noisy = [
        case("c", "two seals", "two boots", variant_of="a", scenario="typo"),
        case("d", "eight hours", "no hours", variant_of="b", scenario="paraphrase"),
        case("e", "eight hours", "eight hours", variant_of="b", scenario="counterfactual"),
    ]
    scores = result("NoiseRobustness(TokenF1)", *CLEAN, *noisy)
    assert scores.value == pytest.approx(0.5 / 0.75)
    assert scores.details["base_score"] == 0.75
    assert scores.details["noisy_score"] == 0.5
    assert (scores.details["num_base"], scores.details["num_noisy"], scores.details["num_samples"]) == (2, 2, 4)
    assert scores.details["skipped"] == {"not_selected": 1}
    only_typos = result("NoiseRobustness(TokenF1, noise_scenarios=[typo])", *CLEAN, *noisy)
    assert (only_typos.details["num_noisy"], only_typos.value) == (1, pytest.approx(0.5 / 0.75))
    # A metric of retrieval, and one that is no mean over samples, can be the base as well.
    assert result("NoiseRobustness(BleuScore(max_order=1))", *CLEAN, *noisy).details["base_score"] > 0
    rows = [
        ({"sample_id": one, "relevant_docs": ["d"], "labels": labels}, {"retrieved": docs})
        for one, docs, labels in (("a", ["d"], {}), ("b", ["x", "d"], {"variant_of": "a", "scenario": "typo"}))
    ]
    assert result("NoiseRobustness(mrr)", *rows).value == 0.5


def test_noise_robustness_is_undefined_without_a_base_or_without_noise() -> None:
    noisy = case("c", "two seals", "two seals", variant_of="a", scenario="typo")
    wrong = case("a", "two seals", "boots")
    for cases in (
        CLEAN,
        [case("a", None, "x"), noisy],
        [*CLEAN, case("c", None, "x", variant_of="a", scenario="typo")],
    ):
        scores = result("NoiseRobustness(TokenF1)", *cases)
        assert (scores.value, scores.defined) == (0.0, False)
        assert scores.details["reason"]
    zero = result("NoiseRobustness(TokenF1)", wrong, noisy)
    assert (zero.value, zero.defined, zero.details["base_score"]) == (0.0, False, 0.0)


@pytest.mark.parametrize("metric", ["NoiseRobustness(TokenF1)", "CounterfactualConsistency(TokenF1)"])
def test_variants_of_nothing_and_circles_are_skipped_and_counted(metric: str) -> None:
    scenario = "typo" if metric.startswith("Noise") else "counterfactual"
    good = case("c", "two seals", "two seals", variant_of="a", scenario=scenario)
    odd = [
        case("d", "x", "boots", variant_of="nowhere", scenario=scenario),
        case("e", "x", "boots", variant_of="e", scenario=scenario),
        case("f", "x", "boots", variant_of="g", scenario=scenario),
        case("g", "x", "boots", variant_of="f", scenario=scenario),
        case("h", "x", "boots", variant_of="f", scenario=scenario),
    ]
    clean = result(metric, *CLEAN, good)
    scores = result(metric, *CLEAN, good, *odd)
    assert scores.value == clean.value
    assert scores.details["num_samples"] == clean.details["num_samples"]
    assert scores.details["skipped_unknown_parent"] == 1
    assert scores.details["skipped_circular_variant"] == 4


def test_a_variant_of_a_variant_is_a_variant() -> None:
    chain = [case("c", "two seals", "two boots", variant_of="a", scenario="typo"),
             case("d", "two seals", "boots", variant_of="c", scenario="typo")]  # fmt: skip
    scores = result("NoiseRobustness(TokenF1)", *CLEAN, *chain)
    assert (scores.details["num_base"], scores.details["num_noisy"]) == (2, 2)
    assert scores.value == pytest.approx(0.25 / 0.75)


def test_a_ring_of_ten_thousand_variants_ends() -> None:
    ring = [case(str(n), "x", "x", variant_of=str((n + 1) % 10_000), scenario="typo") for n in range(10_000)]
    scores = result("NoiseRobustness(TokenF1)", *ring)
    assert scores.details["skipped"] == {"circular_variant": 10_000}
    line = [case(str(n), "x", "x", variant_of=str(n + 1), scenario="typo") for n in range(10_000)]
    scores = result("NoiseRobustness(TokenF1)", *line, case("10000", "x", "x"))
    assert (scores.value, scores.details["num_noisy"]) == (1.0, 10_000)


@pytest.mark.parametrize(
    ("response", "value"),
    [
        ("I don't know.", 1),
        ("I DON’T  know", 1),
        ("There is not enough\ninformation here.", 1),
        ("It was Edison.", 0),
        ("", 0),
    ],
)
def test_negative_rejection(response: str, value: float) -> None:
    cases = [case("a", None, response, scenario="unanswerable"), case("b", "x", "I don't know")]
    scores = result("NegativeRejectionRate", *cases)
    assert (scores.value, scores.details["num_samples"]) == (value, 1)
    assert scores.details["skipped"] == {"not_selected": 1}


def test_negative_rejection_counts_and_takes_patterns() -> None:
    cases = [
        case(str(n), None, text, scenario="unanswerable") for n, text in enumerate(["no idea", "cannot answer", "x"])
    ]
    assert result("NegativeRejectionRate", *cases).value == pytest.approx(1 / 3)
    assert result("NegativeRejectionRate(refusal_patterns=['No idea', x])", *cases).value == pytest.approx(2 / 3)
    missing = result("NegativeRejectionRate", *cases, ({"labels": {"scenario": "unanswerable"}}, None))
    assert (missing.value, missing.details["num_samples"]) == (0.25, 4)
    silent = result("NegativeRejectionRate", case("a", None, None, scenario="unanswerable"))
    assert (silent.value, silent.defined, silent.details["skipped"]) == (0.0, False, {"no_response": 1})
    none = result("NegativeRejectionRate", *CLEAN)
    assert (none.value, none.defined) == (0.0, False)


def test_counterfactual_consistency_compares_the_two_answers() -> None:
    cases = [
        *CLEAN,
        case("c", "unused", "two boots", variant_of="a", scenario="counterfactual"),
        case("d", None, "eight days", variant_of="b", scenario="counterfactual"),
        case("e", "unused", "noise", variant_of="b", scenario="typo"),
    ]
    scores = result("CounterfactualConsistency(TokenF1)", *cases)
    assert scores.per_sample == (None, None, 0.5, 1.0, None)
    assert (scores.value, scores.details["num_pairs"]) == (0.75, 2)
    assert scores.details["skipped"] == {"not_selected": 3}
    assert result("CounterfactualConsistency(ExactMatch, scenario=typo)", *cases).per_sample[-1] == 0


def test_counterfactual_consistency_of_empty_and_missing_answers() -> None:
    variant = {"variant_of": "a", "scenario": "counterfactual"}
    empty = result("CounterfactualConsistency(TokenF1)", case("a", "x", " "), case("b", "x", "y", **variant))
    assert (empty.defined, empty.details["skipped"]) == (False, {"not_selected": 1, "empty_answer": 1})
    mute = result("CounterfactualConsistency(TokenF1)", case("a", "x", "y"), case("b", "x", None, **variant))
    assert (mute.defined, mute.details["skipped"]) == (False, {"not_selected": 1, "no_response": 1})
    base = ({"sample_id": "a"}, None)
    missing = result("CounterfactualConsistency(TokenF1)", base, case("b", "x", "y", **variant))
    assert (missing.value, missing.per_sample) == (0.0, (None, 0.0))
    # The reference answers of a sample do not matter, nor does a sample's own right answer.
    several = ({"sample_id": "b", "reference_answer": ["y", "z"], "labels": variant}, {"response": "y"})
    assert result("CounterfactualConsistency(TokenF1)", case("a", "x", "w"), several).value == 0


def test_counterfactual_consistency_says_why_the_inner_metric_has_no_value() -> None:
    def letters(texts: list[str]) -> list[list[float]]:
        return [[text.count("a"), text.count("b")] for text in texts]

    variant = {"variant_of": "a", "scenario": "counterfactual"}
    metric = CounterfactualConsistency(EmbeddingSimilarity(embed_fn=letters))
    scores = result(metric, case("a", None, "xyz"), case("b", None, "ab", **variant))
    assert scores.details["skipped"] == {"not_selected": 1, "zero_vector": 1}
    # What keeps the selected sample from a value is the reason, not that others are not selected.
    assert scores.details["reason"] == REASONS["zero_vector"]


def test_noise_robustness_counts_what_the_inner_metric_skips() -> None:
    noisy = [
        case("c", "two seals", "two boots", variant_of="a", scenario="typo"),
        case("d", None, "no hours", variant_of="b", scenario="typo"),
        case("e", "eight hours", "no hours", variant_of="b", scenario="other"),
    ]
    scores = result("NoiseRobustness(TokenF1)", *CLEAN, case("f", None, "x"), *noisy)
    assert scores.details["skipped"] == {"not_selected": 1, "no_reference": 2}
    assert (scores.details["num_samples"], scores.details["num_skipped"]) == (3, 3)


@pytest.mark.parametrize("inner", ["RecallAtK", "MeanLatency", "DistinctN", "RougeL(compare_to=query)"])
def test_counterfactual_consistency_needs_a_metric_of_two_answers(inner: str) -> None:
    with pytest.raises(NotValid, match="reference answer"):
        parse_metric(f"CounterfactualConsistency({inner})")


def test_bleu_of_a_corpus_is_no_similarity_of_pairs() -> None:
    cases = [*CLEAN, case("c", None, "two seals", variant_of="a", scenario="counterfactual")]
    with pytest.raises(NotValid, match="value for each pair"):
        result("CounterfactualConsistency(BleuScore)", *cases)


def test_a_sliced_metric_is_the_metric_over_its_samples() -> None:
    cases = [
        *[({**sample, "labels": {"topic": "repair", "long": True, "size": 3}}, output) for sample, output in CLEAN],
        case("c", "two seals", "boots", topic="care"),
        case("d", "two seals", "two seals"),
    ]
    scores = result("SlicedMetric(TokenF1, slice_label=topic, value=repair)", *cases)
    assert scores.value == result("TokenF1", *CLEAN).value
    assert scores.per_sample == (1.0, 0.5, None, None)
    assert (scores.details["num_selected"], scores.details["num_not_selected"]) == (2, 2)
    for label, value in (("long", "'true'"), ("size", "'3'")):
        assert (
            result(f"SlicedMetric(TokenF1, slice_label={label}, value={value})", *cases).per_sample == scores.per_sample
        )
    unset = result("SlicedMetric(TokenF1, slice_label=topic)", *cases)
    assert unset.per_sample == (None, None, None, 1.0)
    nobody = result("SlicedMetric(TokenF1, slice_label=topic, value=power)", *cases)
    assert (nobody.value, nobody.defined, nobody.details["num_samples"]) == (0.0, False, 0)
    from assay.rag.metrics.sliced_metric import SlicedMetric

    chosen: Metric = SlicedMetric(parse_metric("TokenF1"), predicate=lambda sample: sample.sample_id in "ab")
    assert result(chosen, *cases).per_sample == scores.per_sample
    with pytest.raises(NotValid, match="predicate"):
        SlicedMetric(parse_metric("TokenF1"))


def test_a_sliced_metric_counts_the_samples_it_leaves_out() -> None:
    cases = [*CLEAN, case("c", None, "boots", topic="care"), case("d", "x", "x", topic="care")]
    scores = result("SlicedMetric(TokenF1, slice_label=topic, value=care)", *cases)
    assert scores.details["skipped"] == {"not_selected": 2, "no_reference": 1}
    assert (scores.details["skipped_not_selected"], scores.details["num_skipped"]) == (2, 3)


def test_a_slice_compares_counterfactual_variants_with_base_samples_outside_it() -> None:
    cases = [*CLEAN, case("c", None, "two boots", variant_of="a", scenario="counterfactual")]
    inner = "CounterfactualConsistency(TokenF1)"
    sliced = result(f"SlicedMetric({inner}, slice_label=scenario, value=counterfactual)", *cases)
    assert (sliced.value, sliced.details["num_samples"]) == (0.5, 1)
    samples = [{"query": "Why?"} | sample for sample, _ in cases]
    outputs = [{"sample_id": sample["sample_id"]} | (output or {}) for sample, output in cases]
    (system,) = evaluate(samples, outputs, inner, slices=["scenario"]).systems
    assert system.slices["scenario"]["counterfactual"][inner].value == sliced.value


def test_slices_of_metrics_that_are_no_means() -> None:
    timed = [({"labels": {"tier": tier}}, {"timings": {"end_to_end": seconds}}) for tier, seconds in
             (("head", 1), ("tail", 9), ("head", 3))]  # fmt: skip
    scores = result("SlicedMetric(QuantileLatency(quantile=0.5), slice_label=tier, value=head)", *timed)
    assert (scores.value, scores.per_sample) == (1.0, (1.0, None, 3.0))
    assert scores.columns is None
