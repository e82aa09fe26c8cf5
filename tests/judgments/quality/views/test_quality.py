"""Tests of the rater quality pages: alerts, checks, jobs, pausing, qualification, gold pairs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile

from assay.quality import CHECKS
from judgments.jobs import jobs
from judgments.models import GoldPair, Job, Judgment, Probe, Round
from judgments.quality import checks, gold_pairs, pausing, qualification
from judgments.rating import assignment
from tests.cached_rows import cached_fixture
from tests.judgments.rating.test_inserted_checks import known, work
from tests.world import pseudonym

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


@pytest.fixture
@cached_fixture
def round_(make_round: Make, rater: Any, rater2: Any, rate_all: Make) -> Round:
    """Eight queries of five documents: one rater grades by the document, the other gives 3 to everything."""
    made = make_round(queries=8, documents=5, raters=[rater, rater2])
    rate_all(made, rater, lambda pair: pair.position % 3)
    rate_all(made, rater2, 3)
    return made


def test_the_page_names_raters_with_alerts_and_reasons(
    client_of: Make, lead: Any, round_: Round, rater: Any, rater2: Any
) -> None:
    page = client_of(lead).get(f"/rounds/{round_.uuid}/quality/")
    result = {
        report.round_rater.user.username: [one.check for one in report.alarms]
        for report in page.context["listing"].rows
    }
    assert "same-grade" in result["rudi"]
    assert "same-grade" not in result["rosa"]
    assert list(result) == ["rudi", "rosa"], "alarms first"
    text = page.content.decode()
    assert "Always the same grade" in text
    assert "0 of 20" in text, "what there is too little of is told"


def test_a_raters_page_holds_every_check_with_numbers(client_of: Make, lead: Any, round_: Round, rater2: Any) -> None:
    page = client_of(lead).get(f"/rounds/{round_.uuid}/quality/{pseudonym(round_, rater2)}/").content.decode()
    for check in CHECKS.values():
        assert check.title in page
    assert "100% of 40 grades are 3" in page
    assert "What to do:" in page


def test_page_and_api_say_the_same(client_of: Make, api_of: Make, lead: Any, round_: Round) -> None:
    page = client_of(lead).get(f"/rounds/{round_.uuid}/quality/?format=json").json()
    body = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/quality/").json()
    assert page == body
    assert "username" not in str(body)
    assert "rosa" not in str(body)


def test_the_report_is_cached_until_data_changes(
    round_: Round, lead: Any, rater: Any, django_assert_max_num_queries: Make, answer: Make
) -> None:
    first = checks.look(round_, viewer=lead).reports
    with django_assert_max_num_queries(8):
        again = checks.look(round_, viewer=lead).reports
    assert [report.findings for report in again] == [report.findings for report in first]
    pair = round_.pairs.get(position=0)
    answer(round_, rater, pair, 3)
    after = checks.look(round_, viewer=lead).reports
    assert [report.findings for report in after] != [report.findings for report in first]


def test_a_large_round_is_checked_by_a_job(
    client_of: Make, lead: Any, round_: Round, rater2: Any, answer: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = checks.look(round_, viewer=lead)
    monkeypatch.setattr(checks, "LARGE", 10)
    cache.clear()
    client, path = client_of(lead), f"/rounds/{round_.uuid}/quality/"
    assert "being updated" in client.get(path).content.decode()
    assert "being updated" in client.get(path).content.decode(), "one job for both"
    assert client.get(f"{path}{pseudonym(round_, rater2)}/").status_code == 302
    job = Job.objects.get(kind="quality")
    jobs.work_on_job.func(str(job.uuid))
    now = checks.look(round_, viewer=lead)
    assert [one.findings for one in now.reports] == [one.findings for one in small.reports]
    assert now.job is None
    answer(round_, rater2, round_.pairs.get(position=0), 1)
    monkeypatch.setattr(checks, "PATIENCE", timedelta(0))
    after = checks.look(round_, viewer=lead)
    assert after.job is not None
    assert [one.findings for one in after.reports] == [one.findings for one in small.reports], "the numbers before"


def test_the_job_does_not_reveal_the_results_of_the_checks(
    client_of: Make, api_of: Make, lead: Any, engineer: Any, round_: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs are open to engineers, and to leads who still rate; the checks are not, or without some pairs."""
    monkeypatch.setattr(checks, "LARGE", 10)
    checks.look(round_, viewer=lead)
    job = Job.objects.get(kind="quality")
    jobs.work_on_job.func(str(job.uuid))
    for person in (lead, engineer):
        response = api_of(person).get(f"/api/v1/jobs/{job.uuid}/")
        assert (response.status_code, response.json()["state"]) == (200, "done")
        for text in (response.content, client_of(person).get(f"/jobs/{job.uuid}/").content):
            assert b"same-grade" not in text
    assert "same-grade" in str(api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/quality/").json())


def test_many_judgments_are_excluded_by_a_job(
    api_of: Make, lead: Any, round_: Round, rater2: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pausing, "AT_ONCE", 10)
    monkeypatch.setattr(pausing, "PART", 7)
    path = f"/api/v1/rounds/{round_.uuid}/raters/{pseudonym(round_, rater2)}/requeue/"
    response = api_of(lead).post(path, {"reason": "Off."}, format="json")
    assert (response.status_code, response.json()["done"]) == (202, False)
    jobs.work_on_job.func(response.json()["job"])
    job = Job.objects.get(kind="requeue")
    assert (job.state, job.result) == ("done", {"judgments": 40})
    assert not Judgment.objects.current().filter(rater=rater2).exists()


def test_leads_who_may_still_grade_see_numbers_without_these_pairs(
    make_round: Make, rater: Any, rater2: Any, lead: Any, rate_all: Make, client_of: Make, answer: Make
) -> None:
    made = make_round(queries=8, documents=5, raters=[rater, rater2, lead], ratings_per_pair=3)
    rate_all(made, rater, 1)
    rate_all(made, rater2, 1)
    page = client_of(lead).get(f"/rounds/{made.uuid}/quality/?format=json").json()
    assert {check["n"] for row in page["raters"] for check in row["checks"]} == {0}
    assert all(check["state"] == "too little" for row in page["raters"] for check in row["checks"])
    before = page
    # Whatever others give to what the lead may still be handed changes nothing that the lead reads.
    pair = made.pairs.get(position=0)
    answer(made, rater, pair, 3)
    after = client_of(lead).get(f"/rounds/{made.uuid}/quality/?format=json").json()
    assert after == before
    one = assignment.claim_batch(made, rater=lead, size=1)[0]
    answer(made, lead, one, 0)
    body = client_of(lead).get(f"/rounds/{made.uuid}/quality/?format=json").json()
    assert {check["n"] for row in body["raters"] for check in row["checks"] if check["check"] == "same-grade"} == {1}


def test_pausing_and_setting_aside_from_the_page(client_of: Make, lead: Any, round_: Round, rater2: Any) -> None:
    client, base = client_of(lead), f"/rounds/{round_.uuid}/quality/{pseudonym(round_, rater2)}"
    refused = client.post(f"{base}/pause/", {"reason": ""}, follow=True).content.decode()
    assert "A pause needs a reason" in refused
    paused = client.post(f"{base}/pause/", {"reason": "A word, please."}, follow=True).content.decode()
    assert "A word, please." in paused
    waits = client_of(rater2).get(f"/rounds/{round_.uuid}/rate/").content.decode()
    assert "A word, please." in waits
    resumed = client.post(f"{base}/resume/", follow=True)
    assert "was resumed" in resumed.content.decode()
    counted = client.get(f"{base}/requeue/?since=&queries=q1%0Aq2").content.decode()
    assert "10 judgments of 2 queries" in counted
    assert "undo this" in counted
    without = client.post(f"{base}/requeue/", {"since": "", "queries": "q1\nq2", "reason": ""})
    assert without.status_code == 422
    assert Judgment.objects.current().filter(rater=rater2).count() == 40
    client.post(f"{base}/requeue/", {"since": "", "queries": "q1\nq2", "reason": "Not read."})
    assert Judgment.objects.current().filter(rater=rater2).count() == 30
    assert client.get(f"{base}/requeue/?since=nonsense").status_code == 422


def test_the_api_pauses_and_sets_aside(api_of: Make, lead: Any, round_: Round, rater2: Any) -> None:
    api, base = api_of(lead), f"/api/v1/rounds/{round_.uuid}/raters/{pseudonym(round_, rater2)}"
    body = api.post(f"{base}/pause/", {"reason": "A word."}, format="json").json()
    assert body["paused"] is True
    batch = api_of(rater2, ("rate",)).post(f"/api/v1/rounds/{round_.uuid}/batch/")
    assert (batch.status_code, batch.json()["error"]["code"]) == (403, "paused")
    assert api.post(f"{base}/pause/", {"reason": "Again."}, format="json").status_code == 409
    assert api.post(f"{base}/resume/").json()["paused"] is False
    counted = api.post(f"{base}/requeue/", {"queries": ["q3"], "preview": True}, format="json").json()
    assert (counted["judgments"], counted["done"]) == (5, False)
    assert api.post(f"{base}/requeue/", {}, format="json").status_code == 400
    done = api.post(f"{base}/requeue/", {"queries": ["q3"], "reason": "Off."}, format="json").json()
    assert (done["judgments"], done["done"]) == (5, True)


# --- Known grades and calibration, on pages.


@pytest.fixture
@cached_fixture
def calibrating(make_round: Make, rater: Any, rater2: Any, lead: Any, collection: Any) -> Round:
    made = make_round(queries=2, documents=3, raters=[rater, rater2])
    gold_pairs.add(made, known(collection, 2), use="calibration", actor=lead)
    Round.objects.filter(pk=made.pk).update(pass_mark=1.0)
    return Round.objects.get(pk=made.pk)


def test_a_rater_calibrates_without_script(client_of: Make, calibrating: Round, rater: Any) -> None:
    client = client_of(rater)
    path = f"/rounds/{calibrating.uuid}/calibrate/"
    assert client.get(f"/rounds/{calibrating.uuid}/rate/")["Location"] == path
    for grade, text in ((2, "Correct"), (0, "Incorrect")):
        page = client.get(path)
        assert "why-it-is-known" not in page.content.decode(), "nothing is told beforehand"
        payload = {"pair": page.context["card"].pair.uuid, "client_id": page.context["client_id"], "grade": grade}
        html = client.post(path, payload, follow=True).content.decode()
        assert text in html
        assert "why-it-is-known" in html
    end = client.get(path).content.decode()
    assert "1 of 2 correct" in end
    client.post(path, {"again": "1"})
    for _ in range(2):
        page = client.get(path)
        client.post(path, {"pair": page.context["card"].pair.uuid, "client_id": page.context["client_id"], "grade": 2})
    assert "You are qualified" in client.get(path).content.decode()
    assert client.get(f"/rounds/{calibrating.uuid}/rate/").status_code == 200


def test_the_api_says_what_comes_first(api_of: Make, calibrating: Round, rater: Any) -> None:
    response = api_of(rater, ("rate",)).post(f"/api/v1/rounds/{calibrating.uuid}/batch/")
    assert (response.status_code, response.json()["error"]["code"]) == (403, "calibration_first")


def test_no_grade_is_chosen(client_of: Make, calibrating: Round, rater: Any) -> None:
    client, path = client_of(rater), f"/rounds/{calibrating.uuid}/calibrate/"
    page = client.get(path)
    again = client.post(path, {"pair": page.context["card"].pair.uuid, "client_id": page.context["client_id"]})
    assert again.status_code == 422
    assert "Choose a grade" in again.content.decode()


def test_a_lead_adds_gold_pairs(client_of: Make, lead: Any, make_round: Make, rater: Any, collection: Any) -> None:
    made = make_round(queries=1, documents=2, raters=[rater], opened=False)
    known(collection, 5)
    client, path = client_of(lead), f"/rounds/{made.uuid}/calibration/"
    assert "beyond doubt" in client.get(path).content.decode()
    one = {"act": "one", "one-query_id": "g0", "one-doc_id": "gold-0", "one-grade": "2", "one-use": "hidden"}
    assert client.post(path, one).status_code == 302
    assert client.post(path, {**one, "one-grade": "7"}).status_code == 422
    text = b"query_id,doc_id,grade\ng1,gold-1,0\ng2,gold-2,9\n"
    odd = client.post(path, {"act": "file", "file-use": "calibration", "file-file": SimpleUploadedFile("k.csv", text)})
    assert odd.status_code == 422
    assert "Line 3, g2 with gold-2: 9 is not a grade" in odd.content.decode()
    fine = SimpleUploadedFile("k.csv", text.replace(b"9", b"3"))
    assert client.post(path, {"act": "file", "file-use": "calibration", "file-file": fine}).status_code == 302
    wanted = {"settings-pass_mark": "0.8", "settings-pass_within": "1", "settings-repeat_share": "0.1"}
    assert client.post(path, {"act": "settings", **wanted}).status_code == 302
    made.refresh_from_db()
    assert (made.pass_mark, made.pass_within, made.repeat_share, made.gold_every) == (0.8, 1, 0.1, None)
    gone = GoldPair.objects.get(use="hidden")
    assert "Removed" in client.post(path, {"act": "remove", "gold": gone.uuid}, follow=True).content.decode()
    assert made.gold.count() == 2


def test_gold_pairs_of_earlier_rounds_are_drawn_or_selected(
    client_of: Make, lead: Any, make_round: Make, rater: Any, rater2: Any, rate_all: Make
) -> None:
    earlier = make_round(queries=3, documents=3, raters=[rater, rater2], name="Earlier")
    for person in (rater, rater2):
        rate_all(earlier, person, lambda pair: pair.position % 3)
    made = make_round(queries=1, documents=3, raters=[rater], name="Next", opened=False)
    client, path = client_of(lead), f"/rounds/{made.uuid}/calibration/"
    assert client.get(path).context["listing"].count == 6
    client.post(path, {"act": "suggest", "number": "3", "use": "calibration"})
    assert sorted(made.gold.values_list("grade", flat=True)) == [0, 1, 2]
    row = client.get(path).context["listing"].rows[0]
    client.post(path, {"act": "take", "use": "hidden", "pair": f'["{row.key[0]}", "{row.key[1]}"]'})
    assert made.gold.get(use="hidden").grade == row.grade
    assert "out of date" in client.post(path, {"act": "nonsense"}, follow=True).content.decode()


def test_the_api_lists_and_adds_gold_pairs(api_of: Make, lead: Any, calibrating: Round, collection: Any) -> None:
    api, base = api_of(lead), f"/api/v1/rounds/{calibrating.uuid}/gold/"
    known(collection, 4)
    payload = {"use": "hidden", "pairs": [{"query_id": "g2", "doc_id": "gold-2", "grade": 1}]}
    assert api.post(base, payload, format="json").json() == {"added": 1}
    odd = api.post(base, {**payload, "pairs": [{"query_id": "g9", "doc_id": "d", "grade": 1}]}, format="json")
    assert "Number 1: the query 'g9'" in odd.json()["error"]["fields"]["pairs"]
    rows = api.get(base).json()["results"]
    assert [(row["use"], row["grade"]) for row in rows] == [("calibration", 2), ("calibration", 2), ("hidden", 1)]
    assert api.delete(f"{base}{rows[2]['id']}/").status_code == 204
    results = api.get(f"/api/v1/rounds/{calibrating.uuid}/calibration/").json()["results"]
    assert [(row["rater"], row["attempts"], row["passed"]) for row in results] == [("r01", 0, False), ("r02", 0, False)]
    assert api.post(f"/api/v1/rounds/{calibrating.uuid}/raters/r01/let-pass/").json()["calibrated"] is True


def test_missed_gold_pairs_are_listed(
    client_of: Make, make_round: Make, rater: Any, lead: Any, collection: Any
) -> None:
    made = make_round(queries=4, documents=4, raters=[rater])
    gold_pairs.add(made, known(collection, 3), use="hidden", actor=lead)
    Round.objects.filter(pk=made.pk).update(gold_every=3)
    made = Round.objects.get(pk=made.pk)
    work(made, rater, grade=0)
    checks = Probe.objects.filter(kind="gold", answered=True).count()
    page = client_of(lead).get(f"/rounds/{made.uuid}/quality/r01/")
    assert len(page.context["wrong"]) == checks > 0
    assert qualification.results(made)[0].attempts == 0


def test_more_queries_than_a_database_takes_are_refused(
    client_of: Make, api_of: Make, lead: Any, round_: Round, rater2: Any
) -> None:
    """A list without end is an error of the form, on the page as in the API."""
    member = round_.raters.get(user=rater2)
    names = [f"q{number}" for number in range(200_000)]  # a form has 2 MB at most
    page = f"/rounds/{round_.uuid}/quality/{member.pseudonym}/requeue/"
    response = client_of(lead).post(page, {"queries": "\n".join(names), "since": "", "reason": "All of them."})
    assert response.status_code == 422
    assert "at most 10,000" in response.content.decode()
    api = api_of(lead, ("write",))
    path = f"/api/v1/rounds/{round_.uuid}/raters/{member.pseudonym}/requeue/"
    response = api.post(path, {"queries": names, "preview": True}, format="json")
    assert (response.status_code, list(response.json()["error"]["fields"])) == (400, ["queries"])


def test_gold_pairs_of_queries_outside_the_round_are_reported(
    client_of: Make, lead: Any, round_: Round, rater3: Any, collection: Any
) -> None:
    """Each of them comes as "Document 1 of 1" between queries of five documents: a rater can tell."""
    page = f"/rounds/{round_.uuid}/calibration/"
    inside = [
        gold_pairs.Known(known(collection, 1, query="q1")[0].query, one.document, 1) for one in known(collection, 1)
    ]
    gold_pairs.add(round_, inside, use="hidden", actor=lead)
    assert "raters may notice" not in client_of(lead).get(page).content.decode()
    gold_pairs.add(round_, known(collection, 3)[1:], use="hidden", actor=lead)
    shown = client_of(lead).get(page)
    assert shown.context["strange"] == 2
    assert "2 hidden gold pairs belong to queries that are not in the round" in shown.content.decode()


def test_checks_are_disguised_where_every_query_has_one_document(
    client_of: Make, lead: Any, make_round: Make, rater: Any, collection: Any
) -> None:
    made = make_round(queries=3, documents=1, raters=[rater])
    gold_pairs.add(made, known(collection, 2), use="hidden", actor=lead)
    assert "raters may notice" not in client_of(lead).get(f"/rounds/{made.uuid}/calibration/").content.decode()
