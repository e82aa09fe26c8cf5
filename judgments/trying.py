"""What would a model answer to other words, or answer at all? Nothing of a trial is kept."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from judgments import providers_kept, untold
from judgments.core.errors import NotValid
from judgments.judges.answers import Reply
from judgments.judges.contract import Outcome
from judgments.judges.templates import Template
from judgments.judging_estimate import context_of
from judgments.model_judges import Choice, made_for
from judgments.models import Pair, Provider, Round
from judgments.prompts_kept import Named
from judgments.providers.calls import ask
from judgments.providers.limits import Budget, Limits
from judgments.providers.protocol import Question

MOST = 10
# A page waits for it.
SECONDS = 20.0


@dataclass(frozen=True)
class Tried:
    """One pair, what the model was asked and what it said."""

    pair: Pair
    prompt: str
    outcome: Outcome
    reply: Reply


def prompt(
    template: Template, *, viewer: Any, round_: Round, provider: Provider, model: str, number: int
) -> list[Tried]:
    """Ask a model about some pairs of a round in these words.

    Parameters
    ----------
    template : Template
        The words, stored or not.
    viewer : User
        Who reads the answers: pairs that they may still grade are never taken.
    round_ : Round
        Whose pairs, scale and guidelines.
    provider, model : Provider, str
        Who is asked.
    number : int
        How many pairs, at most `MOST`; always the same ones of a round.

    Raises
    ------
    NotValid
        By field; or the provider did not answer, with why.
    """
    if not 1 <= number <= MOST:
        raise NotValid("Too many pairs.", {"pairs": f"From 1 to {MOST}."})
    rows = round_.pairs.filter(document__stub=False).exclude(pk__in=untold.untold_pairs(viewer, round_).values("pk"))
    keys = list(rows.order_by("position").values_list("pk", flat=True))
    if not keys:
        said = "No pair of this round has a text and is none that you may still grade."
        raise NotValid(said, {"round": said})
    chosen = [keys[at * len(keys) // number] for at in range(number)] if len(keys) > number else keys
    pairs = list(Pair.objects.filter(pk__in=chosen).select_related("query", "document").order_by("position"))
    _, graded = made_for(round_, Choice(provider, model, Named("", "", template)))
    asked = [replace(graded.question(context_of(pair)), key=str(at)) for at, pair in enumerate(pairs)]
    replies = _answers(provider, model, asked)
    return [
        Tried(pair, one.prompt, graded.read(replies[one.key]), replies[one.key])
        for pair, one in zip(pairs, asked, strict=True)
    ]


def provider(row: Provider, model: str) -> Reply:
    """Ask one short question, to see whether address, key and model are right.

    Raises
    ------
    NotValid
        What the provider did instead of answering.
    """
    return _answers(row, model, [Question("0", "", "Answer with the word yes.", most_tokens=16)])["0"]


def _answers(row: Provider, model: str, questions: list[Question]) -> dict[str, Reply]:
    found: dict[str, Reply] = {}
    usual = providers_kept.limits(row)
    limits = Limits(min(usual.concurrency, MOST), timeout=min(usual.timeout, SECONDS), attempts=1)
    with closing(providers_kept.client(row)) as client:
        ended = ask(
            providers_kept.endpoint(row, model),
            questions,
            lambda question, reply: found.update({question.key: reply}),
            limits=limits,
            budget=Budget(),
            client=client,
        )
    silent = next((reply.fault for reply in found.values() if reply.fault), "")
    if ended.end != "done" or (silent and all(reply.fault for reply in found.values())):
        raise NotValid(f"{row} did not answer: {silent or ended.said}.")
    return found
