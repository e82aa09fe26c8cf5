"""Tests of stages: where a collection is, and the next step for each role."""

from __future__ import annotations

import pytest
from django.core.cache import cache

from assay.coefficients import gate
from evaluation.overview import stages
from evaluation.overview.cards import queries_card, snapshot_card
from evaluation.overview.collection_state import Standing
from evaluation.overview.next_step import Look, next_act, waits_for_lead
from judgments.agreement import resolutions, round_report
from judgments.rounds import rounds
from pooling.strata.strata import add_stratum
from tests.evaluation.stage import by_digit

pytestmark = pytest.mark.django_db


@pytest.fixture
def states(collection, lead):
    return lambda: {step.key: step.state for step in stages.steps_of(Standing(collection))}


@pytest.fixture
def due(collection, lead, engineer):
    def find(user=lead, role="lead"):
        result = next_act(Look(Standing(collection), user, role))
        return (result.key, result.act.label)

    return find


def test_new_collection_has_reached_nothing(states, due):
    assert set(states().values()) == {"todo"}
    assert due() == ("queries", "Import query log")


def test_log_without_queries_is_under_way(stage, states, due):
    stage.store("query-logs", "query,count\ntent,9\n", "log.csv")
    assert states()["queries"] == "doing"
    assert due() == ("queries", "Draw queries")


def test_queries_name_the_log_they_were_drawn_from(stage, collection, lead):
    stage.drawn(head=1, torso=2, tail=3)
    result = queries_card(Look(Standing(collection), lead, "lead"))
    assert (result.count, result.unit) == ("6", "of 20 in the log")
    stage.store("query-logs", "query,count\nhammock,9\nlarge hammock,4\n", "later.csv")
    add_stratum(collection.query_logs.get(name="later.csv"), actor=lead, name="hammocks", share=0.2, words=["hammock"])
    result = queries_card(Look(Standing(collection), lead, "lead"))
    assert (result.count, result.unit) == ("8", "queries"), "the small log of the stratum never held eight"
    assert result.words.startswith("6 queries drawn by tier")
    assert result.words.endswith("seed 17. 2 in another draw.")


def test_one_system_is_not_enough_for_a_pool(stage, due):
    stage.queries()
    assert due() == ("runs", "Add run")
    stage.run("bm25", "0123")
    assert due() == ("runs", "Add run")


def test_text_comes_before_the_pool(stage, due):
    stage.queries()
    stage.run("bm25", "0123")
    stage.run("neural", "1045")
    assert due() == ("runs", "Add documents")
    stage.documents()
    assert due() == ("pool", "Create pool")


def test_round_under_way(stage, states, due, lead):
    stage.systems(4)
    round_ = stage.round()
    stage.graded(round_, by_digit, raters=1)
    assert states()["round"] == "doing"
    assert due() == ("round", "View progress")


def test_round_whose_pairs_are_still_chosen_is_never_done(stage, collection, states, due, lead):
    stage.systems(4)
    round_ = stage.round(most_pairs=40)
    stage.graded(round_, by_digit)
    assert states()["round"] == "doing"
    result = next_act(Look(Standing(collection), lead, "lead"))
    assert (result.key, result.act.label) == ("round", "View progress")
    assert result.words == "pairs of Round 1 are still being chosen, up to 40."
    rounds.stop_growing(round_, why="a test", actor=lead)
    assert states()["round"] == "done"


def test_lead_who_rates_rates_first(stage, due, lead):
    stage.systems(4)
    rounds.invite(stage.round(), [lead], actor=lead)
    assert due() == ("round", "Rate 11 pairs")


def test_judged_pairs_need_no_judgments(stage, collection, lead):
    stage.systems()
    round_ = stage.round()
    assert snapshot_card(Look(Standing(collection), lead, "lead")).words.endswith("needs judgments.")
    assert stages.snapshot_state(Standing(collection)) == ("todo", "needs judgments")
    stage.graded(round_, by_digit)
    assert snapshot_card(Look(Standing(collection), lead, "lead")).words.startswith("No snapshot yet.")
    assert stages.snapshot_state(Standing(collection)) == ("todo", "no snapshot yet")


def test_wide_conflicts_come_before_the_snapshot(stage, due, lead):
    stage.systems()
    round_ = stage.round()
    pair = round_.pairs.first()
    stage.graded(round_, lambda one, place: 3 * place if one.pk == pair.pk else by_digit(one, place))
    assert due() == ("agreement", "Resolve 1 conflict")
    resolutions.resolve(pair, grade=3, reason="A tent is a tent.", actor=lead)
    assert due() == ("snapshot", "Freeze labels")


def test_raters_who_disagree_fail_the_gate(stage, states, due, lead, monkeypatch):
    for name in ("ENOUGH_UNITS", "ENOUGH_QUERIES"):
        monkeypatch.setattr(gate, name, 1)
    stage.systems()
    round_ = stage.round()
    stage.graded(round_, lambda pair, place: (int(pair.document.doc_id[1:]) + place) % 2)
    assert states()["agreement"] == "warn"  # the navigation waits for the job that counts, and computes nothing
    round_report.exact(round_)
    cache.clear()
    assert states()["agreement"] == "fail"
    assert due() == ("agreement", "View agreement")


def test_snapshot_wants_scores(stage, states, due, engineer):
    stage.whole_way()
    assert states()["snapshot"] == "done"
    assert states()["scores"] == "todo"
    assert due() == ("scores", "Score 2 runs")
    assert due(engineer, "engineer") == ("scores", "Score 2 runs")


def test_newer_round_is_not_frozen_yet(stage, states, lead):
    stage.whole_way()
    round_ = stage.round(name="Round 2")
    stage.graded(round_, by_digit)
    assert states()["snapshot"] == "doing"


def test_engineers_get_no_links_to_lead_actions(stage, collection, engineer, due):
    stage.systems()
    assert due(engineer, "engineer") == ("scores", "View scores")
    assert waits_for_lead(Look(Standing(collection), engineer, "engineer")).act.label == "Create pool"


def test_navigation_is_never_wrong_after_an_act(stage, collection, lead):
    assert stages.steps(collection, lead)[0].state == "todo"
    stage.queries()
    assert stages.steps(collection, lead)[0].state == "done"


def test_navigation_is_cheap(stage, collection, lead, django_assert_max_num_queries):
    stage.whole_way()
    with django_assert_max_num_queries(25):
        stages.steps(collection, lead)
    with django_assert_max_num_queries(1):
        stages.steps(collection, lead)


def test_every_step_leads_somewhere(stage, collection, lead, client_of):
    stage.whole_way()
    for step in stages.steps(collection, lead):
        assert client_of(lead).get(step.url).status_code == 200
