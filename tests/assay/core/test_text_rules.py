"""Tests of id validation: allowed ids, refused ids, lookalike characters."""

from __future__ import annotations

import pytest

from assay.core.text_rules import id_fault, is_unusual


@pytest.mark.parametrize("text", ["007", "a#b", "é", "日本", "my\u00a0doc", "x" * 500, "a%b", "😀"])
def test_good_ids(text: str):
    assert id_fault(text, spaces=False) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "E11"), ("a b", "E15"), ("a\tb", "E15"), ("a\x00b", "E19"), ("a\x85b", "E19"), ("x" * 501, "E21")],
)
def test_bad_ids(text: str, code: str):
    fault = id_fault(text, spaces=False)
    assert fault is not None
    assert fault[0] == code


def test_spaces_are_fine_where_the_format_carries_them():
    assert id_fault("my doc") is None
    assert id_fault("my\tdoc") == ("E19", "contains the control character U+0009")


def test_half_a_surrogate_pair_is_no_id():
    assert id_fault("a\ud800") == ("E19", "contains the control character U+D800")


def test_look_alikes_are_flagged():
    assert not is_unusual("plain doc")
    assert is_unusual("a\u2003b")
