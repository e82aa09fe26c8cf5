"""Answers on a page: citations, marked sentences, long and empty passages, untrusted text."""

from __future__ import annotations

import re
from typing import Any

import pytest

from judgments.models import Document
from judgments.rounds.answer_tags import LONGEST_PASSAGE, render_answer


def shown(text: str, *passages: str, **fields: Any) -> Any:
    evidence = [{"doc_id": f"d{at}", "title": "", "text": one, "url": ""} for at, one in enumerate(passages, 1)]
    row = Document(kind=Document.Kind.ANSWER, doc_id="answer-1", text=text, evidence=evidence, **fields)
    return render_answer(row, "p-1", reference=True)


def links(html: str) -> list[str]:
    return re.findall(r'href="#([^"]*)"', html)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is dry [1].", ["p-1-1"]),
        ("It is dry [1][2].", ["p-1-1", "p-1-2"]),
        ("It is dry [1, 2; 1].", ["p-1-1", "p-1-2", "p-1-1"]),
        ("It is dry [0] [3] [1234] [x] [1.5] (1).", []),
        ("<p>It is <b>dry [2]</b></p>", ["p-1-2"]),
        ('<a href="https://shop.example/">Dry [1]</a> [2]', ["p-1-2"]),
        ('<a title="[1]" href="https://shop.example/?a=[1]">Dry</a>', []),
    ],
)
def test_citations_lead_to_passages_that_are_there(text: str, expected: list[str]) -> None:
    rendered = shown(text, "The shell is dry.", "It has a hood.")
    assert links(rendered.text) == expected
    assert {one.anchor for one in rendered.passages} == {"p-1-1", "p-1-2"}


def test_the_words_of_the_answer_stay_as_they_are() -> None:
    text = "Dry [1], and [9] warm [1; 2]."
    html = shown(text, "a", "b").text
    assert re.sub(r"<[^>]*>", "", html.replace('<span class="sr">Passage </span>', "")) == text


def test_sentences_that_support_the_answer_are_marked() -> None:
    rendered = shown("The shell is waterproof [1].", "It is blue. The shell is waterproof.", "It has a hood.")
    assert "<mark>The shell is waterproof.</mark>" in rendered.passages[0].whole
    assert "<mark>It is blue.</mark>" not in rendered.passages[0].whole
    assert [one.supports for one in rendered.passages] == [True, False]
    assert rendered.supports


def test_a_long_passage_begins_with_what_supports_the_answer() -> None:
    filler = "Some other sentence stands here. " * 60
    rendered = shown("The shell is waterproof.", f"{filler}The shell is waterproof. {filler}").passages[0]
    assert rendered.excerpt is not None
    assert "<mark>The shell is waterproof.</mark>" in rendered.excerpt
    assert rendered.excerpt.startswith('<p dir="auto">… ')
    assert rendered.excerpt.endswith(" …</p>")
    assert len(rendered.excerpt) < len(rendered.whole)


def test_only_truncated_texts_are_marked_as_cut() -> None:
    cut, whole, empty = shown("Dry.", "x " * LONGEST_PASSAGE, "A hood.", " ").passages
    assert (cut.cut, whole.cut, empty.cut) == (True, False, False)
    assert (empty.length, empty.whole, empty.excerpt) == (0, "", None)
    assert shown("word " * 50_000).cut


def test_untrusted_text_brings_nothing_along() -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>The shell is dry.<b onclick=x()>!</b>"
    rendered = shown(f"{evil} [1]", evil)
    everything = rendered.text + rendered.passages[0].whole
    assert not re.search(r"<script|onerror|onclick|<img|alert\(1\)", everything)
    plain = shown("1 < 2 & 3 > 2 [1]", "a <b & c> d").passages[0].whole
    assert "<b " not in plain


def test_the_reference_is_there_only_for_who_sees_it() -> None:
    row = Document(kind=Document.Kind.ANSWER, doc_id="a", text="Dry.", evidence=[], reference="Yes.")
    assert render_answer(row, "p", reference=True).reference == "Yes."
    assert render_answer(row, "p", reference=False).reference == ""
