"""Tests of a model that changes its name during a run: it is reported, with agreement per name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assay.core.errors import NotValid
from judgments.machines.calibration import auto_accept, cost, model_names
from judgments.machines.pairwise import grades
from judgments.models import BattleRun, JudgeRun
from tests.judgments.machines.model_replies import choice_of, grade, provider_at, started
from tests.judgments.machines.pairwise import example
from tests.model_server import Answer, ModelServer, serving
from tests.world import grade_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
BEFORE, AFTER = "judge-1-0613", "judge-1-0806"
QUERIES, DOCUMENTS = 4, 6
GRADES = {f"d{query}-{at}": (at - 1) // 2 for query in range(1, QUERIES + 1) for at in range(1, DOCUMENTS + 1)}
DOC = re.compile(r"A text of (d\d-\d), worth")


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any, lead2: Any) -> Any:
    """A round that another lead rates in too, and has not begun."""
    made = make_round(queries=QUERIES, documents=DOCUMENTS, raters=[rater, lead2], ratings_per_pair=2)
    return example.with_worth(made)


def half_way(half: int, says: Callable[[str, bool], Answer]) -> Callable[[str, int], Answer]:
    """From the answer after that many on, another name stands beside it."""

    def answer(prompt: str, number: int) -> Answer:
        reply = says(prompt, number > half)
        reply.model = AFTER if number > half else BEFORE
        return reply

    return answer


def graded(prompt: str, after: bool) -> Answer:
    """What people say, and afterwards one grade more."""
    match = DOC.search(prompt)
    assert match is not None
    return grade(GRADES[match[1]] + after)


def preferred(prompt: str, after: bool) -> Answer:
    """The better document, and afterwards the worse one."""
    preference = example.better(prompt, 0)
    return (
        Answer(re.sub(r'"score": (-?)', lambda one: f'"score": {"" if one[1] else "-"}', preference.text))
        if after
        else preference
    )


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(half_way(10, graded)) as model_server:
        yield model_server


@pytest.fixture
def run(round_: Any, server: ModelServer, collection: Any, lead: Any, commit: Any) -> JudgeRun:
    # One at a time, so that the half is the same ten pairs each time.
    provider = provider_at(server.url, collection, lead, concurrency=1)
    return started(round_, choice_of(provider), lead, commit, audit_share=1.0)


def test_judge_names_are_compared_with_people(
    run: JudgeRun, round_: Any, rater: Any, lead: Any, lead2: Any, client_of: Any, api_of: Any
) -> None:
    grade_all(round_, rater, GRADES)
    spent = cost.money(run.judge, round_)
    assert (spent.models, spent.renamed) == ((BEFORE, AFTER), (("judge-1", (BEFORE, AFTER)),))
    before, after = model_names.by_name(run.judge, round_, lead, spent=spent)
    assert [(one.requested, one.name, one.answers) for one in (before, after)] == [
        ("judge-1", BEFORE, 10),
        ("judge-1", AFTER, 14),
    ]
    assert (before.same.value, before.same.n, after.same.value, after.same.n) == (1.0, 10, 0.0, 14)
    # Who still rates is told of none of their pairs.
    assert model_names.by_name(run.judge, round_, lead2, spent=spent) == []
    assert before.kappa is not None
    assert after.kappa is not None
    assert (before.kappa.value, 0 < (after.kappa.value or 0) < 1) == (1.0, True)
    page = client_of(lead).get(f"/rounds/{round_.uuid}/judges/{run.judge.uuid}/").content.decode()
    assert "Answers by model name" in page
    assert f"judge-1 answered as {BEFORE} (10) and {AFTER} (14)" in page
    body = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/judges/{run.judge.uuid}/").json()
    assert body["models_answered"] == [BEFORE, AFTER]
    assert body["renamed"].startswith(f"judge-1 answered as {BEFORE} (10)")
    assert [(one["name"], one["same"]["value"]) for one in body["by_name"]] == [(BEFORE, 1.0), (AFTER, 0.0)]
    with pytest.raises(NotValid, match="under more than one name"):
        auto_accept.activate(round_, run.judge, bound=0.9, actor=lead)


def test_comparison_names_are_compared_with_people(
    round_: Any, collection: Any, rater: Any, lead: Any, lead2: Any, commit: Any, client_of: Any, api_of: Any
) -> None:
    with serving(half_way(12, preferred)) as server:
        provider = provider_at(server.url, collection, lead, concurrency=1)
        run = example.fought(round_, example.choice_of(provider, cycles=2, both=0.0), lead, commit)
    assert run.state == BattleRun.State.DONE
    grade_all(round_, rater, GRADES)
    before, after = model_names.by_name_of(run, lead)
    assert (before.name, before.answers, after.name, before.answers + after.answers) == (BEFORE, 12, AFTER, run.battles)
    assert before.same.n > 0 < after.same.n
    assert (before.same.value, after.same.value) == (1.0, 0.0)
    assert model_names.by_name_of(run, lead2) == []
    page = client_of(lead).get(f"/rounds/{round_.uuid}/battles/{run.uuid}/").content.decode()
    assert f"judge-1 answered as {BEFORE} (12) and {AFTER} ({run.battles - 12})" in page
    body = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/battles/{run.uuid}/").json()
    assert [(one["name"], one["same"]["value"]) for one in body["by_name"]] == [(BEFORE, 1.0), (AFTER, 0.0)]
    # The judge that is made of them says so as well.
    judge = grades.create_judge(run, actor=lead)
    page = client_of(lead).get(f"/rounds/{round_.uuid}/judges/{judge.uuid}/").content.decode()
    assert "Answers by model name" in page


def test_one_name_is_no_warning(round_: Any, collection: Any, lead: Any, commit: Any, client_of: Any) -> None:
    with serving(half_way(10**6, graded)) as server:
        run = started(round_, choice_of(provider_at(server.url, collection, lead)), lead, commit)
    spent = cost.money(run.judge, round_)
    assert (spent.models, spent.renamed) == ((BEFORE,), ())
    assert model_names.by_name(run.judge, round_, lead, spent=spent) == []
    page = client_of(lead).get(f"/rounds/{round_.uuid}/judges/{run.judge.uuid}/").content.decode()
    assert "Answers by model name" not in page
    assert "differs from the requested model name" in page
