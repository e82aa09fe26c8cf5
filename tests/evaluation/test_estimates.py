"""Do page and API tell means of few people and one machine, only where the sample is one, and to whom they may?"""

from __future__ import annotations

import pytest

from evaluation import estimates, evaluate
from evaluation.estimators.prediction_powered import powered_mean
from judgments import assignment, audit_slice, inviting, judged
from judgments.core.qrels import Qrels
from judgments.models import Judge, JudgeRun, MachineJudgment
from pooling import runs as pooled
from tests.world import grade_together

pytestmark = pytest.mark.django_db


def by_people(pair):
    return (int(pair.query.query_id[1:]) * 3 + int(pair.document.doc_id[1:]) * 5) % 4


@pytest.fixture
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
    found = {}
    for (query_id, doc_id), grade in grades.items():
        found.setdefault(query_id, {})[doc_id] = grade
    return found


def test_whole_queries_drawn_at_random_give_the_estimate_of_their_values(stage, judged_round, lead, client_of):
    round_, judge = judged_round
    people_grade(stage, round_, first_five)
    page, call = addresses(round_, judge)
    client = client_of(lead)
    refused = client.get(call).json()
    assert (refused["whole"], refused["queries"], refused["runs"]) == (5, 12, [])
    assert "drawn at random" in refused["why"]
    assert "No interval." in client.get(page).content.decode()
    told = client.get(call, {"drawn": "true", "half": "0.1"}).json()
    assert (told["why"], [one["run"] for one in told["runs"]]) == ("", ["bm25", "neural"])
    runs = [pooled.ranked(run) for run in stage.collection.runs.order_by("name")]
    ours, theirs = (
        evaluate(Qrels.from_dict(nested(grades)), runs, "nDCG@10").runs
        for grades in (judged.labels_of(round_), judged.grades_of(judge, round_))
    )
    for one, mine, other in zip(told["runs"], ours, theirs, strict=True):
        values = other.per_query["nDCG@10"]
        expected = powered_mean(mine.per_query["nDCG@10"], values[:5], values[5:])
        assert (one["ppi"]["estimate"], one["ppi"]["low"]) == pytest.approx((expected.estimate, expected.low))
        assert one["stratified"]["human_only"]["mean"] == pytest.approx(mine.per_query["nDCG@10"].mean())
        assert one["ppi"]["needed"]["people_alone"] >= one["ppi"]["needed"]["with_machine"]
    for method in ("ppi", "stratified"):
        html = client.get(page, {"drawn": "yes", "half": "0.1", "method": method}).content.decode()
        assert "is your word" in html
        assert ("Lambda" in html) == (method == "ppi")
    assert client.get(page, {"drawn": "yes", "format": "json"}).json()["runs"][0]["run"] == "bm25"


def test_all_queries_judged_need_nobodys_word(stage, judged_round, lead):
    round_, judge = judged_round
    people_grade(stage, round_, lambda pair: True)
    told = estimates.estimates_of(judge, round_, lead)
    assert (told.why, told.whole) == ("", 12)
    one = told.runs[0].ppi.powered
    assert one.human_only is not None
    assert (one.estimate, one.low) == pytest.approx((one.human_only.mean, one.human_only.low))


def test_the_slice_tells_a_rate_and_no_metric(stage, judged_round, lead, client_of):
    round_, judge = judged_round
    run = JudgeRun.objects.create(round=round_, judge=judge, cap_calls=1, audit_share=0.4, seed=5)
    inside = audit_slice.slice_of(round_, run.seed, run.audit_share)
    assert "have yet to judge" in estimates.estimates_of(judge, round_, lead).rate_why
    people_grade(stage, round_, lambda pair: pair.pk in inside)
    told = estimates.estimates_of(judge, round_, lead, drawn=True)
    assert told.runs == ()
    assert "drawn over pairs" in told.why
    assert told.rate is not None
    assert (told.rate.queries, told.rate.queries + told.rate.others) == (len(inside), round_.pairs.count())
    truth = [by_people(pair) >= 1 for pair in round_.pairs.select_related("query", "document")]
    assert told.rate.low <= sum(truth) / len(truth) <= told.rate.high
    html = client_of(lead).get(addresses(round_, judge)[0]).content.decode()
    assert "of the pairs that it graded" in html


def test_a_lead_who_rates_is_told_nothing_before_they_have_graded(stage, judged_round, lead, client_of):
    round_, judge = judged_round
    inviting.invite(round_, [lead], actor=lead)
    people_grade(stage, round_, lambda pair: pair.query.query_id < "q10")
    told = client_of(lead).get(addresses(round_, judge)[1], {"drawn": "true"}).json()
    assert (told["runs"], told["rate"], told["queries"]) == ([], None, 0)
    assert "You may still grade" in told["why"]
    assert "You may still grade" in client_of(lead).get(addresses(round_, judge)[0]).content.decode()


def test_what_cannot_be_asked_is_said(judged_round, lead, client_of):
    page, call = addresses(*judged_round)
    client = client_of(lead)
    for asked in ({"metric": "nDCC@10"}, {"metric": "GMAP"}, {"half": "0"}, {"half": "nan"}, {"half": "wide"}):
        assert client.get(call, asked).status_code == 400, asked
        response = client.get(page, asked)
        assert (response.status_code, 'role="alert"' in response.content.decode()) == (422, True), asked
    judge = judged_round[1]
    Judge.objects.filter(pk=judge.pk).update(kind="downstream")
    assert (client.get(page).status_code, client.get(call).status_code) == (404, 404)
