"""Tests of cost per 1,000 pairs: judges made from pairwise comparisons and models without a price."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from assay.llm.pairwise.cut_points import LEAST
from judgments.machines.calibration import cost
from judgments.machines.pairwise import grades, runs
from judgments.models import Battle, BattleCanary, BattleRun, Judge
from tests.judgments.machines.pairwise.example import WORTH, better, choice_of, fought, with_worth
from tests.model_server import Answer, ModelServer, serving
from tests.world import grade_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
QUERIES, DOCUMENTS = 4, 6
PAIRS = QUERIES * DOCUMENTS
GRADES = {f"d{query}-{at}": (at - 1) // 2 for query in range(1, QUERIES + 1) for at in range(1, DOCUMENTS + 1)}
# 1,000 tokens read at one dollar a million and 500 written at four.
A_CALL = 0.001 + 0.002


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(counted) as running:
        yield running


def counted(prompt: str, number: int) -> Answer:
    """The better document, and always as many tokens; text may be planted between a document's words."""
    reply = better(prompt, number) if len(WORTH.findall(prompt)) > 1 else Answer('{"reason": "", "score": 0.5}')
    return replace(reply, read=1_000, written=500)


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    created = with_worth(make_round(queries=QUERIES, documents=DOCUMENTS, raters=[rater]))
    grade_all(created, rater, GRADES)
    return created


def made(run: BattleRun, lead: Any) -> Judge:
    run.refresh_from_db()
    return grades.create_judge(run, actor=lead, share=0.9)


def test_battles_cost_the_pairs_that_they_grade(
    provider: Any, round_: Any, server: ModelServer, lead: Any, commit: Any, client_of: Any, api_of: Any
) -> None:
    assert LEAST < PAIRS
    run = fought(round_, choice_of(provider, cycles=2, both=0.5, canaries=3), lead, commit)
    judge = made(run, lead)
    calls = Battle.objects.filter(run=run).count() + BattleCanary.objects.filter(run=run).count()
    assert calls == len(server.requests) > run.battles
    spent = cost.money(judge, round_)
    assert (spent.calls, spent.failed, spent.judged) == (calls, 0, PAIRS)
    assert (spent.tokens_in, spent.tokens_out) == (1_000 * calls, 500 * calls)
    assert spent.usd == pytest.approx(calls * A_CALL)
    assert spent.per_thousand == pytest.approx(calls * A_CALL * 1_000 / PAIRS)
    page = client_of(lead).get(f"/rounds/{round_.uuid}/judges/{judge.uuid}/").content.decode()
    assert f"<dt>Cost per 1,000 pairs</dt><dd><b>${spent.per_thousand:.2f}</b></dd>" in page
    body = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/judges/{judge.uuid}/").json()
    assert body["usd_per_thousand"] == pytest.approx(spent.per_thousand)
    # Battles that come later stand in no grade of this judge; of the next one they do.
    with commit(execute=True):
        runs.further(run, 3, actor=lead)
    assert cost.money(judge, round_) == spent
    later = cost.money(made(run, lead), round_)
    assert (later.calls > calls, later.usd) == (True, pytest.approx(later.calls * A_CALL))
    # The same battles in another run are known, and cost nothing again.
    again = made(fought(round_, choice_of(provider, cycles=2, both=0.5), lead, commit), lead)
    assert (cost.money(again, round_).calls, cost.money(again, round_).per_thousand) == (0, 0.0)


def test_without_the_price_of_one_model_there_is_no_cost(
    provider: Any, round_: Any, lead: Any, commit: Any, client_of: Any
) -> None:
    judge = made(fought(round_, choice_of(provider, "judge-1", "judge-2", cycles=1), lead, commit), lead)
    spent = cost.money(judge, round_)
    assert (spent.models, spent.usd, spent.per_thousand) == (("judge-1", "judge-2"), None, None)
    page = client_of(lead).get(f"/rounds/{round_.uuid}/judges/{judge.uuid}/").content.decode()
    assert "unknown: a model has no price" in page
