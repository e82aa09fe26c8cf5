"""Tests of automatic retries when a provider is down: growing delays, limits, a lead's choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from judgments.jobs import jobs
from judgments.machines.judge_runs import judge_runs, retry
from judgments.machines.pairwise import runs
from judgments.models import AuditRow, Battle, BattleRun, Job, JudgeRun, MachineJudgment
from tests.judgments.machines.model_replies import choice_of, gone_on, grade, provider_at, started, with_texts
from tests.judgments.machines.pairwise.example import better, fought, with_worth
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
State = JudgeRun.State
MINUTE = timedelta(minutes=1)
# What the server says: by turns, the last one for good.
DOWN, UP = Answer(status=503), grade(1)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda prompt, number: DOWN) as running:
        yield running


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return with_texts(make_round(queries=2, documents=3, raters=[rater]))


@pytest.fixture
def run(round_: Any, server: ModelServer, lead: Any, django_capture_on_commit_callbacks: Any) -> JudgeRun:
    """One that found its provider down."""
    choice = choice_of(provider_at(server.url, round_.collection, lead, concurrency=1))
    made = started(round_, choice, lead, django_capture_on_commit_callbacks)
    assert made.state == State.DOWN
    return made


@pytest.fixture
def tick(run: JudgeRun, django_capture_on_commit_callbacks: Any) -> Callable[[timedelta], int]:
    """``tick(after)``: the look that is taken so long after the run ended; what it queues is done."""
    return lambda after: look(run, after, django_capture_on_commit_callbacks)


def look(run: JudgeRun | BattleRun, after: timedelta, capture: Any) -> int:
    """The look that is taken so long after the run ended; what it queues is done."""
    run.refresh_from_db()
    assert run.ended_at is not None
    with capture(execute=True):
        woken = retry.retry_due(run.ended_at + after)
    run.refresh_from_db()
    return woken


def next_try(run: JudgeRun) -> timedelta | None:
    run.refresh_from_db()
    wait = retry.wait_of(run)
    return None if wait is None or wait.at is None or run.ended_at is None else wait.at - run.ended_at


def test_a_retry_resumes_where_the_run_stopped(
    run: JudgeRun, server: ModelServer, tick: Callable[[timedelta], int]
) -> None:
    before, caps = len(server.requests), (run.cap_usd, run.cap_calls)
    assert next_try(run) == 10 * MINUTE
    assert (tick(9 * MINUTE), len(server.requests)) == (0, before)
    assert tick(10 * MINUTE) == 1
    assert len(server.requests) > before
    assert (run.state, next_try(run)) == (State.DOWN, 20 * MINUTE)
    server.answer = lambda prompt, number: UP
    assert (tick(19 * MINUTE), tick(20 * MINUTE), run.state) == (0, 1, State.DONE)
    assert MachineJudgment.objects.filter(outcome="graded", grade=1).count() == 6
    assert (run.cap_usd, run.cap_calls) == caps
    assert AuditRow.objects.filter(verb="judging_waking.wake_due", actor=None).count() == 2
    assert (tick(48 * 60 * MINUTE), retry.wait_of(run)) == (0, None)


def test_a_run_continues_when_its_server_is_back(
    round_: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    with serving(lambda prompt, number: UP) as gone:
        choice = choice_of(provider_at(gone.url, round_.collection, lead, concurrency=1))
    run = started(round_, choice, lead, django_capture_on_commit_callbacks)
    assert (run.state, run.ended_at is None, len(gone.requests)) == (State.DOWN, False, 0)
    with serving(lambda prompt, number: UP, port=int(gone.url.rpartition(":")[2])) as back:
        assert run.ended_at is not None
        with django_capture_on_commit_callbacks(execute=True):
            assert retry.retry_due(run.ended_at + 10 * MINUTE) == 1
        run.refresh_from_db()
        assert (run.state, len(back.requests)) == (State.DONE, 6)


def test_it_is_tried_ever_more_seldom_and_in_the_end_left_to_a_lead(
    run: JudgeRun, lead: Any, tick: Callable[[timedelta], int], django_capture_on_commit_callbacks: Any
) -> None:
    waits = []
    while (wait := next_try(run)) is not None:
        waits.append(wait)
        # The answers are of no matter here: what the clock does hangs on how often it was tried.
        assert run.job is not None
        Job.objects.filter(pk=run.job.pk).update(parameters={**run.job.parameters, "woken": len(waits)})
    assert waits[:8] == [minutes * MINUTE for minutes in (10, 20, 40, 80, 160, 320, 640, 1280)]
    assert (set(waits[8:]), len(waits)) == ({timedelta(hours=24)}, retry.MOST)
    assert tick(timedelta(days=30)) == 0
    gone_on(run, lead, django_capture_on_commit_callbacks)
    assert next_try(run) == 10 * MINUTE


def test_an_attempt_that_got_an_answer_begins_the_wait_anew(
    run: JudgeRun, server: ModelServer, tick: Callable[[timedelta], int]
) -> None:
    tick(10 * MINUTE)
    assert next_try(run) == 20 * MINUTE
    first = len(server.requests)
    server.answer = lambda prompt, number: UP if number <= first + 1 else DOWN
    tick(20 * MINUTE)
    assert (run.state, MachineJudgment.objects.count(), next_try(run)) == (State.DOWN, 1, 10 * MINUTE)


def test_other_runs_are_not_retried(run: JudgeRun, tick: Callable[[timedelta], int]) -> None:
    for state in (one for one in State if one != State.DOWN):
        JudgeRun.objects.filter(pk=run.pk).update(state=state)
        assert (state, tick(timedelta(days=2)), retry.wait_of(run)) == (state, 0, None)


def test_a_wrong_key_and_a_reached_cap_are_left_to_people(
    run: JudgeRun, server: ModelServer, lead: Any, tick: Callable[[timedelta], int]
) -> None:
    server.answer = lambda prompt, number: Answer(status=401)
    assert (tick(10 * MINUTE), run.state) == (1, State.REFUSED)
    assert tick(timedelta(days=2)) == 0
    JudgeRun.objects.filter(pk=run.pk).update(state=State.DOWN, cap_calls=run.calls + 2)
    server.answer = lambda prompt, number: UP
    assert (tick(timedelta(days=2)), run.state) == (1, State.BUDGET)
    assert tick(timedelta(days=4)) == 0


def test_a_lead_says_no_and_changes_their_mind(
    run: JudgeRun,
    server: ModelServer,
    lead: Any,
    tick: Callable[[timedelta], int],
    django_capture_on_commit_callbacks: Any,
) -> None:
    judge_runs.pause(run, actor=lead)
    assert (tick(timedelta(days=1)), next_try(run)) == (0, None)
    wait = retry.wait_of(run)
    assert wait is not None
    assert "paused" in wait.why
    gone_on(run, lead, django_capture_on_commit_callbacks)
    assert next_try(run) == 10 * MINUTE


def test_a_provider_that_moved_ends_it(run: JudgeRun, tick: Callable[[timedelta], int]) -> None:
    assert run.judge.provider is not None
    run.judge.provider.delete()
    assert (tick(10 * MINUTE), run.state) == (0, State.STOPPED)
    assert "provider" in run.end_message


def test_the_tick_of_the_server_does_it(
    run: JudgeRun, server: ModelServer, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    server.answer = lambda prompt, number: UP
    real = timezone.now

    def later() -> datetime:
        return real() + 11 * MINUTE

    monkeypatch.setattr(timezone, "now", later)
    with django_capture_on_commit_callbacks(execute=True):
        jobs.tick()
    run.refresh_from_db()
    assert run.state == State.DONE


def test_page_and_api_say_when_it_is_tried_next_and_take_it_back(
    run: JudgeRun, client_of: Any, api_of: Any, lead: Any
) -> None:
    here = reverse("machine_judge", args=[run.round.uuid, run.judge.uuid])
    client = client_of(lead)
    assert run.ended_at is not None
    page = client.get(here).content.decode()
    assert f'<time datetime="{(run.ended_at + 10 * MINUTE).isoformat()}">' in page
    assert "Cancel retries" in page
    place = f"/api/v1/rounds/{run.round.uuid}/judges/{run.judge.uuid}/"
    retry_at = api_of(lead).get(place).json()["tried_again_at"]
    assert datetime.fromisoformat(retry_at) == run.ended_at + 10 * MINUTE
    assert client.post(reverse("judge_pause", args=[run.round.uuid, run.judge.uuid])).status_code == 302
    page = client.get(here).content.decode()
    assert api_of(lead).get(place).json()["tried_again_at"] is None
    assert "a lead paused the run" in page
    assert "Cancel retries" not in page


@pytest.mark.parametrize(
    ("requested", "waits"), [("3600", timedelta(hours=1)), ("90", 10 * MINUTE), ("99999999999", None), ("1e300", None)]
)
def test_a_longer_wait_requested_by_the_provider_is_used(
    requested: str, waits: timedelta | None, run: JudgeRun, server: ModelServer, tick: Callable[[timedelta], int]
) -> None:
    server.answer = lambda prompt, number: Answer(status=429, headers={"Retry-After": requested})
    before = len(server.requests)
    # One question is enough: whoever wants to be left alone for longer than a minute is.
    assert (tick(10 * MINUTE), run.state, len(server.requests)) == (1, State.DOWN, before + 1)
    usual = 20 * MINUTE
    if waits is None:
        actual = retry.wait_of(run)
        assert actual is not None
        assert (actual.at, "more than 7 days" in actual.why) == (None, True)
        assert tick(timedelta(days=30)) == 0
        return
    wait = next_try(run)
    assert wait is not None
    assert abs(wait - max(waits, usual)) < timedelta(seconds=30)
    server.answer = lambda prompt, number: UP
    assert (tick(max(waits, usual) - MINUTE), tick(max(waits, usual) + MINUTE), run.state) == (0, 1, State.DONE)
    assert run.not_before is None


@pytest.fixture
def battles(round_: Any, server: ModelServer, lead: Any, django_capture_on_commit_callbacks: Any) -> BattleRun:
    """Battles of two models, of which one cannot be reached."""
    with_worth(round_)
    one = provider_at(server.url, round_.collection, lead, concurrency=1, name="down")
    with serving(better) as up:
        other = provider_at(up.url, round_.collection, lead, name="up")
        choice = runs.ComparisonSettings([(one, "judge-1"), (other, "judge-2")], cycles=1, both=0.0)
        made = fought(round_, choice, lead, django_capture_on_commit_callbacks)
    assert (made.state, "judge-1" in made.end_message, "judge-2" in made.end_message) == (State.DOWN, True, False)
    return made


def test_comparisons_are_retried_only_without_an_answer(
    battles: BattleRun, server: ModelServer, django_capture_on_commit_callbacks: Any
) -> None:
    capture, before, caps = django_capture_on_commit_callbacks, len(server.requests), battles.cap_calls
    # The other model has answered all of them; its server is gone by now, and is not asked again.
    answered = Battle.objects.filter(score__isnull=False)
    assert set(answered.values_list("requested_model", flat=True)) == {"judge-2"}
    assert answered.count() == battles.battles
    assert (look(battles, 9 * MINUTE, capture), len(server.requests)) == (0, before)
    assert (look(battles, 10 * MINUTE, capture), battles.state) == (1, State.DOWN)
    wait = retry.wait_of(battles)
    assert wait is not None
    assert (wait.tried, wait.at) == (1, battles.ended_at + 20 * MINUTE)
    server.answer = better
    assert (look(battles, 19 * MINUTE, capture), look(battles, 20 * MINUTE, capture)) == (0, 1)
    assert (battles.state, battles.cap_calls, answered.count()) == (State.DONE, caps, 2 * battles.battles)
    assert AuditRow.objects.filter(verb="judging_waking.wake_due", actor=None).count() == 2
    assert (look(battles, timedelta(days=3), capture), retry.wait_of(battles)) == (0, None)


def test_battles_keep_a_provider_s_own_wait_and_a_lead_s_no(
    battles: BattleRun,
    server: ModelServer,
    lead: Any,
    client_of: Any,
    api_of: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    capture = django_capture_on_commit_callbacks
    server.answer = lambda prompt, number: Answer(status=429, headers={"Retry-After": "7200"})
    assert (look(battles, 10 * MINUTE, capture), battles.state) == (1, State.DOWN)
    assert battles.ended_at is not None
    assert battles.not_before is not None
    assert abs(battles.not_before - battles.ended_at - timedelta(hours=2)) < timedelta(seconds=30)
    place = reverse("battle_run", args=[battles.round.uuid, battles.uuid])
    address = f"/api/v1/rounds/{battles.round.uuid}/battles/{battles.uuid}/"
    page = client_of(lead).get(place).content.decode()
    assert ("wait that the provider requested" in page, "Cancel retries" in page) == (True, True)
    assert datetime.fromisoformat(api_of(lead).get(address).json()["tried_again_at"]) == battles.not_before
    assert client_of(lead).post(reverse("battle_pause", args=[battles.round.uuid, battles.uuid])).status_code == 302
    assert look(battles, timedelta(days=2), capture) == 0
    page = client_of(lead).get(place).content.decode()
    assert ("a lead paused the run" in page, "Cancel retries" in page) == (True, False)
    assert api_of(lead).get(address).json()["tried_again_at"] is None


def test_battles_whose_provider_moved_or_refuses_are_left_to_people(
    battles: BattleRun, server: ModelServer, django_capture_on_commit_callbacks: Any
) -> None:
    capture = django_capture_on_commit_callbacks
    server.answer = lambda prompt, number: Answer(status=401)
    assert (look(battles, 10 * MINUTE, capture), battles.state) == (1, State.REFUSED)
    assert look(battles, timedelta(days=2), capture) == 0
    BattleRun.objects.filter(pk=battles.pk).update(state=State.DOWN)
    battles.round.collection.providers.filter(name="down").delete()
    assert (look(battles, timedelta(days=2), capture), battles.state) == (0, State.STOPPED)
    assert "was removed" in battles.end_message
