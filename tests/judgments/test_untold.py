"""Is a pair that is rated again rated blind, on the pages of the round that held it before too?"""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments import adjudication, conflicts, examples, rounds, untold
from judgments.models import Pair

pytestmark = pytest.mark.django_db


@pytest.fixture
def before(make_round, rater, rater2, rate_all, lead):
    """A closed round of four pairs, each a conflict."""
    round_ = make_round(raters=[rater, rater2], queries=2, documents=2, name="Before")
    rate_all(round_, rater, grade=0)
    rate_all(round_, rater2, grade=3)
    return rounds.close_round(round_, actor=lead)


@pytest.fixture
def again(make_round, before, lead):
    """An open round of two of them, which the lead rates too."""
    return make_round(raters=[lead], queries=1, documents=2, name="Again")


def shown(round_, who):
    return set(conflicts.in_conflict(round_, viewer=who).values_list("document__doc_id", flat=True))


def test_conflicts_of_the_closed_round_wait_until_the_lead_has_rated_them(before, again, lead, engineer, rate_all):
    assert shown(before, lead) == {"d2-1", "d2-2"}
    assert shown(before, engineer) == {"d1-1", "d1-2", "d2-1", "d2-2"}
    assert set(untold.untold_pairs(lead, before).values_list("document__doc_id", flat=True)) == {"d1-1", "d1-2"}
    rate_all(again, lead, grade=1)
    assert shown(before, lead) == {"d1-1", "d1-2", "d2-1", "d2-2"}


def test_neither_pages_nor_programs_tell(before, again, lead, engineer, client_of, api_of):
    hidden, free = before.pairs.get(document__doc_id="d1-1"), before.pairs.get(document__doc_id="d2-1")
    browser, api = client_of(lead), api_of(lead)
    assert browser.get(reverse("conflict", args=[before.uuid, hidden.uuid])).status_code == 403
    assert browser.get(reverse("conflict", args=[before.uuid, free.uuid])).status_code == 200
    settle = f"/api/v1/rounds/{before.uuid}/conflicts/{hidden.uuid}/settle/"
    assert api.post(settle, {"grade": 1, "reason": "x"}, format="json").status_code == 403
    told = api.get(f"/api/v1/rounds/{before.uuid}/conflicts/").json()["results"]
    assert {row["document"]["id"] for row in told} == {"d2-1", "d2-2"}
    page = reverse("round_progress", args=[before.uuid])
    assert browser.get(page).content.decode().count("hidden: you may still grade it") == 2
    assert "hidden: you may still grade it" not in client_of(engineer).get(page).content.decode()


def test_means_over_labels_that_the_lead_still_gives_are_kept_back(before, again, lead, rate_all):
    assert not untold.may_be_told_means(lead, before)
    rate_all(again, lead, grade=1)
    assert untold.may_be_told_means(lead, before)


def test_waiting_examples_do_not_tell_either(before, make_round, lead, engineer, client_of):
    settled = adjudication.settle(
        before.pairs.get(document__doc_id="d1-1"), grade=2, reason="It is a part.", actor=lead
    )
    examples.propose(settled, actor=lead)
    make_round(raters=[lead], queries=1, documents=1, name="Again")
    page = reverse("guidelines", args=[before.collection.slug])
    assert "It is a part." not in client_of(lead).get(page).content.decode()
    assert "It is a part." in client_of(engineer).get(page).content.decode()


def test_a_document_that_says_the_same_is_not_told(before, again, lead):
    twin = before.pairs.get(document__doc_id="d2-1")
    twin.document.doc_id, twin.document.title = "d1-1-copy", "the same again"
    twin.document.save()
    Pair.objects.filter(pk=twin.pk).update(query=again.pairs.first().query)
    assert "d1-1-copy" in shown(before, lead)
    Pair.objects.filter(round=again, document__doc_id="d1-1").update(origin={"copies": [{"doc_id": "d1-1-copy"}]})
    assert "d1-1-copy" not in shown(before, lead)
