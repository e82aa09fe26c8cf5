"""RAG metrics of answers, against published values and peers: exact match, F1, ROUGE, BLEU, evidence overlap."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

from assay.rag import parse_metric
from assay.rag.words import ngrams
from tests.assay.rag.cases import Row, answered, result

WORDS = [
    *("the", "a", "An", "seals", "sealing", "sealed", "shines", "shining", "lamp", "lamps'", "battery,", "batteries"),
    *("hours", "Hours", "8", "1,200", "kg", "four-way", "don't", "café", "naïve", "straße", "水", "!!!", "...", "-"),
    *("generalizations", "relational", "hopping"),
]
OVERLAP = ("ExactMatch", "TokenF1", "Rouge1", "Rouge2", "RougeL", "BleuScore")


def text(draw: random.Random, most: int = 30) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randint(0, most)))


@pytest.mark.parametrize(
    ("metric", "reference", "response", "value"),
    [
        ("ExactMatch", "two seals", "The two seals!", 1),
        ("ExactMatch(ignore_case=False)", "two seals", "Two seals", 0),
        ("ExactMatch(ignore_punctuation=False)", "two seals", "two seals.", 0),
        ("ExactMatch(ignore_articles=False)", "two seals", "the two seals", 0),
        ("TokenF1", "two spare rubber seals", "two seals", 2 * 1 * 0.5 / 1.5),
        ("TokenF1", "seals seals", "seals", 2 / 3),
        ("TokenF1", "one", "two", 0),
        ("Rouge1(use_stemmer=False)", "a lamp that shines", "lamp shining", 2 * 0.5 * 0.25 / 0.75),
        ("Rouge1", "a lamp that shines", "lamp shining", 2 * 1 * 0.5 / 1.5),
        ("Rouge2", "one two three", "one two four", 0.5),
        ("RougeL", "one two three four", "two one four", 2 * (2 / 3) * (2 / 4) / (2 / 3 + 2 / 4)),
    ],
)
def test_pairs_worked_by_hand(metric: str, reference: str, response: str, value: float) -> None:
    assert result(metric, answered(reference, response)).value == pytest.approx(value)


@pytest.mark.parametrize("metric", OVERLAP)
def test_missing_answers_are_skipped_and_empty_ones_are_zero(metric: str) -> None:
    cases = [answered("eight full hours here", "eight full hours here"), answered(None, "x"), answered("  ", "x"),
             answered("eight", None), answered("eight", ""), (answered("eight", "")[0], None)]  # fmt: skip
    scores = result(metric, *cases)
    top = 100 if metric == "BleuScore" else 1
    assert scores.per_sample == (pytest.approx(top), None, None, None, 0, 0)
    assert scores.details["skipped"] == {"no_reference": 2, "no_response": 1}
    assert scores.details["num_samples"] == 3
    if metric != "BleuScore":
        assert scores.value == pytest.approx(1 / 3)
    nothing = result(metric, answered(None, "x"))
    assert (nothing.value, nothing.defined, nothing.details["num_samples"]) == (0.0, False, 0)


@pytest.mark.parametrize("metric", OVERLAP)
def test_the_best_of_several_reference_answers_counts(metric: str) -> None:
    right, wrong = "about eight full hours", "not for a long time"
    both = result(metric, answered([wrong, right], right))
    assert both.value == pytest.approx(100 if metric == "BleuScore" else 1)
    assert both.value == result(metric, answered([right, wrong], right)).value


@pytest.fixture
def golden(shared: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((shared / "text-metrics" / "qa_em_f1.json").read_text())
    return data


@pytest.mark.shared
@pytest.mark.parametrize(("metric", "name"), [("ExactMatch", "em"), ("TokenF1", "f1")])
def test_exact_match_and_f1_are_those_of_squad(golden: dict[str, Any], metric: str, name: str) -> None:
    items = [item for item in golden["items"] if item["answers"]]
    scores = result(metric, *(answered(item["answers"], item["prediction"]) for item in items))
    assert scores.per_sample == pytest.approx([item[name] for item in items], abs=1e-6)
    total = golden["HasAns_" + {"em": "exact", "f1": "f1"}[name]]
    assert 100 * scores.value == pytest.approx(total, abs=1e-5)


def test_reference_answers_without_words_count_only_alone() -> None:
    assert result("TokenF1", answered("The A", "a")).value == 1
    assert result("TokenF1", answered(["the", "seals"], "a")).value == 0
    assert result("ExactMatch", answered(["the", "seals"], "a")).value == 0


@pytest.mark.shared
def test_rouge_is_that_of_the_published_program(shared: Path) -> None:
    folder = shared / "text-metrics" / "rouge"
    right, predictions = ((folder / f"{name}.txt").read_text().splitlines() for name in ("target", "prediction"))
    published = json.loads((folder / "rouge155_published.json").read_text())
    cases = [case for case in published["cases"] if "line" in case]
    for case in cases:
        metric = f"{case['type'].replace('rouge', 'Rouge')}(use_stemmer={case['stemmer']})"
        scores = result(metric, answered(right[case["line"]], predictions[case["line"]]))
        assert scores.value == pytest.approx(case["f"], abs=1e-5), case
    assert {(case["type"], case["stemmer"]) for case in cases} >= {
        ("rouge1", True),
        ("rouge2", True),
        ("rougeL", False),
    }
    for target, prediction, values in published["toy"]:
        for kind, (_, _, f) in values.items():
            if kind != "rougeLsum":
                metric = f"{kind.replace('rouge', 'Rouge')}(use_stemmer=False)"
                assert result(metric, answered(target, prediction)).value == pytest.approx(f, abs=1e-6)


@pytest.mark.parametrize("pairs", [300, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("stemmer", [True, False])
def test_rouge_is_that_of_rouge_score_on_random_pairs(stemmer: bool, pairs: int) -> None:
    draw = random.Random(f"rouge {stemmer}")
    cases = [([text(draw) for _ in range(draw.choice([1, 1, 2, 3]))], text(draw)) for _ in range(pairs)]
    cases = [([one for one in targets if one.strip()] or ["lamp"], prediction) for targets, prediction in cases]
    peer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stemmer)
    theirs = [peer.score_multi(targets, prediction) for targets, prediction in cases]
    for name in ("rouge1", "rouge2", "rougeL"):
        metric = parse_metric(f"{name}_answer")
        metric = type(metric)(use_stemmer=stemmer)  # type: ignore[call-arg]
        scores = result(metric, *(answered(*case) for case in cases))
        assert scores.per_sample == pytest.approx([one[name].fmeasure for one in theirs], abs=1e-12)
    assert len({round(one["rougeL"].fmeasure, 3) for one in theirs}) > pairs / 30


def test_rouge_compares_with_the_question_on_request() -> None:
    case = ({"query": "how long does it shine", "reference_answer": None}, {"response": "it shines how long"})
    peer = RougeScorer(["rougeL"], use_stemmer=True).score(case[0]["query"], case[1]["response"])["rougeL"]
    for name in ("rougeL_query", "RougeL(compare_to=query)"):
        metric = parse_metric(name)
        assert (metric.name, metric.category) == ("rougeL_query", "generation_relevance")
        assert result(metric, case).value == pytest.approx(peer.fmeasure)
    assert parse_metric("rougeL_answer").category == "generation_correctness"


# From sacrebleu's own tests (../shared/data/text-metrics/sacrebleu).
HYPOTHESES = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
REFERENCES = [
    ["The dog bit the man.", "The dog had bit the man."],
    ["It was not unexpected.", "No one was surprised."],
    ["The man bit him first.", "The man had bitten the dog."],
]
ROMANIAN = (
    "producţia de zahăr brut se exprimă în zahăr alb;",
    "Producția de zahăr primă va fi exprimată în ceea ce privește zahărul alb;",
)


@pytest.mark.parametrize(
    ("order", "value"), [(1, 77.65), (2, 60.50), (3, 53.93), (4, 48.530827), (5, 46.14), (6, 43.28)]
)
def test_bleu_is_that_of_the_tests_of_sacrebleu(order: int, value: float) -> None:
    cases = [answered(*case) for case in zip(REFERENCES, HYPOTHESES, strict=True)]
    assert result(f"BleuScore(max_order={order})", *cases).value == pytest.approx(value, abs=0.005)
    if order == 4:
        assert result("bleu", *cases).value == pytest.approx(value, abs=1e-6)
        assert result("BleuScore(smooth_method=none)", *cases).value == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("smoothing", "value"), [("exp", 8.493), ("none", 0), ("floor", 4.51688), ("add-k", 14.882)])
def test_bleu_smooths_as_sacrebleu_does(smoothing: str, value: float) -> None:
    scores = result(f"BleuScore(smooth_method={smoothing})", answered(*ROMANIAN))
    assert scores.value == pytest.approx(value, abs=1e-3)
    assert scores.per_sample == (pytest.approx(value, abs=1e-3),)


@pytest.mark.parametrize("smoothing", ["exp", "floor", "add-k", "none"])
def test_bleu_is_that_of_sacrebleu_on_random_corpora(smoothing: str) -> None:
    draw = random.Random(smoothing)
    for size in (1, 2, 5, 50, 150):
        order = draw.randint(1, 6)
        targets = [[text(draw) or "lamp" for _ in range(draw.randint(1, 3))] for _ in range(size)]
        targets = [[one for one in many if one.strip()] for many in targets]
        texts = [draw.choice([text(draw), many[0], f"{many[-1]} {text(draw, 4)}"]) for many in targets]
        streams = [[many[at] if at < len(many) else None for many in targets] for at in range(3)]
        metric = f"BleuScore(max_order={order}, smooth_method={smoothing})"
        scores = result(metric, *(answered(*case) for case in zip(targets, texts, strict=True)))
        peer = BLEU(max_ngram_order=order, smooth_method=smoothing).corpus_score(texts, streams)
        assert scores.value == pytest.approx(peer.score, abs=1e-9)
        sentence = BLEU(max_ngram_order=order, smooth_method=smoothing, effective_order=True)
        alone = [sentence.sentence_score(one, many).score for one, many in zip(texts, targets, strict=True)]
        assert scores.per_sample == pytest.approx(alone, abs=1e-9)


@given(
    cases=st.lists(
        st.tuples(st.lists(st.sampled_from(WORDS), min_size=1), st.lists(st.sampled_from(WORDS))), min_size=1
    )
)
def test_values_are_shares_and_the_whole_answer_has_the_highest(cases: list[tuple[list[str], list[str]]]) -> None:
    texts = [(" ".join(target), " ".join(prediction)) for target, prediction in cases]
    for metric in ("ExactMatch", "TokenF1", "Rouge1", "Rouge2", "RougeL"):
        scores = result(metric, *(answered(*case) for case in texts))
        assert all(0 <= value <= 1 for value in scores.per_sample if value is not None)
        swapped = result(metric, *(answered(prediction or "lamp", target) for target, prediction in texts))
        assert [a for a, (_, prediction) in zip(scores.per_sample, texts, strict=True) if prediction] == pytest.approx(
            [b for b, (_, prediction) in zip(swapped.per_sample, texts, strict=True) if prediction]
        )
    for target, _ in texts:
        assert result("TokenF1", answered(target, target)).value == pytest.approx(1)
        assert result("ExactMatch", answered(target, target.upper())).value == (
            target.upper().lower() == target.lower()
        )


EVIDENCE = [
    {"doc_id": "d1", "text": "The kit contains two spare rubber seals."},
    {"doc_id": "d2", "text": "Eight hours."},
]


@pytest.mark.parametrize(
    ("metric", "response", "value"),
    [
        ("EvidenceOverlapFaithfulness", "Two rubber boots", 2 / 3),
        ("EvidenceOverlapFaithfulness", "seals seals boots", 2 / 3),
        ("EvidenceOverlapFaithfulness(n=2)", "two spare boots", 1 / 2),
        ("EvidenceOverlapFaithfulness(top_k=1)", "eight seals", 1 / 2),
        ("EvidenceOverlapFaithfulness", "eight seals", 1),
        ("evidence_overlap_2", "eight hours", 1),
    ],
)
def test_evidence_overlap_by_hand(metric: str, response: str, value: float) -> None:
    case: tuple[Row, Row] = ({}, {"retrieved": EVIDENCE, "response": response})
    assert result(metric, case).value == pytest.approx(value)


def test_evidence_overlap_uses_relevant_documents_on_request() -> None:
    case = ({"relevant_docs": EVIDENCE[:1]}, {"retrieved": EVIDENCE[1:], "response": "rubber seals"})
    assert result("EvidenceOverlapFaithfulness", case).value == 0
    assert result("EvidenceOverlapFaithfulness(evidence_source=relevant)", case).value == 1


def test_evidence_overlap_skips_what_claims_nothing_or_has_no_evidence() -> None:
    scores = result(
        "EvidenceOverlapFaithfulness",
        ({}, {"retrieved": EVIDENCE, "response": "..."}),
        ({}, {"retrieved": ["d1"], "response": "seals"}),
        ({}, {"retrieved": EVIDENCE, "response": None}),
        ({}, {"retrieved": EVIDENCE, "response": "seals"}),
        ({}, None),
    )
    assert scores.per_sample == (None, None, None, 1.0, 0.0)
    assert scores.details["skipped"] == {"empty_answer": 1, "no_evidence": 1, "no_response": 1}


def test_evidence_overlap_tells_a_short_answer_from_an_empty_one() -> None:
    answers = [({}, {"retrieved": EVIDENCE, "response": text}) for text in ("", "No")]
    scores = result("EvidenceOverlapFaithfulness(n=2)", *answers)
    assert scores.details["skipped"] == {"empty_answer": 1, "short_answer": 1}


@given(words=st.lists(st.sampled_from("abc"), max_size=9), n=st.integers(1, 4))
def test_ngrams_are_all_neighbors(words: list[str], n: int) -> None:
    assert list(ngrams(words, n)) == [tuple(words[at : at + n]) for at in range(max(0, len(words) - n + 1))]
