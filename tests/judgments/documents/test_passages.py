"""Tests of document passages: relevant text is shown with whole words and safe markup."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.sentences import ROOM
from judgments.documents.passages import COLLAPSED_FROM, WORD, Shown, fitting, shown
from judgments.models import Document
from judgments.web.rich_text import LONGEST

FILLER = "Here is a sentence about something else entirely. "
ALLOWED = {"p", "mark", "b", "i", "em", "strong", "a", "ul", "ol", "li", "br", "table", "tbody", "tr", "td", "th", "h2"}
EMPTY = {"br"}


def see(text: str, query: str = "rain jacket", **more: str) -> Shown:
    return shown(Document(doc_id="d", text=text, **more), query)


INLINE = {"a", "b", "code", "em", "i", "kbd", "mark", "s", "span", "strong", "sub", "sup", "u"}


class Checked(HTMLParser):
    """Reads HTML as it stands: each tag that is opened is closed, none is unknown, nothing runs."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.words = ""
        self.marked: list[str] = []
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED
        for name, value in attrs:
            assert name in {"dir", "href", "rel", "title", "colspan", "scope"}
            assert name != "href" or (value or "").startswith(("http://", "https://", "mailto:"))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag not in INLINE:
            self.words += "\n"

    def handle_data(self, data: str) -> None:
        self.words += data
        if self.open and self.open[-1] == "mark":
            self.marked.append(data)


def test_a_short_text_is_shown_whole():
    view = see("A rain jacket for children.")
    assert view.excerpt is None
    assert view.whole == "<p>A <mark>rain</mark> <mark>jacket</mark> for children.</p>"


def test_a_long_text_is_collapsed_to_what_matters_in_its_order():
    text = FILLER * 40 + "A rain jacket keeps you dry. " + FILLER * 60 + "Jackets of wool do not. " + FILLER * 40
    excerpt = str(see(text).excerpt)
    assert excerpt.index("keeps you dry") < excerpt.index("of wool")
    assert excerpt.startswith('<p dir="auto">… ')
    assert excerpt.endswith(" …</p>")
    assert len(Checked(excerpt).words) < ROOM * 1.5


def test_the_sentence_with_more_of_the_query_comes_before_one_with_less():
    text = "Rain again. " + (FILLER + "Rain. ") * 60 + "This jacket is for rain. " + FILLER * 20
    assert "This <mark>jacket</mark> is for <mark>rain</mark>." in str(see(text).excerpt)


def test_umlauts_endings_and_heads_of_compounds_match():
    text = FILLER * 40 + "Die Winterjacken sind groß. " + FILLER * 40
    excerpt = str(see(text, "Jacke GRÖSSE gross").excerpt)
    assert "<mark>Winterjacken</mark> sind <mark>groß</mark>" in excerpt


def test_excerpt_is_the_beginning_without_query_words():
    view = see("First of all. " + FILLER * 60, "zebra")
    assert str(view.excerpt).startswith('<p dir="auto">First of all. Here')
    assert "<mark>" not in str(view.excerpt)


def test_cells_of_a_table_and_lines_stay_apart():
    rows = "".join(f"<tr><th>Size {n}</th><td>fits {n}</td></tr>" for n in range(200))
    excerpt = str(see(f"<table>{rows}</table>", "size 7").excerpt)
    assert "<mark>Size</mark> 7 · fits 7</p>" in excerpt


def test_text_from_right_to_left_and_without_spaces_is_cut_as_text():
    arabic = "هذا معطف للمطر؟ " * 200
    assert str(see(arabic, "معطف").excerpt).count("<mark>معطف</mark>") > 1
    assert 100 < len(str(see("雨具は大切です。" * 400, "雨具").excerpt)) < 2 * ROOM
    assert "x" * 300 in str(see("x" * 5_000).excerpt)


@pytest.mark.parametrize(
    "text",
    ["<p></p><div><br></div>", "<script>let jacket = 1</script>", "<img src=x>", "<!-- jacket --><style>p{}</style>"],
)
def test_a_document_of_markup_only_says_so(text: str):
    view = see(text)
    assert "only markup" in view.unreadable
    assert "jacket" not in view.whole


def test_why_there_is_nothing_to_read():
    assert see(" ").unreadable == "This document has no text."
    assert "has not been imported" in shown(Document(doc_id="d", stub=True), "x").unreadable
    assert not see("<table><tr><td>1</td></tr></table>").unreadable


def test_five_megabytes_are_cut_before_they_are_read_and_scripts_do_not_use_them_up():
    view = see("word " * 1_000_000)
    assert view.cut
    assert view.length <= LONGEST
    page = "<html><style>" + "p { } " * 500_000 + "</style><p>A rain jacket.</p><script>" + "x" * 1_000_000
    assert see(page).whole == "<p>A <mark>rain</mark> <mark>jacket</mark>.</p>"
    assert not see(page).cut


def test_the_cut_leaves_words_and_tags_whole():
    cut = see("<p>" + '<a href="https://a.example/">jacket</a> ' * 10_000)
    assert cut.cut
    assert set(WORD.findall(Checked(str(cut.whole)).words)) == {"jacket"}


TAGS = ["<p>", "</p>", "<b>", "</b", "<script>", "<mark>", "<li>", "<td>", "<a href='javascript:x()'>"]
SIGNS = ["&amp;", "&", "<", ">", '"', "\n\n", ". ", "<a href='https://x.example' onclick=x>"]
PARTS = st.sampled_from(["rain", "Rain jacket", "größe", "x" * 400, FILLER, *TAGS, *SIGNS])
TEXTS = st.lists(st.one_of(PARTS, st.text(max_size=30)), max_size=120).map("".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.sampled_from(["rain", "Größe x"]))
def test_whatever_comes_in_well_formed_paragraphs_with_whole_words_marked_come_out(text: str, query: str):
    view = see(text, query)
    whole = Checked(str(view.whole))
    assert (view.excerpt is not None) == (view.length > COLLAPSED_FROM)
    if view.excerpt is not None:
        excerpt = Checked(str(view.excerpt))
        everything = " ".join(whole.words.split())
        assert excerpt.words
        assert all(word in everything for word in excerpt.words.split() if word not in {"…", "·"} and "·" not in word)
        assert all(fitting(word, query) for word in excerpt.marked)
    assert all(fitting(word, query) for word in whole.marked)
    for around in re.findall(r"(?:\w?)<mark>[^<]*</mark>(?:\w?)", html.unescape(str(view.whole))):
        assert around.startswith("<mark>")
        assert around.endswith("</mark>")
