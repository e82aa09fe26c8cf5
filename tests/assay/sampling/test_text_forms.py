"""Tests of text forms in bulk: same as for each text alone."""

from __future__ import annotations

import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.redaction import redact
from assay.sampling.query_normalization import normalized, redacted
from assay.sampling.row_counting import normalize

PARTS = [
    "tent",
    "İ",
    "Straße",
    "\u0301",
    "\u1100",
    "\u1161",
    "ﬁ",
    "\u00a8",
    "\u0345",
    "Σ",
    "\n",
    " ",
    "\u3000",
    "\x1f",
    "ＴＥ",
]
NAMES = [
    "12",
    "3456",
    "1.2",
    ".3.4",
    "4111 1111 1111 1111",
    "jo@example.org",
    "\n",
    " ",
    "-",
    "+49 30 901820",
    "x",
    "٣٤٥٦",
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=5).map("".join)) | st.lists(st.text(max_size=8)))
def test_normalized_as_each_by_itself(texts: list[str]) -> None:
    assert normalized(texts) == [normalize(text) for text in texts]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.sampled_from(NAMES), max_size=5).map("".join)))
def test_redacted_as_each_by_itself(texts: list[str]) -> None:
    shown, kinds = redacted(texts)
    expected = [redact(text) for text in texts]
    assert shown == [text for text, _ in expected]
    assert kinds == {place: value for place, (_, value) in enumerate(expected) if value}


def test_every_sign_that_python_takes_for_white_space_is_collapsed() -> None:
    spaces = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    assert normalized([f"a{space}{space}b" for space in spaces]) == ["a b"] * len(spaces)
