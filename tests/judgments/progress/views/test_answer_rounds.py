"""Tests of the words on pages of rounds of answers: question and answer, on the page but not in files."""

from __future__ import annotations

import pytest

from judgments.models import Round
from judgments.progress.views import PAIRS
from judgments.web.answer_words import worded

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Document id", "Answer id"),
        ("A document of a query", "An answer of a question"),
        ("20 pairs of 10 queries", "20 pairs of 10 questions"),
        ("documented", "documented"),
    ],
)
def test_words_follow_what_is_graded(text, expected):
    assert worded(text, Round(dimension="correct")) == expected
    assert worded(text, Round()) == text
    assert worded(text, None) == text


def test_list_keeps_its_keys():
    heads = PAIRS.worded_for(Round(dimension="faithful")).columns
    assert [column.key for column in heads] == [column.key for column in PAIRS.columns]
    assert {"Question", "Answer"} <= {column.title for column in heads}
