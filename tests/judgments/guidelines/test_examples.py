"""Tests of guideline examples: a resolved pair is proposed once and placed under the right heading."""

from __future__ import annotations

import pytest
from django.urls import reverse

from assay.core.errors import Conflict, NotValid
from judgments.agreement import resolutions
from judgments.guidelines import examples, guidelines
from judgments.guidelines.views import written_into
from judgments.models import Example
from judgments.web.rich_text import markdown_html


def example(grade=2, label="Good", query="tent", document="Tarp", reason="It shelters."):
    return Example(pk=1, query_text=query, document_text=document, grade=grade, label=label, reason=reason)


LINE = "- “tent”: **Tarp** is 2. It shelters."


@pytest.mark.parametrize(
    "heading", ["## Grade 2", "### 2 Good", "#### Good", "## 2: Good", "## GOOD (2) ##", "# grade 2"]
)
def test_the_heading_that_names_the_grade_gets_it(heading):
    text = f"# How\n\n## Edge cases\n\n- one\n\n{heading}\n\n- there\n\n## After\n\nwords\n"
    assert written_into(text, [example()]) == text.replace("- there\n", f"- there\n{LINE}\n")


@pytest.mark.parametrize("heading", ["## Grade 20", "## 2 cases", "## Goodness", "```\n## Grade 2\n```"])
def test_a_heading_that_says_something_else_does_not(heading):
    written = written_into(f"{heading}\n\nwords\n", [example()])
    assert written.startswith(f"{heading}\n\nwords\n\n## Examples\n\n### 2 Good\n\n{LINE}\n")


def test_without_such_a_heading_examples_follow_the_edge_cases_by_grade():
    two = [example(), example(grade=0, label="Poor", query="stove")]
    written = written_into(guidelines.DEFAULT_TEMPLATE, two)
    edge, rest = written.split("## Examples")
    assert "## Edge cases" in edge
    assert "## Duplicates" in rest
    assert rest.index("### 2 Good") < rest.index("### 0 Poor") < rest.index("## Duplicates")
    # Written once more, both find their sections.
    again = written_into(written, two)
    assert again.count("### 2 Good") == again.count("## Examples") == 1
    assert again.count(LINE) == 2


def test_titles_are_escaped():
    html = markdown_html(written_into("", [example(document="<b>*x*</b> [a](http://b) | `c`", query="# q_1_\n- y")]))
    assert "&lt;b&gt;*x*&lt;/b&gt; [a](http://b) | `c`" in html
    assert "“# q_1_ - y”" in html
    assert "<a " not in html


@pytest.fixture
def settled(make_round, rater, rater2, rate_all, lead):
    round_ = make_round(raters=[rater, rater2], queries=1, documents=2)
    rate_all(round_, rater, grade=0)
    rate_all(round_, rater2, grade=3)
    return [
        resolutions.resolve(pair, grade=2, cause="guidelines", reason="A part.", actor=lead)
        for pair in round_.pairs.all()
    ]


@pytest.mark.django_db
def test_an_example_waits_until_a_version_holds_it(collection, settled, lead):
    first, second = (examples.propose(one, actor=lead) for one in settled)
    assert examples.propose(settled[0], actor=lead) == first
    assert (first.grade, first.label, first.reason) == (2, "Good", "A part.")
    version = guidelines.add_version(collection, markdown="New", actor=lead, written=[first])
    assert list(version.examples.all()) == [first]
    assert list(examples.pending_examples(collection)) == [second]
    with pytest.raises(Conflict, match="which cannot change"):
        examples.remove(first, actor=lead)
    with pytest.raises(NotValid):
        guidelines.add_version(collection, markdown="Newer", actor=lead, written=[first])
    assert collection.guidelines.count() == 2
    examples.remove(second, actor=lead)
    assert not examples.pending_examples(collection).exists()


@pytest.mark.django_db
def test_the_newer_resolution_replaces_the_older(collection, settled, lead):
    examples.propose(settled[0], actor=lead)
    anew = resolutions.resolve(settled[0].pair, grade=1, reason="Thought again.", actor=lead)
    with pytest.raises(Conflict, match="newer resolution"):
        examples.propose(settled[0], actor=lead)
    examples.propose(anew, actor=lead)
    assert [one.grade for one in examples.pending_examples(collection)] == [1]


@pytest.mark.django_db
def test_examples_on_pages_and_by_program(collection, settled, lead, engineer, client_of, api_of):
    pair, browser, api = settled[0].pair, client_of(lead), api_of(lead)
    page = reverse("conflict", args=[pair.round.uuid, pair.uuid])
    assert "Use as example" in browser.get(page).content.decode()
    browser.post(f"{page}example/", {"act": "propose"})
    assert "is a proposed example" in browser.get(page).content.decode()
    browser.post(f"{page}example/", {"act": "remove"})
    assert not Example.objects.exists()
    address = "/api/v1/collections/shop/guidelines/examples/"
    body = api.post(address, {"pair": str(pair.uuid)}, format="json").json()
    assert (body["grade"], body["document"], body["version"]) == (2, str(pair.document), None)
    form = browser.get(reverse("guidelines_new", args=["shop"])).context["form"]
    assert "### 2 Good" in form.initial["markdown"]
    assert api.delete(f"{address}{body['id']}/").status_code == 204
    browser.post(page, {"grade": 3, "reason": "So.", "example": "on"})
    made = examples.pending_examples(collection).get()
    form_data = {"markdown": "# New", "examples": [str(made.uuid)]}
    browser.post(reverse("guidelines_new", args=["shop"]), form_data)
    assert api.get(address).json()["results"][0]["version"] == 2
    assert api.delete(f"{address}{made.uuid}/").status_code == 409


@pytest.mark.django_db
def test_the_color_of_an_examples_grade_is_that_of_its_scale(
    make_round, rater, rater2, rate_all, lead, client_of, collection, django_assert_max_num_queries
):
    """The highest grade of a scale of two has the color of the highest; beside 3 it would look like a poor one."""
    round_ = make_round(
        raters=[rater, rater2], queries=1, documents=4, grades=[(0, "No", ""), (1, "Yes", "")], name="Yes or no"
    )
    rate_all(round_, rater, grade=0)
    rate_all(round_, rater2, grade=1)
    made = [
        examples.propose(resolutions.resolve(pair, grade=1, reason="It fits.", actor=lead), actor=lead)
        for pair in round_.pairs.all()
    ]
    page = reverse("guidelines", args=[collection.slug])
    assert client_of(lead).get(page).content.decode().count('data-eighth="8">1<') == 4
    version = guidelines.add_version(collection, markdown="Grade by what fits.", actor=lead, written=made)
    assert [one.top for one in examples.written_in(version)] == [1, 1, 1, 1]
    with django_assert_max_num_queries(3):
        assert {one.top for one in examples.written_in(version)} == {1}
    shown = client_of(lead).get(reverse("guidelines_version", args=[version.uuid])).content.decode()
    assert shown.count('data-eighth="8">1<') == 4
