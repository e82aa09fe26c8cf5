"""Does the text of others come out as prose, whatever it is made of?"""

from __future__ import annotations

import pytest

from judgments.richtext import LONGEST, clean_html, document_html


@pytest.mark.parametrize("begin", ["<p", "<a href=x ", "<span title='", "&lt;p"])
def test_beginnings_without_an_end_are_text(begin: str) -> None:
    html = document_html(begin * (LONGEST // len(begin)))
    assert html.startswith("<p>&lt;" if begin[0] == "<" else "<p>&")
    assert html.count("<") == 2


def test_markup_is_kept_and_what_runs_is_not() -> None:
    html = document_html('<p onclick="x()">A <b>fine</b> tent</p><script>x()</script><a href="javascript:x()">y</a>')
    assert html == '<p>A <b>fine</b> tent</p><a rel="noopener noreferrer nofollow">y</a>'


@pytest.mark.parametrize("html", ["<iframe src=x></iframe>", "<svg onload=x()></svg>", "<style>p{}</style>", "<form>"])
def test_nothing_but_prose(html: str) -> None:
    assert clean_html(html) == ""
