"""Shared setup of model judge tests: a provider at a local server, a judge choice, a run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from judgments.machines.judge_runs import judge_runs
from judgments.machines.judge_runs.judge_settings import JudgeSettings
from judgments.machines.prompts import prompts
from judgments.machines.providers import accounts
from judgments.members import grants
from judgments.models import Collection, JudgeRun, Provider, Round, User
from tests.model_server import Answer

KEY = "sk-key-of-a-provider"
GRADE = '{{"reason": "reasons-of-a-machine", "grade": {}}}'


def provider_at(url: str, collection: Collection, lead: User, *, key: str = KEY, **given: Any) -> Provider:
    """A provider with one model and a price."""
    priced = [{"name": "judge-1", "price_in": 1.0, "price_out": 4.0}, {"name": "judge-2"}]
    values = {"name": "local", "protocol": "openai", "base_url": url, "models_offered": priced, "concurrency": 4}
    grants.grant(collection, kind="provider-host", value=grants.ALL)
    return accounts.add(collection, actor=lead, given={**values, **given}, key=key)


def choice_of(provider: Provider, **options: Any) -> JudgeSettings:
    """The prompt that comes with Assay, to the first model."""
    options.setdefault("prompt", prompts.find(provider.collection, "graded"))
    return JudgeSettings(provider, options.pop("model", "judge-1"), **options)


def with_texts(round_: Round) -> Round:
    """The round, with a text of its own in every document: equal ones would be one question."""
    for pair in round_.pairs.select_related("document"):
        pair.document.text = f"A text about {pair.document.doc_id}."
        pair.document.save()
    return round_


def started(
    round_: Round,
    choice: JudgeSettings,
    lead: User,
    commit: Callable[..., AbstractContextManager[Any]],
    **caps: Any,
) -> JudgeRun:
    """The run, after its job has ended."""
    caps = {"cap_usd": None, "cap_calls": 1_000, **caps}
    with commit(execute=True):
        run = judge_runs.start(round_, choice, actor=lead, **caps)
    run.refresh_from_db()
    return run


def gone_on(run: JudgeRun, lead: User, commit: Callable[..., AbstractContextManager[Any]], **caps: Any) -> JudgeRun:
    """The same after another attempt."""
    with commit(execute=True):
        judge_runs.resume(run, actor=lead, **caps)
    run.refresh_from_db()
    return run


def grade(value: int) -> Answer:
    """An answer as it should be."""
    return Answer(GRADE.format(value))
