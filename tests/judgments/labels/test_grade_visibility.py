"""Tests of pairs that are rated again: their earlier grades and conflicts stay hidden from the lead."""

from __future__ import annotations

import uuid

import pytest
from django.urls import reverse

from judgments.agreement import conflicts, resolutions, round_report
from judgments.agreement.agreement_summary import AgreementSummary
from judgments.guidelines import examples
from judgments.labels import grade_visibility
from judgments.models import Pair
from judgments.rating import assignment, submission
from judgments.rounds import rounds

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
    assert set(grade_visibility.pairs_with_hidden_grades(lead, before).values_list("document__doc_id", flat=True)) == {
        "d1-1",
        "d1-2",
    }
    rate_all(again, lead, grade=1)
    assert shown(before, lead) == {"d1-1", "d1-2", "d2-1", "d2-2"}


def test_pages_and_api_hide_the_grades(before, again, lead, engineer, client_of, api_of):
    hidden, free = before.pairs.get(document__doc_id="d1-1"), before.pairs.get(document__doc_id="d2-1")
    browser, api = client_of(lead), api_of(lead)
    assert browser.get(reverse("conflict", args=[before.uuid, hidden.uuid])).status_code == 403
    assert browser.get(reverse("conflict", args=[before.uuid, free.uuid])).status_code == 200
    for name in ("resolve", "settle"):
        resolve = f"/api/v1/rounds/{before.uuid}/conflicts/{hidden.uuid}/{name}/"
        assert api.post(resolve, {"grade": 1, "reason": "x"}, format="json").status_code == 403
    rows = api.get(f"/api/v1/rounds/{before.uuid}/conflicts/").json()["results"]
    assert {row["document"]["id"] for row in rows} == {"d2-1", "d2-2"}
    page = reverse("round_progress", args=[before.uuid])
    assert browser.get(page).content.decode().count("hidden: you may still grade it") == 2
    assert "hidden: you may still grade it" not in client_of(engineer).get(page).content.decode()


def test_means_over_hidden_labels_are_hidden(before, again, lead, rate_all):
    assert not grade_visibility.means_visible(lead, before)
    rate_all(again, lead, grade=1)
    assert grade_visibility.means_visible(lead, before)


def test_pending_examples_hide_the_grades(before, make_round, lead, engineer, client_of):
    settled = resolutions.resolve(
        before.pairs.get(document__doc_id="d1-1"), grade=2, reason="It is a part.", actor=lead
    )
    examples.propose(settled, actor=lead)
    make_round(raters=[lead], queries=1, documents=1, name="Again")
    page = reverse("guidelines", args=[before.collection.slug])
    assert "It is a part." not in client_of(lead).get(page).content.decode()
    assert "It is a part." in client_of(engineer).get(page).content.decode()


def test_duplicates_of_open_pairs_are_hidden(before, again, lead):
    twin = before.pairs.get(document__doc_id="d2-1")
    twin.document.doc_id, twin.document.title = "d1-1-copy", "the same again"
    twin.document.save()
    Pair.objects.filter(pk=twin.pk).update(query=again.pairs.first().query)
    assert "d1-1-copy" in shown(before, lead)
    Pair.objects.filter(round=again, document__doc_id="d1-1").update(origin={"copies": [{"doc_id": "d1-1-copy"}]})
    assert "d1-1-copy" not in shown(before, lead)


def test_examples_do_not_reveal_resolutions(before, make_round, rater, rater2, rate_all, lead, api_of):
    """The answer is one for settled and unsettled pairs: else the refusal would tell that somebody settled it."""
    again = make_round(raters=[lead, rater, rater2], queries=1, documents=2, ratings_per_pair=3, name="Again")
    rate_all(again, rater, grade=0)
    rate_all(again, rater2, grade=3)
    api, address = api_of(lead), f"/api/v1/collections/{before.collection.slug}/guidelines/examples/"
    for round_ in (before, again):
        one, other = round_.pairs.filter(query__query_id="q1").order_by("position")
        resolutions.resolve(one, grade=2, reason="It is a part.", actor=rater)
        values_seen_by = [api.post(address, {"pair": str(pair.uuid)}, format="json") for pair in (one, other)]
        assert [answer.status_code for answer in values_seen_by] == [403, 403]
        assert values_seen_by[0].content == values_seen_by[1].content
    assert not examples.pending_examples(before.collection).exists()


def test_filters_do_not_reveal_ratings_of_open_pairs(make_round, rater, lead, engineer, client_of):
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


def fractions(body):
    if isinstance(body, dict | list):
        parts = body.values() if isinstance(body, dict) else body
        return [one for part in parts for one in fractions(part)]
    return [body] if isinstance(body, float) else []


def agreement_seen_by(client, api, round_):
    page = f"/rounds/{round_.uuid}/agreement/"
    assert client.get(page).status_code == 200
    file = client.get(page + "?format=csv").content
    return client.get(page + "?format=json").json(), api.get(f"/api/v1{page}").json(), file


def test_coefficients_are_rounded_to_hide_grades(before, again, lead, engineer, client_of, api_of, monkeypatch):
    """Who knows the other grades computes a coefficient for every guess at those that are hidden."""
    monkeypatch.setattr(grade_visibility, "LEAST_PAIRS", 4)
    page, call, _ = agreement_seen_by(client_of(lead), api_of(lead), before)
    seen = [*fractions(page), *fractions(call)]
    assert len(seen) > 10
    assert all(one == round(one, 2) for one in seen)
    exact, _, _ = agreement_seen_by(client_of(engineer), api_of(engineer), before)
    assert any(one != round(one, 2) for one in fractions(exact))
    assert page["gate"]["state"] == exact["gate"]["state"]


def test_agreement_over_few_pairs_is_withheld(make_round, rater, rater2, lead, engineer, client_of, api_of, rate_all):
    """Two digits of each coefficient of a small report reveal the grades of its last hidden pair."""

    def seen_with(first, second, known):
        name = f"Grades {first} {second} {known}"
        round_ = make_round(raters=[rater, rater2], queries=2, documents=2, name=name)
        for who, own, others in ((rater, first, known), (rater2, second, 2)):
            rate_all(round_, who, grade=lambda pair, own=own, others=others: own if is_last(pair) else others)
        rounds.close_round(round_, actor=lead)
        seen = {}
        make_round(raters=[lead], queries=1, documents=2, name=f"Again {name}")
        for who in (lead, engineer):
            page, call, file = agreement_seen_by(client_of(who), api_of(who), round_)
            for body in (page, call):
                del body["gate" if "round" in body else "computed_at"], body["newer"]
                body.pop("round", None)
                body.pop("gate", None)
            gate = AgreementSummary(round_, round_report.look(round_), who).gate.as_json()
            seen[who] = page, call, file, gate
        return seen

    def is_last(pair):
        return pair.document.doc_id == "d1-1"

    for known in (1, 2):  # with 2 all grades may be the same, which leaves the coefficients undefined
        cases = [seen_with(*grades, known) for grades in ((2, 2), (0, 3), (1, 1))]
        assert all(one[lead] == cases[0][lead] for one in cases)
        assert any(one[engineer] != cases[0][engineer] for one in cases)
