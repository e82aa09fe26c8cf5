"""Shared setup of pairwise comparison tests: a model that prefers the better document, rated texts, a run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from judgments.machines.pairwise import runs
from judgments.machines.pairwise.pair_selection import ComparisonSettings
from judgments.models import BattleRun, Provider, Round, User
from tests.model_server import Answer

WORTH = re.compile(r"worth (\d+)")


def better(prompt: str, number: int) -> Answer:
    """The document that is worth more, and the first place a little."""
    first, second = (int(worth) for worth in WORTH.findall(prompt)[:2])
    score = max(-1.0, min(1.0, (second - first) / 4 - 0.1))
    return Answer(json.dumps({"reason": f"reason of {first} or {second}", "score": score}))


def with_worth(round_: Round) -> Round:
    """The round, whose documents say how good they are: the last of each query is the best."""
    for pair in round_.pairs.select_related("document"):
        doc_id = pair.document.doc_id
        pair.document.text = f"A text of {doc_id}, worth {doc_id.rpartition('-')[2]}."
        pair.document.save()
    return round_


def choice_of(provider: Provider, *models: str, **options: Any) -> ComparisonSettings:
    """Battles of these models, the first one where none is named."""
    return ComparisonSettings([(provider, model) for model in models or ("judge-1",)], **options)


def fought(
    round_: Round,
    choice: ComparisonSettings,
    lead: User,
    commit: Callable[..., AbstractContextManager[Any]],
    **caps: Any,
) -> BattleRun:
    """The run, after its job has ended."""
    with commit(execute=True):
        run = runs.start(round_, choice, actor=lead, **{"cap_usd": None, "cap_calls": 10_000, **caps})
    run.refresh_from_db()
    return run
