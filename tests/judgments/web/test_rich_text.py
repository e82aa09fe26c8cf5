"""Tests of rich text: foreign markup is shown as safe prose, whatever it contains."""

from __future__ import annotations

import time

import pytest

from judgments.web.rich_text import LONGEST, clean_html, document_html


@pytest.mark.parametrize("begin", ["<p", "<a href=x ", "<span title='", "&lt;p"])
def test_beginnings_without_an_end_are_text(begin: str) -> None:
    html = document_html(begin * (LONGEST // len(begin)))
    assert html.startswith("<p>&lt;" if begin[0] == "<" else "<p>&")
    assert html.count("<") == 2


def test_markup_stays_and_active_content_is_removed() -> None:
    html = document_html('<p onclick="x()">A <b>fine</b> tent</p><script>x()</script><a href="javascript:x()">y</a>')
    assert html == '<p>A <b>fine</b> tent</p><a rel="noopener noreferrer nofollow">y</a>'


@pytest.mark.parametrize("html", ["<iframe src=x></iframe>", "<svg onload=x()></svg>", "<style>p{}</style>", "<form>"])
def test_nothing_but_prose(html: str) -> None:
    assert clean_html(html) == ""


WORDS = "<p>x</p>" * 2_000


@pytest.mark.parametrize(
    "opened",
    [
        "".join(f"<b id={number}>" for number in range(1_000)),
        "".join(f"<b id={number}></i>" for number in range(1_000)),  # what closes another one closes nothing
        "".join(f'<b id={number} title="<">' for number in range(1_000)),
        "".join(f"<FONT/{number}>" for number in range(1_000)),
    ],
)
def test_formatting_that_never_ends_is_not_repeated_in_every_paragraph(opened: str) -> None:
    shown = document_html(f"<div>{opened}</div>{WORDS}")
    assert len(shown) < 10 * len(opened + WORDS)
    assert shown.count("x") >= 2_000


def test_formatting_as_people_write_it_stays() -> None:
    nested = "<p><b><i><u>one</u></i></b> <b>two</b></p>" * 100
    assert document_html(nested) == nested


@pytest.mark.parametrize("markup", ["<div>", "<section></p></x>", "<blockquote><p>", "<ul><li>"])
def test_deeply_nested_markup_is_text(markup: str) -> None:
    # A parser looks through all that is open at every tag: a batch of such documents would take minutes.
    began = time.process_time()
    html = document_html(("<p>Tent.</p>" + markup * 40_000)[:LONGEST])
    assert time.process_time() - began < 1
    assert html.startswith("&lt;p&gt;Tent.")


def test_markup_as_deep_as_pages_are_stays_markup() -> None:
    assert document_html("<div>" * 200 + "<b>Tent.</b>" + "</div>" * 200) == "<b>Tent.</b>"
    assert document_html("<div>x</div><br>" * 1_000).count("<br>") == 1_000
    assert document_html("<p>x<br>" * 1_000).count("<p>") == 1_000
