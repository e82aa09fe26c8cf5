"""Tests of detecting examples in guidelines, in several notations."""

from __future__ import annotations

import pytest

from evaluation.overview.method_checklist import examples_per_grade
from judgments.guidelines.guidelines import DEFAULT_TEMPLATE
from judgments.models.round import DEFAULT_GRADES

GRADES = [(value, label) for value, label, _ in DEFAULT_GRADES]


def test_template_has_one_a_grade():
    assert examples_per_grade(DEFAULT_TEMPLATE, GRADES) == {0: 1, 1: 1, 2: 1, 3: 1}


@pytest.mark.parametrize(
    "markdown",
    [
        "## 3 Perfect\n\nFor “tent”: a tent.\n",
        "## Perfect\n\nJust that, e.g. a tent for tent.\n",
        '- **Perfect (3)**: "tent" and a tent\n',
        "1. Grade 3: for example a tent\n",
        "| Grade | Example |\n|---|---|\n| 3 | a tent |\n",
    ],
)
def test_guideline_texts_with_examples(markdown):
    assert examples_per_grade(markdown, GRADES)[3] == 1


@pytest.mark.parametrize(
    "markdown",
    ["", "- 3 Perfect: all that fits\n", "| Grade | Example |\n|---|---|\n| 3 |  |\n", 'For "tent", a tent.\n'],
)
def test_guideline_texts_without_examples(markdown):
    assert examples_per_grade(markdown, GRADES)[3] == 0
