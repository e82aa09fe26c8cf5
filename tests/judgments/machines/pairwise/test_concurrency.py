"""Test of two comparison runs in one worker: they share the provider's limit of requests in flight."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from judgments.jobs import jobs
from judgments.machines.pairwise import runs as battling
from judgments.models import BattleRun
from tests.judgments.machines.model_replies import provider_at
from tests.judgments.machines.pairwise.example import better, choice_of, with_worth
from tests.model_server import Answer, serving
from tests.threads import at_once

AT_ONCE = 2


@pytest.mark.django_db(transaction=True)
def test_two_runs_share_the_concurrency_limit(
    make_round: Callable[..., Any], rater: Any, lead: Any, settings: Any
) -> None:
    settings.PROVIDER_HOSTS, settings.PROVIDER_NETWORKS = ["127.0.0.1"], ["127.0.0.0/8"]
    settings.TASKS = {"default": {"BACKEND": "django_tasks.backends.dummy.DummyBackend"}}
    met = threading.Event()

    def answer(prompt: str, number: int) -> Answer:
        models = [body["model"] for _, _, body in server.requests[:number]]
        if models[-1] != models[0]:
            met.set()
        # The very first one stays until one of the other run is there too; the next has time to be one too many.
        if number == 1:
            met.wait(60)
        return Answer(better(prompt, number).text, wait=0.05)

    rounds = [with_worth(make_round(documents=4, raters=[rater], name=name)) for name in ("One", "Two")]
    with serving(answer) as server:
        provider = provider_at(server.url, rounds[0].collection, lead, concurrency=AT_ONCE)
        runs = []
        for at, one in enumerate(rounds):
            # By models of their own: it is seen whose a request is, and what one run knows is no use to the other.
            choice = choice_of(provider, f"judge-{at + 1}", cycles=2, both=0.0, seed=at + 1)
            with transaction.atomic():
                runs.append(battling.start(one, choice, actor=lead, cap_usd=None, cap_calls=1_000))
        at_once(*(partial(jobs.work_on_job.call, str(run.job.uuid)) for run in runs))
    assert [BattleRun.objects.get(pk=run.pk).state for run in runs] == ["done", "done"]
    # Both were at it at the same time, and never more than one of them alone may have in flight.
    assert met.is_set()
    assert server.most_at_once == AT_ONCE
