"""Tests of decisions: planning, judging whole queries in random order, and the verdict."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

import assay
from assay.core.errors import Conflict, NotValid
from evaluation.decisions import decisions, findings, live, watching
from evaluation.decisions.decisions import Settings
from evaluation.models import Decision
from judgments.agreement import resolutions
from judgments.archive import archive
from judgments.models import AuditRow, Round, Slot
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from tests.evaluation.decisions.conftest import lists, rate, run_file

pytestmark = pytest.mark.django_db


def qrels_of(decision: Decision) -> dict[str, dict[str, int]]:
    return {query_id: dict(of) for query_id, of in live.judged(decision).labels.items()}


def test_queries_are_judged_whole_and_in_a_seeded_random_order(start: Any) -> None:
    decision = start(*lists(0.5))
    positions = list(decision.round.pairs.order_by("position").values_list("query__query_id", flat=True))
    assert list(dict.fromkeys(positions)) == decision.order
    assert sorted(decision.order) == sorted(set(positions)) != decision.order
    # Nobody returns to a query: its pairs stand together.
    assert positions == sorted(positions, key=decision.order.index)


def test_another_seed_gives_another_order(systems: Any) -> None:
    baseline, candidate = systems(*lists(0.5))
    orders = {decisions.plan(baseline, [candidate], Settings(metric="DCG@3", seed=seed)).order for seed in (1, 2, 1)}
    assert len(orders) == 2


def test_a_verdict_is_that_of_the_library_and_closes_the_round(start: Any, rater: Any) -> None:
    before, after = lists(0.8)
    decision = start(before, after, metric="DCG@3")
    rate(decision, rater)
    decisions.look(decision)
    (candidate,) = decision.candidates.all()
    expected = assay.decide(
        qrels_of(decision),
        {query_id: {doc: -rank for rank, doc in enumerate(of)} for query_id, of in before.items()},
        {query_id: {doc: -rank for rank, doc in enumerate(of)} for query_id, of in after.items()},
        "DCG@3",
        order=decision.order,
    )
    assert candidate.verdict == expected.verdict == "better"
    assert candidate.result["difference"] == pytest.approx(expected.difference, abs=1e-12)
    assert (candidate.result["queries"], candidate.result["low"]) == (expected.queries, expected.low)
    decision.round.refresh_from_db()
    assert decision.round.state == Round.State.CLOSED
    assert AuditRow.objects.filter(verb="decisions.look").count() == 1


def test_a_round_stays_open_if_the_lead_wants_that(start: Any, rater: Any) -> None:
    decision = start(*lists(0.8), closes=False)
    rate(decision, rater)
    decisions.look(decision)
    decision.round.refresh_from_db()
    assert decision.candidates.get().verdict == "better"
    assert decision.round.state == Round.State.OPEN


def test_the_first_verdict_remains_when_labels_change(start: Any, rater: Any, lead: Any) -> None:
    decision = start(*lists(0.8), closes=False)
    rate(decision, rater)
    decisions.look(decision)
    first = decision.candidates.get().result
    for pair in decision.round.pairs.select_related("document"):
        if pair.document.doc_id.endswith("-3"):
            resolutions.resolve(pair, grade=0, reason="seen again", actor=lead)
    decisions.look(decision)
    assert decision.candidates.get().result == first
    assert live.standing(decision, decision.candidates.get().run).outcome.verdict != "better"


def test_only_queries_before_the_first_unfinished_one_count(start: Any, rater: Any, rater2: Any) -> None:
    decision = start(*lists(0.5), raters=[rater, rater2], ratings_per_pair=1)
    first = decision.order[0]
    held = Slot.objects.filter(round=decision.round, pair__query__query_id=first).order_by("pk").first()
    assert held is not None
    # Another rater keeps one document of the first query.
    Slot.objects.filter(pk=held.pk).update(rater=rater2, lease_until=timezone.now() + timedelta(hours=1))
    rate(decision, rater, most=60)
    judged = live.judged(decision)
    assert (judged.queries, judged.waits_for) == (0, first)
    assert judged.ahead > 5


def test_queries_with_identical_lists_need_no_judging_and_count_with_0(start: Any, rater: Any) -> None:
    decision = start(*lists(0.9, same=25), closes=False)
    assert decision.identical == 25
    assert decision.round.pairs.values("query").distinct().count() == 15
    rate(decision, rater)
    outcome = live.standing(decision, decision.candidates.get().run).outcome
    assert len(outcome.trace) == 40
    assert sum(step.difference == 0 for step in outcome.trace) >= 25


def test_identical_systems_are_equivalent_at_once(start: Any) -> None:
    before, _ = lists(0.5)
    after = {query_id: [*of, f"{query_id}-deeper-1"] for query_id, of in before.items()}
    decision = start(before, after)
    candidate = decision.candidates.get()
    assert decision.round is None
    assert (candidate.verdict, candidate.result["reason"]) == ("equivalent", "identical_lists")


def test_documents_at_the_same_rank_can_be_skipped_for_additive_metrics(systems: Any) -> None:
    before, after = {"q1": ["a-1", "b-1", "c-1"]}, {"q1": ["a-1", "c-1", "d-1"]}
    baseline, candidate = systems(before, after)
    whole = decisions.plan(baseline, [candidate], Settings(metric="DCG@3"))
    short = decisions.plan(baseline, [candidate], Settings(metric="DCG@3", skips_same_rank=True))
    assert (set(whole.pairs["q1"]), set(short.pairs["q1"])) == ({"a-1", "b-1", "c-1", "d-1"}, {"b-1", "c-1", "d-1"})
    with pytest.raises(NotValid) as caught:
        decisions.plan(baseline, [candidate], Settings(metric="nDCG@3", skips_same_rank=True))
    assert "skips_same_rank" in caught.value.fields


def test_a_skipped_document_changes_no_difference(start: Any, rater: Any) -> None:
    before = {f"q{n}": [f"q{n}-s-{n % 3}", f"q{n}-a-{n % 4}", f"q{n}-b-1"] for n in range(20)}
    after = {f"q{n}": [f"q{n}-s-{n % 3}", f"q{n}-c-{n % 2}", f"q{n}-a-{n % 4}"] for n in range(20)}
    decision = start(before, after, skips_same_rank=True, closes=False)
    rate(decision, rater)
    outcome = live.standing(decision, decision.candidates.get().run).outcome
    full = {
        query_id: {doc_id: int(doc_id[-1]) for doc_id in [*before[query_id], *after[query_id]]} for query_id in before
    }
    ranked = [{q: {doc: -rank for rank, doc in enumerate(of)} for q, of in one.items()} for one in (before, after)]
    expected = assay.decide(full, *ranked, "DCG@3", order=decision.order)
    assert [step.difference for step in outcome.trace] == pytest.approx([step.difference for step in expected.trace])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"metric": "nDCG"}, "metric"),
        ({"metric": "nDCG@10 RR@10"}, "metric"),
        ({"metric": "nonsense@3"}, "metric"),
        ({"metric": "alpha_nDCG@3"}, "metric"),
        ({"metric": "nDCG@1000"}, "metric"),
        ({"delta": 0.0}, "delta"),
        ({"alpha": 0.7}, "alpha"),
        ({"metric": "DCG@3", "method": "betting"}, "method"),
    ],
)
def test_settings_that_cannot_decide_are_refused(systems: Any, changes: dict[str, Any], field: str) -> None:
    baseline, candidate = systems(*lists(0.5, queries=3))
    with pytest.raises(NotValid) as caught:
        decisions.plan(baseline, [candidate], Settings(**changes))
    assert field in caught.value.fields


def test_systems_that_share_no_query_are_refused(systems: Any) -> None:
    before, after = lists(0.5, queries=6)
    halves = {q: of for q, of in before.items() if q < "q003"}, {q: of for q, of in after.items() if q >= "q003"}
    baseline, candidate = systems(*halves)
    with pytest.raises(NotValid) as caught:
        decisions.plan(baseline, [candidate], Settings(metric="DCG@3"))
    assert "queries" in caught.value.fields


def test_a_query_that_one_system_does_not_answer_counts_as_0(start: Any, rater: Any) -> None:
    before, after = lists(0.0)
    del after["q000"]
    decision = start(before, after, closes=False)
    rate(decision, rater)
    outcome = live.standing(decision, decision.candidates.get().run).outcome
    (step,) = [step for step in outcome.trace if step.query_id == "q000"]
    assert step.difference <= 0
    assert len(outcome.trace) == 40


def test_several_candidates_share_the_error_rate(collection: Any, systems: Any, store_file: Any, lead: Any) -> None:
    before, after = lists(0.9)
    baseline, first = systems(before, after)
    store_file("runs", run_file(lists(0.9, seed=5)[1]), "other.run")
    second = collection.runs.get(name="other")
    decision, _ = decisions.start(
        baseline, [first, second], actor=lead, name="two", settings=Settings(metric="DCG@3"), raters=[lead]
    )
    rate(decision, lead)
    alone = live.outcome_of(decision, first, qrels_of(decision))
    decision.candidates.filter(run=second).delete()
    wider = live.outcome_of(decision, first, qrels_of(decision))
    assert alone.trace[-1].high - alone.trace[-1].low > wider.trace[-1].high - wider.trace[-1].low


def test_queries_are_weighted_by_the_traffic_that_they_represent(collection: Any, systems: Any) -> None:
    baseline, candidate = systems(*lists(0.5, queries=4))
    weights = {"q000": 0.5, "q001": 0.3, "q002": 0.2, "q003": 0.0}
    for query in collection.queries.all():
        query.weight, query.probability = weights[query.query_id], 0.5
        query.save()
    plan = decisions.plan(baseline, [candidate], Settings(metric="DCG@3"))
    assert (set(plan.order), plan.weightless) == ({"q000", "q001", "q002"}, 1)
    assert plan.weights["q000"] == 1.0
    assert not decisions.plan(baseline, [candidate], Settings(metric="DCG@3", weighted=False)).weights


def test_a_name_is_used_once(start: Any, collection: Any, lead: Any) -> None:
    decision = start(*lists(0.5, queries=5))
    with pytest.raises(Conflict):
        decisions.start(
            decision.baseline,
            [decision.candidates.get().run],
            actor=lead,
            name="new",
            settings=Settings(metric="DCG@3"),
            raters=[lead],
        )


def test_people_can_be_invited_before_anybody_rates(systems: Any, lead: Any) -> None:
    baseline, candidate = systems(*lists(0.5, queries=5))
    decision, links = decisions.start(
        baseline, [candidate], actor=lead, name="new", settings=Settings(metric="DCG@3"), people=["Rosa", "Rudi"]
    )
    assert decision.round is not None
    assert decision.round.state == Round.State.OPEN
    assert [link.meant_for for link, _ in links] == ["Rosa", "Rudi"]


def test_documents_that_raters_could_not_judge_are_reported(start: Any, rater: Any) -> None:
    decision = start(*lists(0.8), closes=False)
    (pair,) = assignment.claim_batch(decision.round, rater=rater, size=1)
    unable = submission.Answer(pair=pair.uuid, client_id=uuid.uuid4(), state="unrateable", reason="no_access")
    submission.submit(decision.round, unable, rater=rater)
    rate(decision, rater)
    part = findings.page(decision)["parts"][0]
    assert (part.unjudged, part.could_change) == (1, False)


def test_raters_of_the_round_do_not_see_its_state(start: Any, rater: Any, lead: Any) -> None:
    decision = start(*lists(0.5, queries=20), raters=[lead, rater])
    assert not findings.visible(lead, decision)
    assert findings.hidden(lead, decision.collection) == {decision.pk}
    rounds.close_round(decision.round, actor=lead)
    decision.round.refresh_from_db()
    assert findings.visible(lead, decision)


def test_an_answer_queues_a_look_that_finds_the_verdict(start: Any, rater: Any, commit: Any) -> None:
    decision = start(*lists(0.8))
    rate(decision, rater, most=200)
    with commit(execute=True):
        watching.queue_look(decision.round)
    assert decision.candidates.get().verdict == "better"


def test_open_decisions_are_looked_at_from_time_to_time(start: Any, rater: Any) -> None:
    decision = start(*lists(0.8))
    rate(decision, rater)
    watching.look_at_open()
    assert decision.candidates.get().verdict == "better"


def test_the_same_inputs_have_the_same_hash(start: Any, rater: Any) -> None:
    decision = start(*lists(0.5, queries=6))
    before = findings.manifest_hash(decision, qrels_of(decision))
    assert before == findings.manifest_hash(Decision.objects.get(pk=decision.pk), qrels_of(decision))
    rate(decision, rater, most=12)
    assert findings.manifest_hash(decision, qrels_of(decision)) != before


def test_a_run_of_a_decision_cannot_be_deleted(start: Any, lead: Any) -> None:
    decision = start(*lists(0.5, queries=5))
    rounds.close_round(decision.round, actor=lead)
    archive.archive("run", decision.baseline, actor=lead)
    with pytest.raises(Conflict, match="decision new"):
        archive.delete("run", decision.baseline, actor=lead)


def test_a_closed_decision_is_hidden_while_its_pairs_are_rated_again(start: Any, rater: Any, lead: Any) -> None:
    decision = start(*lists(0.5, queries=5))
    closed = rounds.close_round(decision.round, actor=lead)
    again = rounds.draft_of(closed, list(closed.pairs.all()), origin={}, actor=lead, raters=[lead])
    rounds.open_round(again, actor=lead)
    decision.round.refresh_from_db()
    assert not findings.visible(lead, decision)
    assert findings.hidden(lead, decision.collection) == {decision.pk}
