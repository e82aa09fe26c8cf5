"""What holds for every RAG metric: names, counts, order, missing outputs, nothing to measure."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid, UnknownName
from assay.rag import LLMCritic, Metric, evaluate, parse_metric, read_outputs, read_samples
from assay.rag.metric import REASONS
from assay.rag.metric_names import with_services
from assay.rag.metrics import METRICS
from assay.rag.reference_page import OUTPUTS, SAMPLES, example_of, rows

# These load a model of their own.
NEEDS_MODEL = {"BertScoreMetric"}
COMPUTED = [name for name in METRICS if name not in NEEDS_MODEL]
# Their value is no mean over samples; whether a sample counts does not make it smaller.
NO_MEANS = {"BleuScore", "NoiseRobustness", "QuantileLatency", "DistinctN"}


class Length(LLMCritic):
    def score(self, *, prompt: str, metadata: Mapping[str, Any] | None = None) -> float:
        return 1.0 + len(prompt) % 2 if metadata and metadata["scale"] == "1-5" else (len(prompt) % 3) / 2


def vectors(texts: list[str]) -> list[list[float]]:
    return [[1.0, *(text.count(letter) for letter in "aeiou")] for text in texts]


def metric(name: str) -> Metric:
    return with_services(parse_metric(example_of(METRICS[name])), {"critic": Length(), "embed_fn": vectors})


@pytest.mark.parametrize("name", COMPUTED)
def test_the_order_of_samples_and_of_outputs_does_not_matter(name: str) -> None:
    one, samples, outputs = metric(name), rows(SAMPLES), rows(OUTPUTS)
    first = evaluate(samples, outputs, one).systems[0]
    draw = random.Random(name)
    for _ in range(3):
        other = evaluate(draw.sample(samples, 5), draw.sample(outputs, 5), one).systems[0]
        assert other.scores[one.label].value == first.scores[one.label].value
        assert other.scores[one.label].result.details["skipped"] == first.scores[one.label].result.details["skipped"]
        assert other.per_sample() == first.per_sample()


@pytest.mark.parametrize("name", COMPUTED)
def test_the_counts_add_up_and_every_reason_is_known(name: str) -> None:
    samples, outputs = read_samples(rows(SAMPLES)), read_outputs(rows(OUTPUTS))
    result = metric(name).compute(samples, outputs)
    details = result.details
    assert result.defined
    assert details["num_skipped"] == sum(details["skipped"].values())
    assert set(details["skipped"]) <= set(REASONS)
    assert {key: details[f"skipped_{key}"] for key in details["skipped"]} == details["skipped"]
    assert details["num_samples"] + details["num_skipped"] == len(samples)
    if result.per_sample:
        assert len(result.per_sample) == len(samples)
        assert details["num_samples"] == sum(value is not None for value in result.per_sample)
    if result.is_mean:
        known = [value for value in result.per_sample if value is not None]
        assert result.value == pytest.approx(sum(known) / len(known))
    assert name in NO_MEANS or result.is_mean


@pytest.mark.parametrize("name", COMPUTED)
def test_with_nothing_to_measure_the_value_is_0_and_not_defined(name: str) -> None:
    one = metric(name)
    bare = ([{"sample_id": "s1", "query": "Why?"}], [{"sample_id": "s1", "timings": {}}])
    for samples, outputs in (([], []), bare):
        result = one.compute(read_samples(samples), read_outputs(outputs))
        assert (result.value, result.details["num_samples"], result.defined) == (0.0, 0, False)
        assert result.details["reason"]


@pytest.mark.parametrize("name", COMPUTED)
def test_a_missing_output_counts_as_0_or_not_at_all(name: str) -> None:
    one, samples, outputs = metric(name), rows(SAMPLES), rows(OUTPUTS)
    with pytest.raises(NotValid, match=r"1 of 5 samples have no output \('s4'\)"):
        evaluate(samples, [out for out in outputs if out["sample_id"] != "s4"], one)
    lacking = [out for out in outputs if out["sample_id"] != "s4"]
    skipped = evaluate(samples, lacking, one, missing="skip").systems[0]
    assert skipped.aligned.missing == ("s4",)
    assert "s4" not in skipped.per_sample()
    left = evaluate([one for one in samples if one["sample_id"] != "s4"], lacking, one).systems[0]
    assert skipped.scores[one.label].value == left.scores[one.label].value
    zero = evaluate(samples, lacking, one, missing="zero").systems[0]
    value = zero.per_sample()["s4"].get(one.label)
    assert value in (0.0, None)
    if name in {"MeanLatency", "QuantileLatency", "DistinctN", "IntraListDiversity"}:
        assert zero.scores[one.label].value == left.scores[one.label].value
        assert zero.scores[one.label].result.details["skipped"]["missing_output"] == 1
    elif name not in NO_MEANS | {"NegativeRejectionRate"}:
        assert value == 0.0
        assert zero.scores[one.label].value <= skipped.scores[one.label].value


@pytest.mark.parametrize("name", COMPUTED)
def test_samples_and_outputs_must_belong_together(name: str) -> None:
    samples, outputs = read_samples(rows(SAMPLES)), read_outputs(rows(OUTPUTS))
    with pytest.raises(NotValid, match="5 samples and 4 outputs"):
        metric(name).compute(samples, outputs[:4])
    with pytest.raises(NotValid, match="'s2' is at the position of sample 's1'"):
        metric(name).compute(samples, [outputs[1], outputs[0], *outputs[2:]])


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_declares_itself(name: str) -> None:
    member = METRICS[name]
    one = parse_metric(example_of(member))
    assert member.__name__ == name
    assert all((member.title, member.description, member.formula, member.source, one.name))
    assert parse_metric(one.label) == one
    for parameter in fields(member):
        assert not parameter.metadata or parameter.metadata["description"].endswith(".")


@pytest.mark.parametrize("name", [name for name in METRICS if name != "SlicedMetric"])
def test_the_name_of_a_metric_is_read_as_the_metric(name: str) -> None:
    one = parse_metric(example_of(METRICS[name]))
    assert type(parse_metric(one.name)) is METRICS[name]
    assert parse_metric(one.name).name == one.name


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("noise_robustness(recall@5)", "NoiseRobustness(RecallAtK(k=5))"),
        ("noise_robustness(rougeL_answer, noise_scenarios=[typo])", "NoiseRobustness(RougeL, noise_scenarios=[typo])"),
        ("counterfactual_consistency(TokenF1)", "CounterfactualConsistency(TokenF1)"),
        ("quantile_latency@1", "QuantileLatency(quantile=1.0)"),
        ("quantile_latency@.5", "QuantileLatency(quantile=0.5)"),
    ],
)
def test_names_with_parameters(text: str, label: str) -> None:
    assert parse_metric(text).label == label


@pytest.mark.parametrize("name", METRICS)
def test_bad_parameters_are_refused_with_the_known_ones(name: str) -> None:
    inner = "TokenF1, " if any("Metric" in str(one.type) for one in fields(METRICS[name])) else ""
    with pytest.raises(NotValid, match=f"{name} has no parameter 'colour'"):
        parse_metric(f"{name}({inner}colour=3)")
    for one in fields(METRICS[name]):
        if one.metadata:
            with pytest.raises(NotValid, match=one.name):
                parse_metric(f"{name}({inner}{one.name}={{}})")


TEXTS = st.text(max_size=12)


@settings(deadline=None)
@given(data=st.data())
def test_a_label_is_read_as_the_metric_that_has_it(data: st.DataObject) -> None:
    member = METRICS[data.draw(st.sampled_from([name for name in METRICS if name != "LLMAnswerQuality"]))]
    one = parse_metric(example_of(member))
    changes: dict[str, Any] = {}
    for parameter in fields(member):
        about = parameter.metadata
        if not about or parameter.name == "slice_label":
            continue
        if about["choices"]:
            changes[parameter.name] = data.draw(st.sampled_from(about["choices"]))
        elif isinstance(parameter.default, bool):
            changes[parameter.name] = data.draw(st.booleans())
        elif isinstance(parameter.default, tuple):
            texts = TEXTS.filter(str.strip) if parameter.name == "refusal_patterns" else TEXTS
            changes[parameter.name] = tuple(data.draw(st.lists(texts, min_size=1, max_size=3)))
        elif isinstance(parameter.default, str) or (parameter.default is None and about["minimum"] is None):
            changes[parameter.name] = data.draw(TEXTS)
        elif isinstance(parameter.default, float):
            changes[parameter.name] = data.draw(st.floats(0.001, 1))
        else:
            changes[parameter.name] = data.draw(st.integers(2, 9))
    changed = replace(one, **changes)
    assert parse_metric(changed.label) == changed


@pytest.mark.parametrize(
    "text",
    ["", " ", "TokenF1(", "TokenF1)", "RecallAtK(5, 6, 7, 8)", "RecallAtK(k=5, k=6)", "NoiseRobustness", "1 + 1",
     "NoiseRobustness(TokenF1, TokenF1, TokenF1)", "__import__('os')", "RecallAtK(k=open('x'))", "[TokenF1]",
     "RecallAtK(k=1.5)", "RecallAtK(k=True)", "RecallAtK(k=99999999999999)", "(" * 500, "NDCGAtK(gain_scheme=exp)",
     "noise_robustness", "noise_robustness()", "noise_robustness(nothing)", "quantile_latency@0", "quantile_latency@2",
     "NegativeRejectionRate(refusal_patterns=[''])", "NegativeRejectionRate(refusal_patterns=[sorry, ' '])"],
)  # fmt: skip
def test_invalid_metrics_are_refused(text: str) -> None:
    with pytest.raises((NotValid, UnknownName)):
        parse_metric(text)


@pytest.mark.parametrize("text", ["TokenF2", "recall@", "recall@0", "token-f1", "nDCG@10", "AP", "P@5", "R@5", "RR@10"])
def test_names_of_other_families_are_no_names_of_this_one(text: str) -> None:
    with pytest.raises((NotValid, UnknownName)):
        parse_metric(text)
