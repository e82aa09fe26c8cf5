"""Tryout of a provider or a prompt: ask a model and store nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

from django.db.models import QuerySet

from judgments import audit, examples, prompts_kept, providers_kept, untold
from judgments.core.amounts import amount
from judgments.core.errors import NotValid
from judgments.judge_choice import Choice
from judgments.judges import MODEL_JUDGES
from judgments.judges.answers import Reply
from judgments.judges.contract import Outcome
from judgments.judges.model_judge import Told
from judgments.judges.pairwise import Pairwise
from judgments.judges.templates import Template
from judgments.judging_estimate import context_of
from judgments.model_judges import graded_of, made_for
from judgments.models import Pair, Provider, Round
from judgments.prompts_kept import Named
from judgments.providers.calls import ask
from judgments.providers.limits import Budget
from judgments.providers.protocol import Question
from judgments.textmetrics import TEXT_METRICS
from judgments.turns import outside_turns

Chosen = TypeVar("Chosen")
MOST = 10
# A page waits for it.
SECONDS = 20.0


@dataclass(frozen=True)
class Tried:
    """One pair, what the model was asked and what it said.

    Of a battle the pair that was shown second too, and where an answer was expected that one.
    """

    pair: Pair
    prompt: str
    outcome: Outcome
    reply: Reply
    other: Pair | None = None
    expected: str = ""


def prompt(
    template: Template,
    *,
    viewer: Any,
    round_: Round,
    provider: Provider,
    model: str,
    number: int,
    expected: Mapping[str, Sequence[str]] | None = None,
) -> list[Tried]:
    """Ask a model about some pairs of a round in these words.

    Parameters
    ----------
    template : Template
        The words, stored or not. Those that ask for a battle are asked about two documents of a query at a time.
    viewer : User
        Who reads the answers: pairs that they may still grade are never taken.
    round_ : Round
        Whose pairs, scale and guidelines.
    provider, model : Provider, str
        Who is asked.
    number : int
        How many pairs or battles, at most `MOST`; always the same ones of a round.
    expected : mapping of str to sequence of str
        Accepted answers by ``query_id``, for words that are held against them: of each query the first is taken.

    Raises
    ------
    NotValid
        By field; or the provider did not answer, with why.
    NotAllowed
        The viewer may not read the round's guidelines yet, which the words can hold.
    """
    examples.check_readable(viewer, round_.guidelines)
    if not 1 <= number <= MOST:
        raise NotValid("Too many pairs.", {"pairs": f"From 1 to {MOST}."})
    rows = round_.pairs.filter(document__stub=False).exclude(pk__in=untold.untold_pairs(viewer, round_).values("pk"))
    asking = prompts_kept.asks(template)
    if asking == prompts_kept.BATTLE:
        return _battles(template, rows, round_, provider, model, number, viewer)
    if asking != prompts_kept.GRADE:
        return _held(template, rows, provider, model, number, expected or {}, viewer)
    keys = list(rows.order_by("position").values_list("pk", flat=True))
    if not keys:
        said = "No pair of this round has a text and is none that you may still grade."
        raise NotValid(said, {"round": said})
    pairs = list(_pairs(_spread(keys, number)).values())
    graded = graded_of(made_for(round_, Choice(provider, model, Named("", "", template)))[0].told)
    asked = [replace(graded.question(context_of(pair)), key=str(at)) for at, pair in enumerate(pairs)]
    replies = _answers(provider, model, asked, viewer)
    return [
        Tried(pair, one.prompt, graded.read(replies[one.key]), replies[one.key])
        for pair, one in zip(pairs, asked, strict=True)
    ]


def _battles(
    template: Template, rows: QuerySet[Pair], round_: Round, provider: Provider, model: str, number: int, viewer: Any
) -> list[Tried]:
    """The same of words that ask which of two documents is better."""
    listed = rows.order_by("position").values_list("pk", "query")
    couples = [(one, other) for (one, query), (other, its) in pairwise(listed) if query == its]
    if not couples:
        said = "No query of this round has two documents with a text that are none that you may still grade."
        raise NotValid(said, {"round": said})
    chosen = _spread(couples, number)
    pairs = _pairs([pk for couple in chosen for pk in couple])
    asker = Pairwise(template, round_.guidelines.markdown, seed=round_.seed)
    contexts = [replace(context_of(pairs[one]), other=context_of(pairs[other]).text) for one, other in chosen]
    asked = [replace(asker.questions(context)[0], key=str(at)) for at, context in enumerate(contexts)]
    replies = _answers(provider, model, asked, viewer)
    return [
        Tried(pairs[one], question.prompt, asker.read_one(context, reply), reply, pairs[other])
        for (one, other), context, question in zip(chosen, contexts, asked, strict=True)
        for reply in [replies[question.key]]
    ]


def _held(
    template: Template,
    rows: QuerySet[Pair],
    provider: Provider,
    model: str,
    number: int,
    expected: Mapping[str, Sequence[str]],
    viewer: Any,
) -> list[Tried]:
    """The same of words whose answer is held against an expected one: yes or no, or an answer that is scored."""
    keys = list(rows.filter(query__query_id__in=list(expected)).order_by("position").values_list("pk", flat=True))
    if not keys:
        said = "These words are tried with expected answers: give some by query_id, for queries of this round."
        raise NotValid(said, {"expected": said})
    # One that scores and needs no library; another can be chosen where a judge is set to a round.
    asker = MODEL_JUDGES[prompts_kept.asks(template)].build(
        Told(template=template, text_metric=TEXT_METRICS["token_f1"])
    )
    pairs = list(_pairs(_spread(keys, number)).values())
    contexts = [replace(context_of(pair), expected=tuple(expected[pair.query.query_id][:1])) for pair in pairs]
    asked = [replace(asker.questions(context)[0], key=str(at)) for at, context in enumerate(contexts)]
    replies = _answers(provider, model, asked, viewer)
    return [
        Tried(pair, question.prompt, asker.read_one(context, reply), reply, expected=context.expected[0])
        for pair, context, question in zip(pairs, contexts, asked, strict=True)
        for reply in [replies[question.key]]
    ]


def _spread(rows: Sequence[Chosen], number: int) -> Sequence[Chosen]:
    """So many of them, spread over all."""
    return [rows[at * len(rows) // number] for at in range(number)] if len(rows) > number else rows


def _pairs(keys: Sequence[int]) -> dict[int, Pair]:
    rows = Pair.objects.filter(pk__in=keys).select_related("query", "document").order_by("position")
    return {pair.pk: pair for pair in rows}


def provider(row: Provider, model: str, *, actor: Any = None) -> Reply:
    """Ask one short question, to see whether address, key and model are right.

    Raises
    ------
    NotValid
        What the provider did instead of answering.
    """
    return _answers(row, model, [Question("0", "", "Answer with the word yes.", most_tokens=16)], actor)["0"]


def _answers(row: Provider, model: str, questions: list[Question], actor: Any) -> dict[str, Reply]:
    found: dict[str, Reply] = {}
    usual = providers_kept.limits(row)
    # At the provider's pace: what is tried counts there like all else that is asked under its key.
    limits = replace(usual, concurrency=min(usual.concurrency, MOST), timeout=min(usual.timeout, SECONDS), attempts=1)
    endpoint = providers_kept.endpoint(row, model)
    with outside_turns().turn(), closing(providers_kept.client(row)) as client:
        ended = ask(
            endpoint,
            [endpoint.fitted(question) for question in questions],
            lambda question, reply: found.update({question.key: reply}),
            limits=limits,
            budget=Budget(),
            client=client,
        )
    costs = [reply.cost_usd for reply in found.values()]
    audit.record(
        "trying.ask",
        f"{actor or 'The server'} tried {model} of the model provider {row}, {amount(len(questions), 'call')}",
        actor=actor,
        collection=row.collection,
        target=row,
        model=model,
        calls=len(questions),
        answered=sum(not reply.fault for reply in found.values()),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )
    silent = next((reply.fault for reply in found.values() if reply.fault), "")
    if ended.end != "done" or (silent and all(reply.fault for reply in found.values())):
        raise NotValid(f"{row} did not answer: {silent or ended.said}.")
    return found
