"""Tests of the agreement page: coefficients with intervals and n, gate, downloads, visibility."""

from __future__ import annotations

import uuid

import pytest
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from assay.coefficients.gate import GateAnswer
from judgments.agreement import round_report
from judgments.agreement.views.agreement_tables import picture
from judgments.guidelines import guidelines
from judgments.jobs import jobs
from judgments.models import AuditRow, Job, Query, Round, RoundReport, Tally
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
def open_round(make_round, rater, rater2):
    return make_round(raters=[rater, rater2], queries=4, documents=5)


def place(pair):
    return pair.position % 4


def near(pair):
    return min(3, place(pair) + (pair.position % 5 == 0))


def page(client, round_, query=""):
    return client.get(reverse("round_agreement", args=[round_.uuid]) + query)


def test_undefined_is_a_sentence(client_of, open_round, lead):
    html = page(client_of(lead), open_round).content.decode()
    assert "alpha is not defined: no pair was graded by two raters" in html
    assert "nan" not in html.casefold().replace("finan", "")


def test_headline_has_interval_and_n(client_of, open_round, lead, rater, rater2, rate_all):
    rate_all(open_round, rater, grade=place)
    rate_all(open_round, rater2, grade=near)
    response = page(client_of(lead), open_round)
    first = response.context["headline"]
    assert first.low < first.value < first.high
    assert first.n == 20
    assert f"{first.value:.3f}" in response.content.decode()


def test_one_grade_everywhere_is_not_agreement(client_of, open_round, lead, rater, rater2, rate_all):
    for user in (rater, rater2):
        rate_all(open_round, user, grade=2)
    assert "all grades are the same" in page(client_of(lead), open_round).content.decode()


def test_matrix_switches_its_weights(client_of, open_round, lead, rater, rater2, rate_all):
    rate_all(open_round, rater, grade=place)
    rate_all(open_round, rater2, grade=near)
    cells = [
        page(client_of(lead), open_round, f"?weights={name}").context["matrix"][0][2][1]["value"]
        for name in ("unweighted", "quadratic")
    ]
    assert cells[0] < cells[1]
    assert page(client_of(lead), open_round, "?weights=cubic").context["weights"] == "quadratic"


def test_confusion_counts_each_two_raters(client_of, open_round, lead, rater, rater2, rate_all):
    rate_all(open_round, rater, grade=place)
    rate_all(open_round, rater2, grade=near)
    confusion = page(client_of(lead), open_round).context["confusion"]
    assert confusion["n"] == 20
    assert sum(cell["n"] for _, cells in confusion["rows"] for cell in cells if cell) == 20


def test_files_hold_every_coefficient(client_of, open_round, engineer, rater, rater2, rate_all):
    rate_all(open_round, rater, grade=place)
    rate_all(open_round, rater2, grade=near)
    client = client_of(engineer)
    assert page(client, open_round, "?format=json").json()["overlap"] == 20
    lines = page(client, open_round, "?format=csv").content.decode().splitlines()
    assert lines[0] == "coefficient,a,b,value,low,high,n,reason"
    assert len(lines) == 1 + 10 + 3


@pytest.mark.parametrize(
    ("low", "threshold", "start"), [(0.2, 0.6, "0.0"), (-0.1, 0.6, "−0.2"), (-0.3, 0.6, "−0.4"), (0.2, -0.9, "−1.0")]
)
def test_picture_reaches_as_far_down_as_interval_and_gate(low, threshold, start):
    answer = GateAnswer("undecided", "ac1", (low + 0.9) / 2, low, 0.9, threshold, 300, 40, None, "")
    drawn = picture(answer)
    assert drawn.ticks[0] == (start, 0.0)
    assert drawn.ticks[-1] == ("1.0", 340.0)
    assert 0 <= drawn.low <= drawn.value <= drawn.high <= 340
    assert 0 <= drawn.at <= 340


@pytest.fixture
@cached_fixture
def decided(make_round, rater, rater2, rate_all):
    """Enough pairs of enough queries to decide: grades one step apart every fourth time."""
    round_ = make_round(raters=[rater, rater2], queries=40, documents=5)
    rate_all(round_, rater, grade=place)
    rate_all(round_, rater2, grade=near)
    return round_


