"""Tests of highlighting: query words are marked in a document and nothing else changes."""

from __future__ import annotations

import pytest
from django.utils.safestring import SafeString

from judgments.documents import passages
from judgments.documents.passages import MOST_TERMS, highlight, highlight_text
from judgments.web.rich_text import document_html


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Größe GRÖSSE grosse", "größe", "<mark>Größe</mark> <mark>GRÖSSE</mark> <mark>grosse</mark>"),
        ("boots boot reboot", "boot", "<mark>boots</mark> <mark>boot</mark> reboot"),
        ("a be bee", "be", "a <mark>be</mark> bee"),
        ("cafe\u0301", "Café", "<mark>cafe\u0301</mark>"),
        ("東京 タワー", "東京", "<mark>東京</mark> タワー"),
        ("nothing here", "", "nothing here"),
        ("nothing here", "a ?", "nothing here"),
    ],
)
def test_words_match_without_case_accents_and_endings(text, query, marked):
    assert highlight_text(text, query) == marked


def test_tags_and_their_values_stay_as_they_are():
    html = SafeString('<a href="/boot" title="a > boot">boot</a>')
    assert highlight(html, "boot") == '<a href="/boot" title="a > boot"><mark>boot</mark></a>'


def test_character_references_stay_whole():
    assert highlight_text("Fish & chips < amp", "amp lt") == "Fish &amp; chips &lt; <mark>amp</mark>"


def test_script_does_not_come_back():
    marked = highlight(document_html("<p>boot</p><script>boot</script>"), "boot script")
    assert "<script" not in marked


def test_text_that_looks_like_a_tag_is_only_text():
    assert highlight_text("<mark>boot</mark>", "boot") == "&lt;mark&gt;<mark>boot</mark>&lt;/mark&gt;"


@pytest.mark.parametrize("many", [0, 100])
def test_many_words_are_marked_as_a_few_are(monkeypatch, many):
    """A text that is made of the query's words is searched word by word, and comes out the same."""
    monkeypatch.setattr(passages, "MANY", many)
    html = SafeString('<p title="jacke">Eine Regenjacke, Winterjacken &amp; jackett; jacke2, <b>Jacke</b></p>')
    assert passages.highlight(html, "jacke") == (
        '<p title="jacke">Eine <mark>Regenjacke</mark>, <mark>Winterjacken</mark> &amp; <mark>jackett</mark>; '
        "<mark>jacke2</mark>, <b><mark>Jacke</mark></b></p>"
    )
    text = "Regenjacke Winterjacken xRegenjacke Regenjackex"
    assert [position for position, _ in passages.whole_words(text, {"Regenjacke", "Winterjacken"})] == [0, 11]


def test_of_a_long_query_the_first_terms_are_looked_for():
    """A query of 2 kB against a document of 200 kB took seconds: every term was held against every word."""
    words = [f"term{number:03}x" for number in range(300)]
    marked = highlight_text(" ".join(words), " ".join(words))
    assert marked.count("<mark>") == MOST_TERMS
    assert "<mark>term000x</mark>" in marked


def test_letters_without_end_are_no_word():
    for letters in ("x" * 100_000 + "stiefel", "\ufdfa" * 50_000, "stiefel" * 20_000):
        assert "<mark>" not in highlight_text(letters, "Stiefel \ufdfa")
    assert "<mark>" in highlight_text("x" * 100 + "stiefel", "Stiefel")
