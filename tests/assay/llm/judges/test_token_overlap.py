"""Tests of the token overlap judge: Evret's rule step by step."""

from __future__ import annotations

import pytest

from assay.core.errors import NotValid
from assay.llm.judge import Context
from assay.llm.judges.token_overlap import TokenOverlap, matched, recall

QUERY = "What is RAG?"
EXPECTED = (
    "RAG combines retrieval with generation for better accuracy",
    "Retrieval-augmented generation improves LLM responses",
)
RETRIEVED = (
    "RAG is a technique that combines retrieval with generation",
    "Vector databases store embeddings",
)
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def context(expected: str, text: str, query: str = "") -> Context:
    return Context(query, text, (expected,))


def test_the_worked_example() -> None:
    judge = TokenOverlap(min_tokens=1, threshold=0.6)
    contexts = [Context(QUERY, text, (expected,)) for text in RETRIEVED for expected in EXPECTED]
    assert judge.batch_judge(contexts) == [True, False, False, False]
    assert [judge.grade(one) for one in contexts] == pytest.approx([5 / 8, 2 / 6, 0, 0])


def test_the_worked_example_has_half_the_recall() -> None:
    places = matched(TokenOverlap(min_tokens=1), QUERY, EXPECTED, RETRIEVED)
    assert places == [(0,), ()]
    assert recall(places, len(EXPECTED), 2) == 0.5


def test_with_the_defaults_the_example_shares_too_few_tokens() -> None:
    assert not TokenOverlap().judge(Context(QUERY, RETRIEVED[0], EXPECTED))
    assert TokenOverlap().grade(Context(QUERY, RETRIEVED[0], EXPECTED)) == 0.0


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("Pets are allowed!", "pets   ARE allowed"),
        ("pets are allowed", "Pets are allowed only in summer"),
        ("RAG combines retrieval", "rag"),
        ("refunds are possible", "no refunds are possible"),
        ("Straße", "STRASSE"),
    ],
)
def test_equal_and_contained_texts_match_whatever_the_numbers(expected: str, text: str) -> None:
    assert TokenOverlap().judge(context(expected, text))
    assert TokenOverlap().grade(context(expected, text)) == 1.0


@pytest.mark.parametrize(("expected", "text"), [("RAG combines retrieval", ""), ("RAG", " ?! "), ("...", "RAG")])
def test_an_empty_text_matches_nothing(expected: str, text: str) -> None:
    assert not TokenOverlap(min_tokens=0).judge(context(expected, text))


@pytest.mark.parametrize(("shared", "answer"), [(5, False), (6, True), (7, True)])
def test_the_threshold_is_reached_when_it_is_met(shared: int, answer: bool) -> None:
    text = " ".join([*WORDS[:shared], "other"])
    assert TokenOverlap(min_tokens=1).judge(context(" ".join(WORDS), text)) is answer


@pytest.mark.parametrize(("min_tokens", "answer"), [(7, True), (8, False)])
def test_too_few_shared_tokens_are_no_match(min_tokens: int, answer: bool) -> None:
    text = " ".join([*WORDS[:7], "other"])
    assert TokenOverlap(min_tokens=min_tokens).judge(context(" ".join(WORDS), text)) is answer


@pytest.mark.parametrize(
    ("shared", "query", "boost", "answer"),
    [
        (5, "alpha", True, True),
        (5, "vector search", True, False),
        (5, "alpha", False, False),
        (4, "alpha", True, False),
        (5, "kappa", True, False),  # expected, but not shared
    ],
)
def test_a_shared_token_of_the_query_relaxes_the_threshold(shared: int, query: str, boost: bool, answer: bool) -> None:
    text = " ".join([*WORDS[:shared], "other"])
    judge = TokenOverlap(min_tokens=1, query_boost=boost)
    assert judge.judge(context(" ".join(WORDS), text, query)) is answer


def test_the_relaxed_threshold_is_met_in_spite_of_rounding() -> None:
    judge = TokenOverlap(min_tokens=1, threshold=0.8)
    assert judge.judge(context("alpha beta gamma delta epsilon", "alpha beta gamma other", "alpha"))


def test_repeated_tokens_count_once() -> None:
    assert not TokenOverlap(min_tokens=2).judge(context("alpha beta", "alpha alpha alpha"))


def test_any_expected_answer_will_do() -> None:
    assert TokenOverlap(min_tokens=1).judge(Context(QUERY, RETRIEVED[0], EXPECTED[::-1]))


def test_without_an_expected_answer_there_is_nothing_to_match() -> None:
    with pytest.raises(NotValid, match="expected answer"):
        TokenOverlap().judge(Context(QUERY, RETRIEVED[0]))


@pytest.mark.parametrize("threshold", [0, -0.1, 1.1])
def test_a_threshold_is_a_share(threshold: float) -> None:
    with pytest.raises(NotValid, match="threshold"):
        TokenOverlap(threshold=threshold)


def test_a_text_is_credited_with_the_first_answer_or_with_all() -> None:
    answers = ["a stove", "tent", "two tents"]
    assert matched(TokenOverlap(), "tent", answers, ["two tents", "rope"]) == [(1,), ()]
    assert matched(TokenOverlap(), "tent", answers, ["two tents", "rope"], match="all") == [(1, 2), ()]


def test_there_is_no_third_way_to_match() -> None:
    with pytest.raises(NotValid, match="first or all"):
        matched(TokenOverlap(), "tent", ["a"], ["a"], match="best")  # type: ignore[arg-type]