def test_the_rounds_own_gate_decides_and_a_lead_moves_it(client_of, decided, lead):
    client = client_of(lead)
    assert page(client, decided).context["gate"].state == "passed"
    address = reverse("round_gate", args=[decided.uuid])
    response = client.post(address, {"coefficient": "cohen-unweighted", "threshold": "0,99"}, follow=True)
    assert "The gate now has the threshold 0.99 for Cohen’s kappa, unweighted, mean." in response.content.decode()
    assert (response.context["gate"].state, response.context["headline"].name) == ("failed", "cohen-unweighted")
    assert "Clarify the edge cases." in response.content.decode()
    assert AuditRow.objects.filter(verb="round_settings.change", target_uuid=decided.uuid).count() == 1
    for wrong in ({"coefficient": "kappa", "threshold": "0.5"}, {"coefficient": "ac1", "threshold": "much"}):
        client.post(address, wrong)
    decided.refresh_from_db()
    assert (decided.gate_coefficient, decided.gate_threshold) == ("cohen-unweighted", 0.99)


def test_parts_by_grade_tier_and_query(client_of, decided, lead, engineer):
    Query.objects.filter(pairs__round=decided, pairs__position__lt=100).update(tier="head")
    rounds.close_round(decided, actor=lead)
    RoundReport.objects.all().delete()
    client = client_of(engineer)
    context = page(client, decided).context
    assert [row["label"] for row in context["by_grade"]] == [g.label for g in decided.scale.grades.order_by("value")]
    assert [(row["name"], row["n"]) for row in context["by_tier"]] == [("head", 100)]
    assert (len(context["by_query"]), context["queries"]) == (10, 40)
    assert len(page(client, decided, "?format=queries").content.decode().splitlines()) == 41
    assert "0,1," in page(client, decided, "?format=grades").content.decode()


def test_leads_who_rate_see_no_single_pair_or_query(client_of, make_round, lead, rater, rater2, rate_all):
    round_ = make_round(raters=[lead, rater, rater2], ratings_per_pair=3)
    rate_all(round_, rater, grade=place)
    rate_all(round_, rater2, grade=near)
    response = page(client_of(lead), round_)
    assert (response.context["by_query"], response.context["by_grade"], response.context["queries"]) == ([], [], 0)
    assert response.context["confusion"]["n"] == 0
    assert "You rate in this round" in response.content.decode()
    body = page(client_of(lead), round_, "?format=json").json()
    assert (body["confusion"], body["grades"], body["shares"]) == ([], [], [])


def test_nor_within_tiers_since_a_tier_may_hold_one_query(client_of, api_of, make_round, lead, rater, rater2, rate_all):
    round_ = make_round(raters=[lead, rater, rater2], queries=2, documents=1, ratings_per_pair=3)
    tiers = {"q1": "head", "q2": "tail"}
    for query_id, tier in tiers.items():
        Query.objects.filter(query_id=query_id).update(tier=tier)
    rate_all(round_, rater, grade=0)
    rate_all(round_, rater2, grade=3)
    answered, _ = assignment.claim_batch(round_, rater=lead, size=2)
    submission.submit(round_, submission.Answer(uuid.uuid4(), answered.uuid, 1), rater=lead)
    by_tier = page(client_of(lead), round_).context["by_tier"]
    by_program = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/agreement/?by=tier").json()["by_tier"]
    assert [row["name"] for row in by_tier] == [row["name"] for row in by_program] == [tiers[answered.query.query_id]]
    rate_all(round_, lead, grade=1)
    assert {row["name"] for row in page(client_of(lead), round_).context["by_tier"]} == {"head", "tail"}


def test_the_overlap_is_judged_again_under_newer_guidelines(client_of, decided, lead, rater, rater2):
    client, address = client_of(lead), reverse("round_rejudge", args=[decided.uuid])
    assert "Write a new version first" in client.post(address, follow=True).content.decode()
    client.post(reverse("round_gate", args=[decided.uuid]), {"coefficient": "alpha-nominal", "threshold": "1"})
    guidelines.add_version(collection=decided.collection, markdown="# Clearer", actor=lead)
    assert "Create draft round of 200 pairs under version 2" in page(client, decided).content.decode()
    response = client.post(address, follow=True)
    made = Round.objects.exclude(pk=decided.pk).get()
    assert response.redirect_chain[-1][0] == reverse("round_progress", args=[made.uuid])
    assert (made.state, made.guidelines.number, made.pairs_made, made.slots_made) == ("draft", 2, 200, 400)
    assert (made.gate_coefficient, set(made.raters.values_list("user", flat=True))) == (
        "alpha-nominal",
        {rater.pk, rater2.pk},
    )


