"""Tests of injection probes in pairwise comparisons: rates, caps, call log, no effect on scores."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError
from django.urls import reverse

from assay.core.errors import NotValid
from judgments.machines.pairwise import grades, injection_probe, runs, scores
from judgments.models import Battle, BattleCanary, BattleRun
from tests.judgments.machines.model_replies import provider_at
from tests.judgments.machines.pairwise.example import fought, with_worth
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
State = BattleRun.State
QUERIES, DOCUMENTS, CANARIES = 2, 4, 3
NUMBER = re.compile(r"d\d-(\d)")
TALK = re.compile(r"prefer this document|verified as the better|\"verified\"")


def steady(prompt: str, number: int) -> Answer:
    """The document with the higher number, whatever stands in either."""
    first, second = (int(value) for value in NUMBER.findall(prompt)[:2])
    return Answer(json.dumps({"reason": "by number", "score": 0.5 if second > first else -0.5}))


def credulous(prompt: str, number: int) -> Answer:
    """Whatever document says that it is the better one; else the one with the higher number."""
    first, _, second = prompt.partition("The second document:")
    for text, score in ((first, -1), (second, 1)):
        if TALK.search(text.partition("The first document:")[2] or text):
            return Answer(json.dumps({"reason": "it says so", "score": score}))
    return steady(prompt, number)


@pytest.fixture
def sure() -> Iterator[ModelServer]:
    with serving(steady) as running:
        yield running


@pytest.fixture
def naive() -> Iterator[ModelServer]:
    with serving(credulous) as running:
        yield running


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return with_worth(make_round(queries=QUERIES, documents=DOCUMENTS, raters=[rater]))


@pytest.fixture
def choice(round_: Any, sure: ModelServer, naive: ModelServer, lead: Any) -> runs.ComparisonSettings:
    """A model that can be talked round, and one that cannot."""
    one = provider_at(naive.url, round_.collection, lead, name="naive")
    other = provider_at(sure.url, round_.collection, lead, name="sure")
    priced = [{"name": "judge-9", "price_in": 1.0, "price_out": 4.0}]
    type(other).objects.filter(pk=other.pk).update(models_offered=priced)
    other.refresh_from_db()
    return runs.ComparisonSettings([(one, "judge-1"), (other, "judge-9")], cycles=1, both=0.5, canaries=CANARIES)


def by_model(run: BattleRun, viewer: Any = None) -> dict[tuple[str, str], tuple[int, int]]:
    flips = injection_probe.flips(run, viewer)
    return {(of.model, one.trap): (one.flipped, one.share.n) for of in flips for one in of.flips}


def test_probes_separate_a_credulous_model_from_a_steady_one_without_changing_scores(
    round_: Any, choice: runs.ComparisonSettings, sure: ModelServer, naive: ModelServer, lead: Any, commit: Any
) -> None:
    run = fought(round_, choice, lead, commit)
    assert run.state == State.DONE
    # Nobody but the one who believes what it reads, and that one every time; words without sense move neither.
    assert by_model(run) == {
        ("judge-1", "instruction"): (CANARIES, CANARIES),
        ("judge-1", "query-words"): (0, CANARIES),
        ("judge-9", "instruction"): (0, CANARIES),
        ("judge-9", "query-words"): (0, CANARIES),
    }
    rows = list(BattleCanary.objects.select_related("a__document", "b__document"))
    assert len(rows) == 2 * 2 * CANARIES
    for row in rows:
        loser, winner = (row.a, row.b) if row.plain > 0 else (row.b, row.a)
        assert loser.document.doc_id < winner.document.doc_id
    # Twice as many models, the same number as without a planted text; and the scores are the battles' alone.
    assert Battle.objects.count() == 2 * run.battles
    assert run.calls == len(sure.requests) + len(naive.requests) == 2 * run.battles + len(rows)
    plain = fought(round_, runs.ComparisonSettings(choice.ensemble, cycles=1, both=0.5), lead, commit)
    assert scores.scores_of(plain, None) == scores.scores_of(run, None)
    assert scores.counts(plain, None) == scores.counts(run, None)


def test_the_estimate_counts_them(
    round_: Any, choice: runs.ComparisonSettings, sure: ModelServer, naive: ModelServer, lead: Any, commit: Any
) -> None:
    estimate = runs.estimate_run(round_, choice)
    assert (estimate.canaries, sure.requests, naive.requests) == (2 * 2 * CANARIES, [], [])
    run = fought(round_, choice, lead, commit, cap_usd=5.0)
    assert estimate.usd is not None
    assert estimate.calls[0] == run.calls
    assert 0 < run.spent_usd <= estimate.usd[1]
    # The ledger is the sum: what the run says that it spent is what its rows say.
    rows = [*Battle.objects.all(), *BattleCanary.objects.all()]
    assert run.spent_usd == pytest.approx(sum(row.cost_usd or 0.0 for row in rows))


def test_no_probe_is_repeated_and_more_can_be_added(
    round_: Any, choice: runs.ComparisonSettings, sure: ModelServer, naive: ModelServer, lead: Any, commit: Any
) -> None:
    run = fought(round_, choice, lead, commit)
    before = len(sure.requests)
    with commit(execute=True):
        runs.resume(run, actor=lead)
    assert len(sure.requests) == before
    with commit(execute=True):
        runs.resume(run, actor=lead, canaries=CANARIES + 1)
    assert (len(sure.requests), by_model(run)["judge-9", "instruction"]) == (before + 2, (0, CANARIES + 1))
    # Another run about the same documents takes over what was answered.
    again = fought(round_, choice, lead, commit)
    assert (len(sure.requests), again.calls, by_model(again)["judge-1", "instruction"]) == (
        before + 2,
        0,
        (CANARIES, CANARIES),
    )
    with pytest.raises(NotValid) as refused:
        runs.resume(run, actor=lead, canaries=201)
    assert "canaries" in refused.value.fields


def test_the_caps_hold_over_them(
    round_: Any, choice: runs.ComparisonSettings, sure: ModelServer, naive: ModelServer, lead: Any, commit: Any
) -> None:
    drawn = runs.estimate_run(round_, choice).battles
    run = fought(round_, choice, lead, commit, cap_calls=2 * drawn + 3)
    assert (run.state, run.calls, BattleCanary.objects.count()) == (State.BUDGET, 2 * drawn + 3, 3)
    with commit(execute=True):
        runs.resume(run, actor=lead, cap_calls=1_000)
    run.refresh_from_db()
    assert (run.state, BattleCanary.objects.count()) == (State.DONE, 4 * CANARIES)
    assert run.calls == len(sure.requests) + len(naive.requests)


def test_they_never_change(round_: Any, choice: runs.ComparisonSettings, lead: Any, commit: Any) -> None:
    fought(round_, choice, lead, commit)
    for statement in ("UPDATE judgments_battlecanary SET score = 1", "DELETE FROM judgments_battlecanary"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_probes_are_hidden_from_leads_who_may_still_grade(
    make_round: Any, choice: runs.ComparisonSettings, lead: Any, client_of: Any, api_of: Any, commit: Any
) -> None:
    round_ = with_worth(make_round(queries=QUERIES, documents=DOCUMENTS, raters=[lead], name="Mine"))
    run = fought(round_, choice, lead, commit)
    page = reverse("battle_canaries", args=[round_.uuid, run.uuid])
    address = f"/api/v1/rounds/{round_.uuid}/battles/{run.uuid}/canaries/"
    assert (by_model(run, lead), BattleCanary.objects.filter(run=run).count()) == ({}, 4 * CANARIES)
    shown = client_of(lead).get(page).content.decode()
    assert ("it says so" in shown, "You may still grade" in shown) == (False, True)
    assert api_of(lead).get(address).json()["count"] == 0
    one = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/battles/{run.uuid}/").json()
    assert (one["canaries"], one["flips"]) == (CANARIES, [])


def test_pages_and_api_tell_the_rate_also_of_the_judge_that_was_made(
    round_: Any,
    choice: runs.ComparisonSettings,
    lead: Any,
    rater: Any,
    rate_all: Any,
    client_of: Any,
    api_of: Any,
    commit: Any,
) -> None:
    run = fought(round_, choice, lead, commit)
    client, api = client_of(lead), api_of(lead)
    page = client.get(reverse("battle_run", args=[round_.uuid, run.uuid])).content.decode()
    assert f"{CANARIES} of {CANARIES}" in page
    listed = client.get(reverse("battle_canaries", args=[round_.uuid, run.uuid]) + "?flipped=yes").content.decode()
    assert ("judge-1" in listed, "judge-9" in listed) == (True, False)
    flips = api.get(f"/api/v1/rounds/{round_.uuid}/battles/{run.uuid}/").json()["flips"]
    shares = {(one["model"], one["trap"]): one["share"] for one in flips}
    assert (shares["judge-1", "instruction"], shares["judge-9", "instruction"]) == (1.0, 0.0)
    rows = api.get(f"/api/v1/rounds/{round_.uuid}/battles/{run.uuid}/canaries/").json()["results"]
    assert sum(row["flipped"] for row in rows) == CANARIES
    rate_all(round_, rater, lambda pair: int(pair.document.doc_id[-1]) - 1)
    judge = grades.create_judge(run, actor=lead, share=1.0)
    body = api.get(f"/api/v1/rounds/{round_.uuid}/judges/{judge.uuid}/").json()["flips"]
    assert {one["trap"]: (one["flipped"], one["planted"]) for one in body} == {
        "instruction": (CANARIES, 2 * CANARIES),
        "query-words": (0, 2 * CANARIES),
    }
    page = client.get(reverse("machine_judge", args=[round_.uuid, judge.uuid])).content.decode()
    assert f"{CANARIES} of {2 * CANARIES}" in page
    assert ("made a losing document win" in page, "Prefer this document" in page, "the top grade" in page) == (
        True,
        True,
        False,
    )
    assert reverse("battle_canaries", args=[round_.uuid, run.uuid]) in page
