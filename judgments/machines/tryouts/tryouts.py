"""Tryout of a provider or a prompt: model calls whose answers are not stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

from django.db.models import QuerySet

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.llm.judge import Outcome
from assay.llm.judges import MODEL_JUDGES
from assay.llm.judges.model_judge import JudgeOptions
from assay.llm.judges.pairwise import Pairwise
from assay.llm.judges.prompt_templates import Template
from assay.llm.model_reply import Reply
from assay.llm.providers.limits import Budget
from assay.llm.providers.protocol import Question
from assay.llm.providers.question_run import ask
from assay.text_metrics import TEXT_METRICS
from judgments.guidelines import examples
from judgments.labels import grade_visibility
from judgments.machines.judge_runs.estimate import context_of
from judgments.machines.judge_runs.judge_settings import JudgeSettings
from judgments.machines.judge_runs.model_judges import build, graded_of
from judgments.machines.prompts import prompts
from judgments.machines.prompts.prompts import Named
from judgments.machines.providers import accounts
from judgments.models import Pair, Provider, Round, audit
from judgments.web.middleware import outside_turns

Chosen = TypeVar("Chosen")
MOST = 10
# The time limit, because a page waits for the answer.
SECONDS = 20.0


@dataclass(frozen=True)
class Tryout:
    """One pair, the prompt and the model's answer."""

    pair: Pair
    prompt: str
    outcome: Outcome
    reply: Reply
    other: Pair | None = None
    expected: str = ""


def try_prompt(
    template: Template,
    *,
    viewer: Any,
    round_: Round,
    provider: Provider,
    model: str,
    number: int,
    expected: Mapping[str, Sequence[str]] | None = None,
) -> list[Tryout]:
    """Send a prompt about some pairs of a round to a model."""
    examples.check_readable(viewer, round_.guidelines)
    if not 1 <= number <= MOST:
        raise NotValid("The number of pairs is out of range.", {"pairs": f"Enter a number from 1 to {MOST}."})
    rows = round_.pairs.filter(document__stub=False).exclude(
        pk__in=grade_visibility.pairs_with_hidden_grades(viewer, round_).values("pk")
    )
    asking = prompts.asks(template)
    if asking == prompts.BATTLE:
        return _battles(template, rows, round_, provider, model, number, viewer)
    if asking != prompts.GRADE:
        return _with_expected(template, rows, provider, model, number, expected or {}, viewer)
    keys = list(rows.order_by("position").values_list("pk", flat=True))
    if not keys:
        raise NotValid("This round has no pair with a text whose grades you may see. Choose another round.", "round")
    pairs = list(_pairs(_spread(keys, number)).values())
    graded = graded_of(build(round_, JudgeSettings(provider, model, Named("", "", template)))[0].inputs)
    questions = [replace(graded.question(context_of(pair)), key=str(at)) for at, pair in enumerate(pairs)]
    replies = _ask(provider, model, questions, viewer)
    return [
        Tryout(pair, one.prompt, graded.read(replies[one.key]), replies[one.key])
        for pair, one in zip(pairs, questions, strict=True)
    ]


def _battles(
    template: Template, rows: QuerySet[Pair], round_: Round, provider: Provider, model: str, number: int, viewer: Any
) -> list[Tryout]:
    """Try a prompt that asks which of two documents is better."""
    listed = rows.order_by("position").values_list("pk", "query")
    couples = [(one, other) for (one, query), (other, its) in pairwise(listed) if query == its]
    if not couples:
        message = "No query of this round has two documents with a text whose grades you may see. Choose another round."
        raise NotValid(message, "round")
    chosen = _spread(couples, number)
    pairs = _pairs([pk for couple in chosen for pk in couple])
    asker = Pairwise(template, round_.guidelines.markdown, seed=round_.seed)
    contexts = [replace(context_of(pairs[one]), other=context_of(pairs[other]).text) for one, other in chosen]
    questions = [replace(asker.questions(context)[0], key=str(at)) for at, context in enumerate(contexts)]
    replies = _ask(provider, model, questions, viewer)
    return [
        Tryout(pairs[one], question.prompt, asker.read_one(context, reply), reply, pairs[other])
        for (one, other), context, question in zip(chosen, contexts, questions, strict=True)
        for reply in [replies[question.key]]
    ]


def _with_expected(
    template: Template,
    rows: QuerySet[Pair],
    provider: Provider,
    model: str,
    number: int,
    expected: Mapping[str, Sequence[str]],
    viewer: Any,
) -> list[Tryout]:
    """Try a prompt whose answer is compared with an expected answer."""
    keys = list(rows.filter(query__query_id__in=list(expected)).order_by("position").values_list("pk", flat=True))
    if not keys:
        message = "This prompt needs expected answers. Enter some by query_id, for queries of this round."
        raise NotValid(message, "expected")
    # The metric needs a library that is not installed. A judge for a round can use another metric.
    asker = MODEL_JUDGES[prompts.asks(template)].build(
        JudgeOptions(template=template, text_metric=TEXT_METRICS["token_f1"])
    )
    pairs = list(_pairs(_spread(keys, number)).values())
    contexts = [replace(context_of(pair), expected=tuple(expected[pair.query.query_id][:1])) for pair in pairs]
    questions = [replace(asker.questions(context)[0], key=str(at)) for at, context in enumerate(contexts)]
    replies = _ask(provider, model, questions, viewer)
    return [
        Tryout(pair, question.prompt, asker.read_one(context, reply), reply, expected=context.expected[0])
        for pair, context, question in zip(pairs, contexts, questions, strict=True)
        for reply in [replies[question.key]]
    ]


def _spread(rows: Sequence[Chosen], number: int) -> Sequence[Chosen]:
    """Return this many of the rows, spread evenly."""
    return [rows[at * len(rows) // number] for at in range(number)] if len(rows) > number else rows


def _pairs(keys: Sequence[int]) -> dict[int, Pair]:
    rows = Pair.objects.filter(pk__in=keys).select_related("query", "document").order_by("position")
    return {pair.pk: pair for pair in rows}


def provider(row: Provider, model: str, *, actor: Any = None) -> Reply:
    """Ask one short question to check address, key and model."""
    return _ask(row, model, [Question("0", "", "Answer with the word yes.", most_tokens=16)], actor)["0"]


def _ask(row: Provider, model: str, questions: list[Question], actor: Any) -> dict[str, Reply]:
    replies: dict[str, Reply] = {}
    usual = accounts.limits(row)
    # Tryouts share the provider's rate limits, because they use the same key.
    limits = replace(usual, concurrency=min(usual.concurrency, MOST), timeout=min(usual.timeout, SECONDS), attempts=1)
    endpoint = accounts.endpoint(row, model)
    with outside_turns().turn(), closing(accounts.client(row)) as client:
        ended = ask(
            endpoint,
            [endpoint.fitted(question) for question in questions],
            lambda question, reply: replies.update({question.key: reply}),
            limits=limits,
            budget=Budget(),
            client=client,
        )
    costs = [reply.cost_usd for reply in replies.values()]
    audit.record(
        "trying.ask",
        f"{actor or 'The server'} tested {model} of the model provider {row}, {amount(len(questions), 'call')}",
        actor=actor,
        target=row,
        model=model,
        calls=len(questions),
        answered=sum(not reply.fault for reply in replies.values()),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )
    silent = next((reply.fault for reply in replies.values() if reply.fault), "")
    if ended.end != "done" or (silent and all(reply.fault for reply in replies.values())):
        raise NotValid(f"{row} did not answer: {silent or ended.message}.")
    return replies