def test_a_large_rounds_report_is_made_by_a_job(
    client_of, decided, lead, monkeypatch, django_capture_on_commit_callbacks
):
    RoundReport.objects.all().delete()
    monkeypatch.setattr(round_report, "AT_ONCE", 100)
    client = client_of(lead)
    response = page(client, decided)
    assert response.context["verdict"] == "being computed"
    assert "every 4s" in response.content.decode()
    assert page(client, decided).status_code == 200
    job = Job.objects.get(kind="agreement")
    jobs.work_on_job.func(str(job.uuid))
    assert page(client, decided).context["verdict"] == "passed"
    # What came since is told, and not counted before a minute is over.
    Tally.objects.filter(round=decided, rater=decided.raters.first().user).update(events=F("events") + 3)
    response = page(client, decided)
    assert "3 later answers or changes are not included" in " ".join(response.content.decode().split())
    assert Job.objects.get(kind="agreement").state == "done"
    RoundReport.objects.update(computed_at=timezone.now() - round_report.PATIENCE)
    page(client, decided)
    assert Job.objects.get(kind="agreement").state == "queued"


def test_a_failed_count_is_reported_and_not_restarted_by_every_visit(client_of, decided, lead, monkeypatch):
    """The page asks every four seconds while it waits."""
    monkeypatch.setattr(round_report, "AT_ONCE", 100)
    client = client_of(lead)
    page(client, decided)
    Job.objects.update(state="crashed", error="This is our mistake, not yours: Odd.", finished_at=timezone.now())
    response = page(client, decided)
    assert "which failed: This is our mistake" in " ".join(response.content.decode().split())
    assert "every 4s" not in response.content.decode()
    assert Job.objects.get(kind="agreement").state == "crashed"
    Job.objects.update(finished_at=timezone.now() - jobs.AFTER_A_FAULT)
    page(client, decided)
    assert Job.objects.get(kind="agreement").state == "queued"


@pytest.fixture
@cached_fixture
def three(make_round, rater, rater2, rater3, rate_all):
    """Two who agree but for a little, and one who turns the scale round."""
    round_ = make_round(raters=[rater, rater2, rater3], queries=4, documents=5, ratings_per_pair=3)
    rate_all(round_, rater, grade=place)
    rate_all(round_, rater2, grade=near)
    rate_all(round_, rater3, grade=lambda pair: 3 - place(pair))
    return round_


def test_the_most_different_rater_is_named_with_the_agreement_of_the_others(
    client_of, three, lead, engineer, rater3, api_of
):
    odd = three.raters.get(user=rater3).pseudonym
    html = page(client_of(lead), three).content.decode()
    response = page(client_of(engineer), three)
    without = response.context["differs_most"]
    assert (without.rater, without.n) == (odd, 20)
    assert without.value > 0.8 > response.context["headline"].value
    assert f"<b>{odd} differs most.</b>" in html
    assert reverse("round_rater", args=[three.uuid, odd]) in html
    assert reverse("round_rater", args=[three.uuid, odd]) not in response.content.decode()
    body = api_of(engineer).get(f"/api/v1/rounds/{three.uuid}/agreement/").json()["without"]
    assert {row["rater"]: row["coefficients"]["alpha-ordinal"]["value"] for row in body}[odd] == without.value
    lines = page(client_of(engineer), three, "?format=csv").content.decode().splitlines()
    assert sum("alpha, ordinal, without" in line for line in lines) == 3


def test_two_raters_have_no_agreement_without_one(client_of, decided, engineer):
    response = page(client_of(engineer), decided)
    assert response.context["differs_most"] is None
    assert "Without this rater" not in response.content.decode()


def test_leads_who_rate_do_not_see_the_effect_of_one_rater(
    client_of, make_round, lead, rater, rater2, rater3, rate_all, api_of
):
    round_ = make_round(raters=[lead, rater, rater2, rater3], queries=2, documents=3, ratings_per_pair=4)
    for user, given in ((rater, place), (rater2, near), (rater3, lambda pair: 3 - place(pair))):
        rate_all(round_, user, grade=given)
    assert "differs most" not in page(client_of(lead), round_).content.decode()
    assert api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/agreement/").json()["without"] == []


def test_leads_who_rate_do_not_see_who_gave_a_single_grade(
    client_of, api_of, make_round, lead, engineer, rater, rater2, rate_all
):
    round_ = make_round(queries=2, documents=5, raters=[lead, rater, rater2], ratings_per_pair=3)
    rate_all(round_, rater, 2)
    rate_all(round_, rater2, lambda pair: 1 if pair.document.doc_id == "d1-1" else 2)
    for who, visible in ((lead, False), (engineer, True)):
        answers = [page(client_of(who), round_), api_of(who).get(f"/api/v1/rounds/{round_.uuid}/agreement/")]
        assert [b"gave the grade 2" in one.content for one in answers] == [visible, visible]
        # Nor which grade nearly all grades are.
        assert (answers[0].context["prevalent"] is not None) is visible
