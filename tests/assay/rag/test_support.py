"""Sentences of the evidence that support an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sentences import sentences
from assay.rag.support import MOST_ANSWER_SENTENCES, MOST_EVIDENCE_SENTENCES, supported_sentences

EVIDENCE = "The shell weighs 300 g. It is waterproof to 20,000 mm of water. The zip is blue."


def marked(answer: str, *passages: str) -> list[list[str]]:
    """The supporting sentences of each passage, as text."""
    result = supported_sentences(answer, passages)
    return [[text[slice(*span)] for span in spans] for text, spans in zip(passages, result, strict=True)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is waterproof to 20,000 mm.", ["It is waterproof to 20,000 mm of water."]),
        ("The shell weighs 300 g [1]. The zip is blue [2].", ["The shell weighs 300 g.", "The zip is blue."]),
        ("THE ZIP IS BLUE", ["The zip is blue."]),
        # Common words alone are no support, and neither is one word of several.
        ("The tent is large.", []),
        ("Blue whales live in oceans.", []),
        ("", []),
        ("[1]", []),
        ("...", []),
    ],
)
def test_sentences_that_share_the_words_are_marked(answer: str, expected: list[str]) -> None:
    assert marked(answer, EVIDENCE) == [expected]


def test_an_answer_of_one_word_is_marked() -> None:
    assert marked("Paris.", "The capital of France is Paris. Lyon is a city.") == [["The capital of France is Paris."]]


def test_each_passage_marks_its_best_sentence_and_says_for_which_sentences() -> None:
    answer = "The zip is blue. It is waterproof to 20,000 mm."
    first, second, third = supported_sentences(answer, [EVIDENCE, "The zip is blue and long.", ""])
    assert sorted(first.values()) == [(1,), (2,)]
    assert list(second.values()) == [(1,)]
    assert third == {}


def test_scripts_without_spaces_are_compared_by_neighboring_letters() -> None:
    assert marked("这件夹克是防水的。", "这件夹克的颜色是蓝色。这件夹克是完全防水的。") == [["这件夹克是完全防水的。"]]


TEXT = st.lists(st.sampled_from(["shell", "zip", "rain", "the", "is", "blue", "dry", "7"]), min_size=1, max_size=8)


@given(st.lists(TEXT, min_size=1, max_size=5), st.lists(st.lists(TEXT, max_size=5), max_size=4))
def test_marks_are_sentences_and_a_copied_sentence_is_marked(
    answer: list[list[str]], passages: list[list[list[str]]]
) -> None:
    parts = [" ".join(words) + "." for words in answer]
    texts = [" ".join(" ".join(words) + "." for words in passage) for passage in passages]
    result = supported_sentences(" ".join(parts), texts)
    for text, marks in zip(texts, result, strict=True):
        assert set(marks) <= set(sentences(text))
        covered = {number for numbers in marks.values() for number in numbers}
        copied = {
            number for number, one in enumerate(parts, 1) if one in [text[slice(*span)] for span in sentences(text)]
        }
        assert copied <= covered <= set(range(1, len(parts) + 1))
    # Passages are compared on their own: their order changes nothing.
    assert supported_sentences(" ".join(parts), texts[::-1]) == result[::-1]


def test_sentences_beyond_the_limits_are_not_compared() -> None:
    answer = " ".join(f"The shell number {at} is blue and dry." for at in range(3_000))
    passages = [" ".join(f"The shell number {at} is dry and blue." for at in range(300)) for _ in range(100)]
    result = supported_sentences(answer, passages)
    compared = -(-MOST_EVIDENCE_SENTENCES // 300)
    assert all(result[: MOST_EVIDENCE_SENTENCES // 300])
    assert not any(result[compared:])
    assert max(number for passage in result for numbers in passage.values() for number in numbers) <= (
        MOST_ANSWER_SENTENCES
    )
