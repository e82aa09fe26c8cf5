"""Tests of guidelines versions: template content, numbering, audit rows, safe differences."""

from __future__ import annotations

import pytest

from assay.core.errors import NotValid
from judgments.guidelines import guidelines
from judgments.models import AuditRow
from judgments.web.rich_text import markdown_html


@pytest.mark.parametrize("part", ["Intent", "The grades", "Edge cases", "Duplicates", "Freshness", "cannot judge"])
def test_template_has_the_part(part):
    assert part in guidelines.DEFAULT_TEMPLATE


@pytest.mark.parametrize("grade", [0, 1, 2, 3])
def test_template_shows_each_grade_with_an_example(grade):
    row = next(line for line in guidelines.DEFAULT_TEMPLATE.splitlines() if line.startswith(f"| {grade} |"))
    assert all(cell.strip() for cell in row.strip("|").split("|"))


def test_template_renders_as_a_table():
    assert "<table>" in markdown_html(guidelines.DEFAULT_TEMPLATE)


@pytest.mark.django_db
def test_versions_are_numbered_and_on_record(collection, lead):
    first = guidelines.add_version(collection, actor=lead, markdown="one\r\n")
    second = guidelines.add_version(collection, actor=lead, markdown="two")
    assert (first.number, first.markdown, second.number) == (1, "one\n", 2)
    assert guidelines.latest(collection) == second
    assert AuditRow.objects.filter(verb="guidelines.add_version").count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["", " \n ", "one", "one\r\n"])
def test_empty_or_unchanged_text_is_no_version(collection, lead, text):
    guidelines.add_version(collection, actor=lead, markdown="one")
    with pytest.raises(NotValid) as refused:
        guidelines.add_version(collection, actor=lead, markdown=text)
    assert "markdown" in refused.value.fields


@pytest.mark.django_db
def test_collection_without_guidelines_has_no_latest(collection):
    assert guidelines.latest(collection) is None


def test_difference_shows_what_changed_and_hostile_text_as_text():
    old = "\n".join(["# How to grade", *(f"line {number}" for number in range(20)), "A part: 1 at most."])
    new = old.replace("1 at most", "2 at most") + "\n<script>alert(1)</script>"
    html = guidelines.difference_of_texts(old, new)
    assert 'removed: </span>1</del><ins><span class="sr">added: </span>2</ins>' in html
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "19 lines unchanged" in html
    assert "line 19" in html
    assert "line 3" not in html
    assert guidelines.difference_of_texts(old, old + "\n") == ""
