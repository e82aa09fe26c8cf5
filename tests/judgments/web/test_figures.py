"""Tests of the figure tags: grades, intervals, minus signs, reasons, escaping."""

from __future__ import annotations

import pytest
from django.template import Context, Template

from judgments.web import figures


@pytest.mark.parametrize(
    ("value", "top", "expected"),
    [
        (2, 3, '<span class="grade" data-grade="2">2</span>'),
        (3, 4, '<span class="grade" data-eighth="6">3</span>'),
        (0, 100, '<span class="grade" data-eighth="0">0</span>'),
        (100, 100, '<span class="grade" data-eighth="8">100</span>'),
        (1, 1, '<span class="grade" data-eighth="8">1</span>'),
    ],
)
def test_grade_prints_its_digit_on_the_ramp(value, top, expected):
    assert figures.grade(value, top) == expected


def test_a_hole_is_shown_as_unjudged():
    assert "unjudged" in figures.grade(None)


def test_label_of_a_grade_is_escaped():
    assert "&lt;b&gt;" in figures.grade(1, 3, "<b>")


def test_interval_without_bounds_keeps_its_n():
    assert figures.interval(0.5, n=1798) == '0.500 <span class="muted">(1,798 pairs)</span>'


def test_negative_value_has_a_minus():
    assert figures.interval(-0.25) == "−0.250"


def test_reason_is_escaped():
    assert "&lt;x&gt;" in figures.interval(None, reason="<x>")


def test_tags_work_in_a_template():
    text = "{{ 1234|number }} {% state 'done' 'read' %} {{ 0.714|percent }}"
    assert Template(text).render(Context()) == '1,234 <span class="state" data-state="done">read</span> 71%'
