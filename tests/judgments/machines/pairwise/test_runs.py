"""Tests of pairwise comparison runs: one answer per model, caps, failed calls, pause and resume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError

from assay.core.errors import Conflict, NotValid
from judgments.jobs import jobs
from judgments.machines.judge_runs import attempts
from judgments.machines.pairwise import runs
from judgments.machines.pairwise import scores as battle_scores
from judgments.machines.providers import accounts
from judgments.models import AuditRow, Battle, BattleRun, Job, MachineJudgment, Slot
from tests.judgments.machines.model_replies import KEY, provider_at
from tests.judgments.machines.pairwise.example import better, choice_of, fought, with_worth
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
State = BattleRun.State
QUERIES, DOCUMENTS = 2, 5


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return with_worth(make_round(queries=QUERIES, documents=DOCUMENTS, raters=[rater]))


def order(run: BattleRun, query_id: str) -> list[str]:
    """The query's documents by score, the best first."""
    scores = battle_scores.scores_of(run, None)
    mine = {doc_id: score for (query, doc_id), (score, _) in scores.items() if query == query_id}
    return sorted(mine, key=lambda doc_id: -mine[doc_id])


def test_each_model_answers_each_battle_once(
    round_: Any, provider: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    run = fought(round_, choice_of(provider, "judge-1", "judge-2", both=0.5), lead, commit)
    assert (run.state, run.calls, len(server.requests)) == (State.DONE, 2 * run.battles, 2 * run.battles)
    assert {body["model"] for _, _, body in server.requests} == {"judge-1", "judge-2"}
    rows = list(Battle.objects.select_related("a__document", "b__document", "a__query", "b__query"))
    assert len(rows) == len({(row.a_id, row.b_id, row.swapped, row.requested_model) for row in rows}) == 2 * run.battles
    for row in rows:
        assert row.a.query == row.b.query
        # Whatever the order shown was, in the row the score is as if a had been first.
        a, b = (int(pair.document.doc_id[-1]) for pair in (row.a, row.b))
        assert row.score is not None
        assert (row.score > 0) == (b > a)
    assert {row.swapped for row in rows} == {True, False}
    assert order(run, "q1") == [f"d1-{number}" for number in range(DOCUMENTS, 0, -1)]
    # The guidelines are in the words, and nothing of runs or ranks; what was answered counts for nothing by itself.
    assert "Grade what helps." in server.prompts[0]
    assert not any("bm25" in prompt or "depth" in prompt for prompt in server.prompts)
    assert not Slot.objects.filter(filled_by__isnull=False).exists()
    assert not MachineJudgment.objects.exists()
    assert AuditRow.objects.filter(verb="battling.start", actor=lead).count() == 1
    assert not any(KEY in str(row.detail) + row.sentence for row in AuditRow.objects.all())


def test_answered_battles_are_never_paid_again(
    round_: Any, provider: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    first = fought(round_, choice_of(provider), lead, commit)
    before = len(server.requests)
    again = fought(round_, choice_of(provider), lead, commit)
    assert (again.state, again.calls, again.spent_usd, len(server.requests)) == (State.DONE, 0, 0.0, before)
    assert set(Battle.objects.filter(run=again).values_list("reused", flat=True)) == {True}
    assert battle_scores.scores_of(again, None) == battle_scores.scores_of(first, None)
    with commit(execute=True):
        runs.resume(again, actor=lead)
    assert (len(server.requests), Battle.objects.filter(run=again).count()) == (before, again.battles)


def test_equal_texts_take_one_call(round_: Any, provider: Any, server: ModelServer, lead: Any, commit: Any) -> None:
    for pair in round_.pairs.select_related("document"):
        pair.document.title, pair.document.text = "", "The same, worth 1."
        pair.document.save()
    run = fought(round_, choice_of(provider, cycles=1, both=1.0), lead, commit)
    # One question a query, since the queries' texts differ; each battle has its answer all the same.
    assert (len(server.requests), run.calls) == (QUERIES, QUERIES)
    assert Battle.objects.filter(score__isnull=False).count() == run.battles


def test_an_estimate_asks_nothing_and_bounds_what_it_costs(
    round_: Any, provider: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    estimate = runs.estimate_run(round_, choice_of(provider))
    assert (server.requests, BattleRun.objects.count(), estimate.queries, estimate.documents) == ([], 0, QUERIES, 10)
    run = fought(round_, choice_of(provider), lead, commit, cap_usd=5.0)
    assert estimate.usd is not None
    assert (estimate.battles, estimate.calls[0]) == (run.battles, run.calls)
    assert 0 < run.spent_usd <= estimate.usd[1]


def test_the_caps_hold_over_all_models(round_: Any, provider: Any, server: ModelServer, lead: Any, commit: Any) -> None:
    run = fought(round_, choice_of(provider, "judge-1", "judge-2"), lead, commit, cap_calls=5)
    assert (run.state, run.calls, len(server.requests)) == (State.BUDGET, 5, 5)
    with pytest.raises(NotValid) as refused:
        runs.resume(run, actor=lead, cap_calls=5)
    assert "cap_calls" in refused.value.fields
    with commit(execute=True):
        runs.resume(run, actor=lead, cap_calls=10_000)
    run.refresh_from_db()
    assert (run.state, run.calls, len(set(server.prompts))) == (State.DONE, 2 * run.battles, run.battles)


def test_a_failed_call_is_no_vote(round_: Any, collection: Any, lead: Any, commit: Any) -> None:
    def answer(prompt: str, number: int) -> Answer:
        if "d1-1" in prompt:
            return Answer("I prefer the second one")
        return Answer("no", stop="refused") if "d2-1" in prompt else better(prompt, number)

    with serving(answer) as server:
        run = fought(round_, choice_of(provider_at(server.url, collection, lead)), lead, commit)
        calls_before = len(server.requests)
    failed = Battle.objects.filter(score__isnull=True)
    assert set(failed.values_list("outcome", flat=True)) == {"unparseable", "refused"}
    # What cannot be read is asked once more; a refusal is not.
    assert calls_before == run.calls == Battle.objects.count()
    assert failed.filter(outcome="unparseable").count() % 2 == 0
    scores = battle_scores.query_scores(run, round_.pairs.filter(query__query_id="q1")[0].query, None)
    assert scores.failed == failed.filter(a__query__query_id="q1").count() > 0
    assert "d1-1" not in [one.pair.document.doc_id for one in scores.documents]
    assert order(run, "q1") == [f"d1-{number}" for number in range(DOCUMENTS, 1, -1)]


def test_a_model_that_is_refused_leaves_the_others_to_go_on(
    round_: Any, collection: Any, server: ModelServer, provider: Any, lead: Any, commit: Any
) -> None:
    with serving(lambda prompt, number: Answer(status=401)) as shut:
        other = provider_at(shut.url, collection, lead, name="shut", concurrency=1)
        choice = runs.ComparisonSettings([(other, "judge-1"), (provider, "judge-1")])
        run = fought(round_, choice, lead, commit)
        assert (run.state, len(shut.requests)) == (State.REFUSED, 1)
    assert "shut" in run.end_message
    assert KEY not in run.end_message
    assert Job.objects.get(pk=run.job_id).state == Job.State.FAILED
    assert Battle.objects.filter(score__isnull=False).count() == run.battles == len(server.requests)


def test_the_next_battles_are_between_uncompared_documents(
    round_: Any, provider: Any, server: ModelServer, lead: Any, commit: Any
) -> None:
    run = fought(round_, choice_of(provider, cycles=1, both=0.0), lead, commit)
    before = {frozenset(row[:2]) for row in run.drawn}
    assert len(before) == QUERIES * DOCUMENTS
    with commit(execute=True):
        added = runs.further(run, 2, actor=lead)
    run.refresh_from_db()
    new = [frozenset(row[:2]) for row in run.drawn[run.battles - added :]]
    assert (added, len(server.requests), run.state) == (2 * QUERIES, run.battles, State.DONE)
    assert not before & set(new)
    with commit(execute=True):
        runs.further(run, 100, actor=lead)
    run.refresh_from_db()
    assert run.battles == QUERIES * DOCUMENTS * (DOCUMENTS - 1) // 2
    with pytest.raises(Conflict, match="no comparison is left"):
        runs.further(run, 1, actor=lead)


def test_they_pause_and_go_on(
    round_: Any, provider: Any, server: ModelServer, lead: Any, commit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = jobs.Work.progress

    def and_pause(work: jobs.Work, done: int, total: int | None = None) -> None:
        progress(work, done, total)
        if done >= 2:
            runs.pause(BattleRun.objects.select_related("job", "round__collection").get(), actor=lead)

    # The job looks whether it is to stop at every turn, and the server gives it time to.
    monkeypatch.setattr(attempts, "EVERY", 0.0)
    provider.concurrency = 1
    provider.save()
    server.answer = lambda prompt, number: Answer(better(prompt, number).text, wait=0.2)
    with monkeypatch.context() as patch:
        patch.setattr(jobs.Work, "progress", and_pause)
        run = fought(round_, choice_of(provider, cycles=1), lead, commit)
    assert run.state == State.PAUSED
    assert 2 <= len(server.requests) < run.battles
    server.answer = better
    with commit(execute=True):
        runs.resume(run, actor=lead)
    run.refresh_from_db()
    assert (run.state, len(server.requests), run.calls) == (State.DONE, run.battles, run.battles)


def test_pausing_needs_battles_at_work(round_: Any, provider: Any, lead: Any, commit: Any) -> None:
    waiting = runs.start(round_, choice_of(provider), actor=lead, cap_usd=None, cap_calls=10)
    with pytest.raises(Conflict, match="Pause them first"):
        runs.resume(waiting, actor=lead)
    with pytest.raises(Conflict, match="Pairwise comparisons are calling"):
        accounts.remove(provider, actor=lead)
    runs.pause(waiting, actor=lead)
    assert BattleRun.objects.get().pause_requested
    BattleRun.objects.update(state=State.DONE)
    with pytest.raises(Conflict, match="not running"):
        runs.pause(BattleRun.objects.select_related("job", "round__collection").get(), actor=lead)
    accounts.remove(provider, actor=lead)
    with pytest.raises(Conflict, match="was removed"):
        runs.resume(BattleRun.objects.get(), actor=lead)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"models": ("nobody",)}, "models"),
        ({"models": ("judge-1", "judge-1")}, "models"),
        ({"cycles": 0}, "cycles"),
        ({"both": 1.5}, "both"),
        ({"most": 1}, "most"),
        ({"queries": ["q9"]}, "queries"),
        ({"cap_calls": None}, "cap_usd"),
        ({"models": ("judge-2",), "cap_usd": 1.0}, "cap_usd"),
    ],
)
def test_a_refused_start_has_a_reason(given: dict[str, Any], field: str, round_: Any, provider: Any, lead: Any) -> None:
    caps = {"cap_usd": given.pop("cap_usd", None), "cap_calls": given.pop("cap_calls", 10)}
    choice = choice_of(provider, *given.pop("models", ()), **given)
    with pytest.raises(NotValid) as refused:
        runs.start(round_, choice, actor=lead, **caps)
    assert field in refused.value.fields
    assert not BattleRun.objects.exists()


def test_documents_without_a_text_are_not_compared(round_: Any, provider: Any, lead: Any) -> None:
    for pair in round_.pairs.filter(query__query_id="q1").select_related("document")[:4]:
        pair.document.text = pair.document.title = ""
        pair.document.save()
    estimate = runs.estimate_run(round_, choice_of(provider))
    assert (estimate.queries, estimate.documents, estimate.without_text) == (1, DOCUMENTS, 4)
    with pytest.raises(Conflict, match="two documents"):
        runs.start(round_, choice_of(provider, queries=["q1"]), actor=lead, cap_usd=None, cap_calls=10)


def test_battles_never_change(round_: Any, provider: Any, lead: Any, commit: Any) -> None:
    fought(round_, choice_of(provider, cycles=1), lead, commit)
    for statement in ("UPDATE judgments_battle SET score = 1", "DELETE FROM judgments_battle"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
