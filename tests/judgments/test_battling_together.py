"""Do two runs of battles that are fought at once in one worker keep together to what their provider grants?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from judgments import battling, jobs
from judgments.models import Battle, BattleRun
from tests.judgments.battles_fought import better, choice_of, with_worth
from tests.judgments.models_asked import provider_at
from tests.model_server import Answer, serving

AT_ONCE = 2


@pytest.mark.django_db(transaction=True)
def test_the_places_in_flight_are_shared_by_two_runs(
    make_round: Callable[..., Any], rater: Any, lead: Any, settings: Any
) -> None:
    settings.PROVIDER_HOSTS, settings.PROVIDER_NETWORKS = ["127.0.0.1"], ["127.0.0.0/8"]
    settings.TASKS = {"default": {"BACKEND": "django_tasks.backends.dummy.DummyBackend"}}
    both = threading.Barrier(2, timeout=30)

    def answer(prompt: str, number: int) -> Answer:
        # Long enough that one of the other run is there too, if it may be.
        return Answer(better(prompt, number).text, wait=0.05)

    rounds = [with_worth(make_round(documents=4, raters=[rater], name=name)) for name in ("One", "Two")]
    with serving(answer) as server:
        provider = provider_at(server.url, rounds[0].collection, lead, concurrency=AT_ONCE)
        runs = []
        for at, one in enumerate(rounds):
            # By seeds of their own, since what one run knows the other does not ask.
            choice = choice_of(provider, cycles=2, both=0.0, seed=at + 1)
            with transaction.atomic():
                runs.append(battling.start(one, choice, actor=lead, cap_usd=None, cap_calls=1_000))

        def work(run: BattleRun) -> None:
            try:
                both.wait()
                jobs.work_on_job.call(str(run.job.uuid if run.job else ""))
            finally:
                connection.close()

        threads = [threading.Thread(target=work, args=(run,)) for run in runs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [BattleRun.objects.get(pk=run.pk).state for run in runs] == ["done", "done"]
        asked = {run.pk: Battle.objects.filter(run=run, reused=False) for run in runs}
        spans = [
            (min(rows.values_list("at", flat=True)), max(rows.values_list("at", flat=True))) for rows in asked.values()
        ]
        # Both were at it at the same time, and never more than one of them alone may have in flight.
        assert max(begin for begin, _ in spans) < min(end for _, end in spans)
        assert server.most_at_once == AT_ONCE
