"""Tests of pairs that are rated again: their earlier grades and conflicts stay hidden from the lead."""

from __future__ import annotations

import uuid

import pytest
from django.urls import reverse

from judgments import adjudication, assignment, conflicts, examples, rounds, submission, untold
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


def test_an_example_is_no_way_to_ask_what_a_pair_was_settled_as(
    before, make_round, rater, rater2, rate_all, lead, api_of
):
    """The answer is one for settled and unsettled pairs: else the refusal would tell that somebody settled it."""
    again = make_round(raters=[lead, rater, rater2], queries=1, documents=2, ratings_per_pair=3, name="Again")
    rate_all(again, rater, grade=0)
    rate_all(again, rater2, grade=3)
    api, address = api_of(lead), f"/api/v1/collections/{before.collection.slug}/guidelines/examples/"
    for round_ in (before, again):
        one, other = round_.pairs.filter(query__query_id="q1").order_by("position")
        adjudication.settle(one, grade=2, reason="It is a part.", actor=rater)
        told = [api.post(address, {"pair": str(pair.uuid)}, format="json") for pair in (one, other)]
        assert [answer.status_code for answer in told] == [403, 403]
        assert told[0].content == told[1].content
    assert not examples.waiting(before.collection).exists()


def test_no_filter_tells_how_full_a_pair_is_that_the_lead_may_still_grade(make_round, rater, lead, engineer, client_of):
    """The column says that it is hidden; a list of the pairs that nobody has rated yet would say the rest."""
    round_ = make_round(raters=[lead, rater], queries=1, documents=3, name="Open")
    first, _ = assignment.claim_batch(round_, rater=rater, size=2)
    submission.submit(round_, submission.Answer(uuid.uuid4(), first.uuid, 3), rater=rater)
    page = f"{reverse('round_progress', args=[round_.uuid])}?format=csv&ratings="

    def listed(who, ratings):
        lines = b"".join(client_of(who).get(page + ratings).streaming_content).decode().splitlines()[1:]
        return len(lines)

    assert [listed(lead, ratings) for ratings in ("none", "some", "all", "")] == [0, 0, 0, 3]
    assert [listed(engineer, ratings) for ratings in ("none", "some", "all", "")] == [2, 1, 0, 3]


def test_no_coefficient_tells_a_grade_by_its_last_digits(before, again, lead, engineer, client_of, api_of):
    """Who knows the other grades computes a coefficient for every guess at those that are hidden."""

    def fractions(told):
        if isinstance(told, dict | list):
            parts = told.values() if isinstance(told, dict) else told
            return [one for part in parts for one in fractions(part)]
        return [told] if isinstance(told, float) else []

    def told(user):
        page = client_of(user).get(f"/rounds/{before.uuid}/agreement/?format=json").json()
        call = api_of(user).get(f"/api/v1/rounds/{before.uuid}/agreement/").json()
        return [fractions(page), fractions(call), page["gate"]["state"]]

    pages, calls, state = told(lead)
    assert all(one == round(one, 2) for one in [*pages, *calls])
    exact = told(engineer)
    assert any(one != round(one, 2) for one in exact[0])
    assert state == exact[2]
