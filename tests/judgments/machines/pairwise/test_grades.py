"""Tests of grades from pairwise comparisons: anchors, calibration on other labels, visibility."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid
from assay.llm.pairwise.matrix_svg import outcomes
from judgments import hooks
from judgments.machines.calibration import calibration, pairwise_judges, routing
from judgments.machines.pairwise import grades as battle_grades
from judgments.machines.pairwise import scores as battle_scores
from judgments.machines.pairwise.scores import query_scores
from judgments.models import Battle, BattleRun, MachineJudgment
from judgments.rating import assignment
from judgments.rounds import rounds
from tests.judgments.machines.model_replies import provider_at
from tests.judgments.machines.pairwise.example import choice_of, fought, with_worth
from tests.model_server import Answer, ModelServer
from tests.world import grade_all, grade_together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
QUERIES, DOCUMENTS = 4, 6
# People find the first two worth nothing, the next two something, the last two much.
GRADES = {f"d{query}-{at}": (at - 1) // 2 for query in range(1, QUERIES + 1) for at in range(1, DOCUMENTS + 1)}


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return with_worth(make_round(queries=QUERIES, documents=DOCUMENTS, raters=[rater]))


@pytest.fixture
def run(round_: Any, server: ModelServer, collection: Any, lead: Any, commit: Any) -> BattleRun:
    battle_run = fought(round_, choice_of(provider_at(server.url, collection, lead), cycles=2, both=0.5), lead, commit)
    battle_run.round = round_
    return battle_run


def test_grades_come_from_anchors_and_are_compared_with_the_others(
    run: BattleRun, round_: Any, rater: Any, lead: Any
) -> None:
    grade_all(round_, rater, GRADES)
    judge = battle_grades.create_judge(run, actor=lead, share=0.5)
    rows = MachineJudgment.objects.filter(judge=judge).select_related("pair__document")
    assert (judge.kind, rows.count()) == ("pairwise", QUERIES * DOCUMENTS)
    # In each query a better document never has a lower grade, and grades go apart as people's do.
    for query in range(1, QUERIES + 1):
        grades = {row.pair.document.doc_id: row.grade for row in rows}
        mine = [grades[f"d{query}-{at}"] for at in range(1, DOCUMENTS + 1)]
        assert mine == sorted(mine, key=int)
        assert len(set(mine)) > 1
    row = rows[0]
    assert row.probabilities is not None
    assert sum(row.probabilities.values()) == pytest.approx(1.0)
    anchors = {tuple(key) for key in judge.inputs["example_pairs"]}
    assert 0 < len(anchors) == judge.parameters["anchors"] < len(GRADES)
    # It stands among the machine judges of the round, and no anchor tells for it.
    held = calibration.calibrate(judge, round_, lead, over="all")
    assert held.calibrated.pairs == len(GRADES) - len(anchors)
    with pytest.raises(Conflict, match="already exists"):
        battle_grades.create_judge(run, actor=lead, share=0.5)
    assert battle_grades.judges_of(run) == [judge]


def test_without_people_there_are_no_grades(run: BattleRun, lead: Any) -> None:
    with pytest.raises(NotValid, match="0 anchors"):
        battle_grades.create_judge(run, actor=lead)
    with pytest.raises(NotValid):
        battle_grades.create_judge(run, actor=lead, share=0.0)
    assert not MachineJudgment.objects.exists()


def test_the_matrix_is_antisymmetric_and_in_the_order_of_the_scores(run: BattleRun, round_: Any) -> None:
    query = round_.pairs.filter(query__query_id="q1")[0].query
    query_result = query_scores(run, query, None)
    scores = [one.score for one in query_result.documents]
    assert scores == sorted(scores, reverse=True)
    assert sum(scores) == pytest.approx(0.0, abs=1e-9)
    ids = [one.pair.document.doc_id for one in query_result.documents]
    assert ids == [f"d1-{at}" for at in range(DOCUMENTS, 0, -1)]
    assert [doc_id for doc_id, _ in query_result.table] == ids
    for i, (_, line) in enumerate(query_result.table):
        for j, cell in enumerate(line):
            other = query_result.table[j][1][i]
            assert cell == (None if other is None else pytest.approx(-other))
            # The model prefers the better one in any order, and scores agree: blue above the diagonal.
            assert cell is None or (cell > 0) == (i < j)
    rows = Battle.objects.filter(run=run, a__query=query)
    met = [(row.a.document.doc_id, row.b.document.doc_id, row.score) for row in rows]
    assert outcomes(ids, met).shape == (DOCUMENTS, DOCUMENTS)
    assert 'role="img"' in query_result.svg
    assert "best at the top" in query_result.svg
    assert query_result.place.both > 0
    assert sum(one.answers for one in query_result.documents) == 2 * query_result.answers


def test_comparisons_of_open_pairs_are_hidden_from_leads_who_rate(run: BattleRun, round_: Any, lead: Any) -> None:
    rounds.invite(round_, [lead], actor=lead)
    first = round_.pairs.order_by("position")[0]
    assert pairwise_judges.visible_battles(run, lead).count() == 0
    assert query_scores(run, first.query, lead).documents == ()
    # The lead answers three of the pairs: battles are told where both documents are among these.
    batch = assignment.claim_batch(round_, rater=lead, size=3)
    grade_together(round_, lead, {pair.uuid: 1 for pair in batch})
    mine = {pair.pk for pair in batch}
    seen = pairwise_judges.visible_battles(run, lead)
    both = Battle.objects.filter(run=run, a__in=mine, b__in=mine)
    assert set(seen.values_list("pk", flat=True)) == set(both.values_list("pk", flat=True))
    assert 0 < seen.count() < Battle.objects.filter(run=run).count()
    assert {one.pair.pk for one in query_scores(run, first.query, lead).documents} <= mine
    assert len(battle_scores.comparison_rows(run, lead)[1]) == seen.count()
    assert sum(row["answers"] for row in battle_scores.queries_of(run, lead)) == seen.count()
    assert sum(row["answers"] for row in battle_scores.counts(run, lead)) == seen.count()


def test_doubtful_battles_are_routed_to_people(
    round_: Any, server: ModelServer, collection: Any, lead: Any, commit: Any
) -> None:
    # Whoever is shown first wins: the order alone decides.
    server.answer = lambda prompt, number: Answer('{"reason": "first", "score": -1}')
    run = fought(round_, choice_of(provider_at(server.url, collection, lead), cycles=2, both=1.0), lead, commit)
    by_pair = battle_grades.doubts(round_, None)
    assert {doubt for doubts in by_pair.values() for doubt in doubts} == {hooks.Doubt(routing.TURNED, 1.0)}
    assert {one.reason for one in routing.routed(round_)} == {routing.AUDIT, routing.TURNED}
    place = battle_scores.counts(run, None)[0]
    assert place["share"] == 1.0


def test_labels_that_a_lead_may_still_give_teach_no_cut_points(
    make_round: Callable[..., Any], server: ModelServer, collection: Any, lead: Any, rater: Any, commit: Any
) -> None:
    given: dict[str, Any] = {"queries": QUERIES, "documents": DOCUMENTS, "ratings_per_pair": 2}
    round_ = with_worth(make_round(**given, raters=[rater, lead]))
    choice = choice_of(provider_at(server.url, collection, lead), cycles=2, both=0.5, audit_share=0.001)
    run = fought(round_, choice, lead, commit)
    grade_all(round_, rater, GRADES)
    # The lead may be handed any of them: cut points learnt from them would tell what others gave.
    with pytest.raises(NotValid, match=r"0 anchors.*may still grade"):
        battle_grades.create_judge(run, actor=lead, share=1.0)
    batch = assignment.claim_batch(round_, rater=lead, size=18)
    grade_together(round_, lead, {pair.uuid: GRADES[pair.document.doc_id] for pair in batch})
    judge = battle_grades.create_judge(run, actor=lead, share=1.0)
    assert {doc_id for _, doc_id in judge.inputs["example_pairs"]} == {pair.document.doc_id for pair in batch}
    # The scores of a query sum to nothing: with all but one told, that one would be known.
    assert not MachineJudgment.objects.filter(judge=judge, rationale__regex="[0-9]").exists()
