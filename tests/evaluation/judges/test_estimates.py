"""Tests of means from few human grades and one judge: only for samples, and visible only to permitted readers."""

from __future__ import annotations

import pytest

from assay.core.qrels import Qrels
from assay.estimators.prediction_powered import powered_mean
from evaluation import evaluate
from evaluation.judges import estimates
from judgments.machines.calibration import audit_sample, calibration
from judgments.members import round_raters
from judgments.models import Judge, JudgeRun, MachineJudgment
from judgments.rating import assignment
from pooling.runs import runs as stored_runs
from tests.cached_rows import cached_fixture
from tests.world import grade_together

pytestmark = pytest.mark.django_db


def by_people(pair):
    return (int(pair.query.query_id[1:]) * 3 + int(pair.document.doc_id[1:]) * 5) % 4


@pytest.fixture
@cached_fixture
def judged_round(stage):
    """A machine graded all pairs of twelve queries, a step too high where it can; people none yet."""
    stage.queries()
    stage.documents()
    stage.run("bm25", "0123")
    stage.run("neural", "4105")
    round_ = stage.round(raters=1, ratings_per_pair=1, overlap=0)
    judge = Judge.objects.create(collection=stage.collection, name="a machine", kind="graded")
    pairs = round_.pairs.select_related("query", "document")
    MachineJudgment.objects.bulk_create(
        MachineJudgment(judge=judge, pair=pair, outcome="graded", grade=min(3, by_people(pair) + pair.pk % 2))
        for pair in pairs
    )
    return round_, judge


def people_grade(stage, round_, wanted):
    batch = assignment.claim_batch(round_, rater=stage.raters[0], size=100)
    grade_together(round_, stage.raters[0], {pair.uuid: by_people(pair) for pair in batch if wanted(pair)})


def first_five(pair):
    return pair.query.query_id < "q05"


def addresses(round_, judge):
    tail = f"rounds/{round_.uuid}/judges/{judge.uuid}/estimates/"
    return f"/{tail}", f"/api/v1/{tail}"


def nested(grades):
    result = {}
    for (query_id, doc_id), grade in grades.items():
        result.setdefault(query_id, {})[doc_id] = grade
    return result


def test_whole_queries_drawn_at_random_give_the_estimate_of_their_values(stage, judged_round, lead, client_of):
    round_, judge = judged_round
    people_grade(stage, round_, first_five)
    page, call = addresses(round_, judge)
    client = client_of(lead)
    refused = client.get(call).json()
    assert (refused["whole"], refused["queries"], refused["runs"]) == (5, 12, [])
    assert "drawn at random" in refused["why"]
    assert "No interval." in client.get(page).content.decode()
    body = client.get(call, {"drawn": "true", "half": "0.1"}).json()
    assert (body["why"], [one["run"] for one in body["runs"]]) == ("", ["bm25", "neural"])
    runs = [stored_runs.ranked(run) for run in stage.collection.runs.order_by("name")]
    ours, theirs = (
        evaluate(Qrels.from_dict(nested(grades)), runs, "nDCG@10").runs
        for grades in (calibration.labels_of(round_), calibration.grades_of(judge, round_))
    )
    for one, mine, other in zip(body["runs"], ours, theirs, strict=True):
        values = other.per_query["nDCG@10"]
        expected = powered_mean(mine.per_query["nDCG@10"], values[:5], values[5:])
        assert (one["ppi"]["estimate"], one["ppi"]["low"]) == pytest.approx((expected.estimate, expected.low))
        assert one["stratified"]["human_only"]["mean"] == pytest.approx(mine.per_query["nDCG@10"].mean())
        assert one["ppi"]["needed"]["people_alone"] >= one["ppi"]["needed"]["with_machine"]
    for method in ("ppi", "stratified"):
        html = client.get(page, {"drawn": "yes", "half": "0.1", "method": method}).content.decode()
        assert "only if these queries were drawn at random" in html
        assert ("Lambda" in html) == (method == "ppi")
    assert client.get(page, {"drawn": "yes", "format": "json"}).json()["runs"][0]["run"] == "bm25"


def test_all_queries_judged_need_nobodys_word(stage, judged_round, lead):
    round_, judge = judged_round
    people_grade(stage, round_, lambda pair: True)
    data = estimates.estimates_of(judge, round_, lead)
    assert (data.why, data.whole) == ("", 12)
    one = data.runs[0].ppi.powered
    assert one.human_only is not None
    assert (one.estimate, one.low) == pytest.approx((one.human_only.mean, one.human_only.low))


def test_the_slice_tells_a_rate_and_no_metric(stage, judged_round, lead, client_of):
    round_, judge = judged_round
    run = JudgeRun.objects.create(round=round_, judge=judge, cap_calls=1, audit_share=0.4, seed=5)
    drawn = audit_sample.Slice(run.seed, run.audit_share)
    pairs = round_.pairs.select_related("query", "document")
    inside = {pair.pk for pair in pairs if drawn.holds(pair.query.query_id, pair.document.doc_id)}
    assert "still have to judge" in estimates.estimates_of(judge, round_, lead).rate_why
    people_grade(stage, round_, lambda pair: pair.pk in inside)
    data = estimates.estimates_of(judge, round_, lead, drawn=True)
    assert data.runs == ()
    assert "An audit slice covers pairs" in data.why
    assert data.rate is not None
    assert (data.rate.queries, data.rate.queries + data.rate.others) == (len(inside), round_.pairs.count())
    truth = [by_people(pair) >= 1 for pair in round_.pairs.select_related("query", "document")]
    assert data.rate.low <= sum(truth) / len(truth) <= data.rate.high
    html = client_of(lead).get(addresses(round_, judge)[0]).content.decode()
    assert "of the pairs that the machine graded" in html


def test_leads_who_rate_see_no_estimates_before_they_grade(stage, judged_round, lead, client_of):
    round_, judge = judged_round
    round_raters.invite(round_, [lead], actor=lead)
    people_grade(stage, round_, lambda pair: pair.query.query_id < "q10")
    body = client_of(lead).get(addresses(round_, judge)[1], {"drawn": "true"}).json()
    assert (body["runs"], body["rate"], body["queries"]) == ([], None, 0)
    assert "You may still grade" in body["why"]
    assert "You may still grade" in client_of(lead).get(addresses(round_, judge)[0]).content.decode()


def test_invalid_requests_are_explained(judged_round, lead, client_of):
    page, call = addresses(*judged_round)
    client = client_of(lead)
    for request in ({"metric": "nDCC@10"}, {"metric": "GMAP"}, {"half": "0"}, {"half": "nan"}, {"half": "wide"}):
        assert client.get(call, request).status_code == 400, request
        response = client.get(page, request)
        assert (response.status_code, 'role="alert"' in response.content.decode()) == (422, True), request
    judge = judged_round[1]
    Judge.objects.filter(pk=judge.pk).update(kind="downstream")
    assert (client.get(page).status_code, client.get(call).status_code) == (404, 404)
