"""Tests of the conflict pages: list, filters, resolution with a reason, visibility."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.agreement import conflicts
from judgments.agreement import conflicts as conflict_effects
from judgments.hooks import ConflictAppraiser
from judgments.models import Adjudication
from judgments.rating import assignment, submission
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
@cached_fixture
def differing(make_round, rater, rater2, rate_all):
    """A round of six pairs with a conflict of three steps, one of one step, and four agreements."""
    round_ = make_round(raters=[rater, rater2])
    rate_all(round_, rater, grade=lambda pair: {0: 0, 3: 1}.get(pair.position, 2))
    rate_all(round_, rater2, grade=lambda pair: {0: 3}.get(pair.position, 2))
    return round_


def address(round_, position=None):
    if position is None:
        return reverse("conflicts", args=[round_.uuid])
    return reverse("conflict", args=[round_.uuid, round_.pairs.get(position=position).uuid])


def test_list_has_the_widest_first(client_of, differing, lead):
    rows = client_of(lead).get(address(differing)).context["listing"].rows
    assert [(row.position, row.spread) for row in rows] == [(0, 3), (3, 1)]


def test_list_narrows_by_steps_and_state(client_of, differing, lead):
    client = client_of(lead)
    client.post(address(differing, 0), {"grade": 1, "reason": "Because."})
    counts = {
        query: client.get(address(differing) + query).context["listing"].count
        for query in ("?steps=2", "?settled=open", "?settled=settled")
    }
    assert counts == {"?steps=2": 1, "?settled=open": 1, "?settled=settled": 1}


def test_no_conflict_is_good_news(client_of, make_round, lead, rater):
    round_ = make_round(raters=[rater])
    assert "No conflict" in client_of(lead).get(address(round_)).content.decode()


def test_conflict_shows_grades_and_notes_under_pseudonyms(client_of, differing, lead, rater):
    html = client_of(lead).get(address(differing, 0)).content.decode()
    main = html.split("<main")[1]
    assert differing.raters.get(user=rater).pseudonym in main
    assert rater.username not in main


def test_resolving_leads_to_the_next_conflict_then_to_the_list(client_of, differing, lead):
    client = client_of(lead)
    first = client.post(address(differing, 0), {"grade": 1, "reason": "Half of it."})
    assert first.url == address(differing, 3)
    second = client.post(address(differing, 3), {"grade": 2, "reason": "All of it."})
    assert second.url == address(differing)
    assert [row.grade for row in Adjudication.objects.order_by("pk")] == [1, 2]


def test_resolving_needs_grade_and_reason(client_of, differing, lead):
    response = client_of(lead).post(address(differing, 0), {"reason": ""})
    assert response.status_code == 422
    assert set(response.context["form"].errors) == {"grade", "reason"}
    assert not Adjudication.objects.exists()


def test_grade_off_the_scale_is_refused(client_of, differing, lead):
    assert client_of(lead).post(address(differing, 0), {"grade": 9, "reason": "x"}).status_code == 422


def test_resolving_again_stores_both(client_of, differing, lead):
    client = client_of(lead)
    for grade in (1, 2):
        client.post(address(differing, 0), {"grade": grade, "reason": "So."})
    assert Adjudication.objects.count() == 2
    html = client.get(address(differing, 0)).content.decode()
    assert '<h2 id="settled">Resolved</h2><span class="grade" data-grade="2">' in html


def test_pair_without_conflict_gives_404(client_of, differing, lead):
    assert client_of(lead).get(address(differing, 1)).status_code == 404


def test_conflicts_are_hidden_from_leads_who_may_still_grade(client_of, make_round, lead, rater, rater2, rate_all):
    round_ = make_round(raters=[lead, rater, rater2], ratings_per_pair=3)
    rate_all(round_, rater, grade=0)
    rate_all(round_, rater2, grade=3)
    client = client_of(lead)
    assert client.get(address(round_)).context["listing"].count == 0
    assert client.get(address(round_, 0)).status_code == 403
    assert client.post(address(round_, 0), {"grade": 1, "reason": "x"}).status_code == 403
    assert conflicts.count_open(round_, viewer=lead).number == 0
    rate_all(round_, lead, grade=1)
    assert conflicts.count_open(round_, viewer=lead).number == 6


def test_pair_of_another_round_gives_404(client_of, differing, make_round, lead, rater):
    other = make_round(raters=[rater], name="Other")
    pair = differing.pairs.get(position=0)
    assert client_of(lead).get(reverse("conflict", args=[other.uuid, pair.uuid])).status_code == 404


def test_script_in_a_note_or_document_is_text(client_of, make_round, lead, rater, rater2, rate_all, answer):
    round_ = make_round(raters=[rater, rater2], queries=1, documents=1)
    pair = assignment.claim_batch(round_, rater=rater)[0]
    answer(round_, rater, pair, 0, note="<script>alert(1)</script>")
    rate_all(round_, rater2, grade=3)
    main = client_of(lead).get(address(round_, 0)).content.decode().split("<main")[1]
    assert "<script" not in main


def test_open_conflicts_are_counted_as_they_are_listed(client_of, differing, lead, rater):
    assert conflicts.count_open(differing, viewer=lead).number == 2
    client_of(lead).post(address(differing, 0), {"grade": 1, "reason": "So."})
    assert conflicts.count_open(differing, viewer=lead).number == 1


def test_undone_grade_is_no_conflict(differing, lead, rater):
    first = differing.pairs.get(position=0).judgments.get(rater=rater)
    submission.undo(differing, first.client_id, rater=rater)
    assert conflicts.count_open(differing, viewer=lead).number == 1


@pytest.fixture
def appraised(monkeypatch):
    """``appraised(moves)``: somebody knows how far each pair can move nDCG@10."""
    appraisers: dict = {}
    monkeypatch.setattr(conflict_effects, "CONFLICT_APPRAISERS", appraisers)

    def know(moves, detail=None):
        effects = conflict_effects.Effects("nDCG@10", moves)
        appraisers["runs"] = ConflictAppraiser(lambda round_: effects, detail)

    return know


def test_the_effect_column_is_shown_only_when_computed(client_of, differing, lead, appraised):
    client = client_of(lead)
    assert "Largest change in" not in client.get(address(differing)).content.decode()
    # Asked for all the same, the list is as usual.
    assert [row.spread for row in client.get(address(differing) + "?sort=-effect").context["listing"].rows] == [3, 1]
    wide, narrow = (differing.pairs.get(position=place).pk for place in (0, 3))
    appraised({wide: 0.001, narrow: 0.02})
    page = client.get(address(differing) + "?sort=-effect")
    assert [row.position for row in page.context["listing"].rows] == [3, 0]
    html = page.content.decode()
    assert "Largest change in nDCG@10" in html
    assert "0.0200" in html
    rows = b"".join(client.get(address(differing) + "?sort=effect&format=csv").streaming_content).decode().splitlines()
    assert [row.split(",")[3] for row in rows] == ["effect", "0.001", "0.02"]
    settled = client.post(address(differing, 3) + "?by=effect", {"grade": 1, "reason": "x"})
    assert settled.url == address(differing, 0) + "?by=effect"
    appraised({narrow: 0.02})
    rows = client.get(address(differing) + "?sort=effect").context["listing"].rows
    assert [row.position for row in rows] == [3, 0]


def test_a_conflict_shows_what_each_grade_would_do_to_each_run(client_of, differing, lead, appraised):
    def detail(pair, grades):
        assert grades == [0, 3]
        return [{"run": "bm25", "rank": 2, "values": {0: 0.25, 3: 0.75}}]

    appraised({}, detail)
    html = client_of(lead).get(address(differing, 0)).content.decode()
    assert "Effect on scores" in html
    assert "returned at rank 2" in html
    assert "+0.5000" in html


def test_a_cause_is_reason_enough_and_comes_back_into_the_form(client_of, differing, lead):
    client = client_of(lead)
    client.post(address(differing, 0), {"grade": 1, "cause": "slip"})
    client.post(address(differing, 3), {"grade": 1, "cause": "query", "reason": "Bag or sack?"})
    reasons = [row.reason for row in Adjudication.objects.order_by("pk")]
    assert reasons == ["A rater made a mistake", "The query is ambiguous. Bag or sack?"]
    form = client.get(address(differing, 3)).context["form"]
    assert (form["cause"].value(), form["reason"].value()) == ("query", "Bag or sack?")
    assert client.post(address(differing, 3), {"grade": 1, "cause": "mood"}).status_code == 422


def test_the_resolution_is_shown_on_the_pair(client_of, differing, lead):
    client_of(lead).post(address(differing, 0), {"grade": 1, "reason": "x"})
    assert [pair.position for pair in differing.pairs.filter(resolved=True)] == [0]


@pytest.fixture
@cached_fixture
def unable(make_round, rater, rater2, answer):
    """Three pairs: one that neither rater could judge, one that one could not, and one that both could."""
    round_ = make_round(raters=[rater, rater2], queries=1, documents=3)
    answers = {rater: [None, None, 2], rater2: [None, 3, 2]}
    for who, grades in answers.items():
        assignment.claim_batch(round_, rater=who)
        for pair, grade in zip(round_.pairs.all(), grades, strict=True):
            state = {"state": "unrateable", "reason": "no text"} if grade is None else {}
            answer(round_, who, pair, grade, **state)
    return round_


def test_pairs_two_raters_could_not_judge_wait_for_the_lead(client_of, api_of, unable, lead):
    client, page = client_of(lead), reverse("unrateable", args=[unable.uuid])
    rows = client.get(page).context["listing"].rows
    assert [(row.position, row.unrateable) for row in rows] == [(0, 2)]
    assert "no text" in client.get(page).content.decode()
    assert "3 answers are “Cannot judge”" in client.get(address(unable)).content.decode()
    results = api_of(lead).get(f"/api/v1/rounds/{unable.uuid}/unrateable/").json()["results"]
    assert [set(row["reasons"].values()) for row in results] == [{"no text"}]
    html = client.get(address(unable, 0)).content.decode()
    assert "cannot judge" in html
    assert client.get(address(unable, 1)).status_code == 404
    client.post(address(unable, 0), {"grade": 0, "cause": "document"})
    assert client.get(page + "?settled=open").context["listing"].count == 0


def test_a_single_unrateable_rating_waits_too(client_of, make_round, rater, answer, lead):
    round_ = make_round(raters=[rater], queries=1, documents=1, ratings_per_pair=1)
    (pair,) = assignment.claim_batch(round_, rater=rater)
    answer(round_, rater, pair, None, state="unrateable", reason="in another language")
    assert client_of(lead).get(reverse("unrateable", args=[round_.uuid])).context["listing"].count == 1
    empty = make_round(raters=[rater], name="Other")
    assert "No pairs" in client_of(lead).get(reverse("unrateable", args=[empty.uuid])).content.decode()


def test_a_page_of_conflicts_costs_the_same_however_many_there_are(
    client_of, make_round, rater, rater2, rate_all, lead, django_assert_max_num_queries
):
    round_ = make_round(raters=[rater, rater2], queries=2, documents=10)
    rate_all(round_, rater, grade=0)
    rate_all(round_, rater2, grade=3)
    client = client_of(lead)
    client.get(address(round_))
    with django_assert_max_num_queries(45):
        assert client.get(address(round_)).context["listing"].count == 20
