"""Test of an endless model answer: the call log books its possible cost and the cap holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments.models import JudgeRun, MachineJudgment, ModelCall
from tests.assay.llm.providers.flood_server import Flood, flooding
from tests.judgments.machines.model_replies import choice_of, gone_on, provider_at, started

pytestmark = pytest.mark.django_db


def test_an_answer_without_end_is_in_the_ledger_with_its_cost(
    make_round: Callable[..., Any],
    collection: Any,
    lead: Any,
    rater: Any,
    settings: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.PROVIDER_HOSTS, settings.PROVIDER_NETWORKS = ["127.0.0.1"], ["127.0.0.0/8"]
    commit = django_capture_on_commit_callbacks
    round_ = make_round(queries=2, documents=2, raters=[rater])
    with flooding(Flood(packed=True)) as flood:
        provider = provider_at(flood.url, collection, lead, concurrency=1)
        run = started(round_, choice_of(provider), lead, commit, cap_usd=1.0)
        rows = list(ModelCall.objects.filter(run=run))
        assert (flood.request_count, len(rows), run.calls) == (4, 4, 4)
        assert {row.outcome for row in rows} == {"transport_error"}
        assert all("more than 4,0" in row.raw for row in rows)
        cost = [row.cost_usd for row in rows if row.cost_usd]
        assert (len(cost), run.spent_usd) == (4, pytest.approx(sum(cost)))
        assert not MachineJudgment.objects.exists()
        # It counts against the cap as well: there is no room for another.
        run = gone_on(run, lead, commit, cap_usd=sum(cost) * 1.01)
    assert (run.state, flood.request_count) == (JudgeRun.State.BUDGET, 4)
