"""How does a model become a judge of a collection: asked by whom, in which words, on which scale, with which examples?

A judge is all that decides its answers. Another model, another version of the prompt, other guidelines are another
judge, so that no number about one of them is ever read as being about another.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from judgments.core.errors import Conflict, NotValid
from judgments.few_shot import Chosen, choose
from judgments.judges.graded import BINARY, Example, Graded, GradeMeaning
from judgments.judges.templates import Template
from judgments.models import Collection, Judge, MachineJudgment, Provider, Round, Snapshot
from judgments.prompts_kept import Named
from judgments.providers import PROTOCOLS

MOST_EXAMPLES = 20
KIND = "graded"


@dataclass(frozen=True)
class Choice:
    """What a lead chose for a judge.

    Parameters
    ----------
    provider : Provider
        Who is asked.
    model : str
        Which of its models.
    prompt : Named
        In whose words.
    examples : int
        How many pairs that people graded it is shown.
    snapshot : Snapshot, optional
        Whose labels those are.
    seed : int
        Of the examples, and for providers that take one.
    probabilities : bool
        Whether the probabilities of the grades are asked for.
    """

    provider: Provider
    model: str
    prompt: Named
    examples: int = 0
    snapshot: Snapshot | None = None
    seed: int = 1
    probabilities: bool = False


def made_for(round_: Round, choice: Choice) -> tuple[Judge, Graded]:
    """The judge for the round, not stored yet, and what asks for it.

    Raises
    ------
    NotValid
        By field: a model that the provider does not have, a prompt that does not go with the scale, examples that there
        are not.
    """
    if choice.provider.offered(choice.model) is None:
        said = f"{choice.provider} has no model {choice.model!r}. Its list stands on its page."
        raise NotValid(said, {"model": said})
    meanings = list(round_.scale.grades.order_by("value").values_list("value", "label", "cue"))
    template = choice.prompt.template
    if template == BINARY and len(meanings) != 2:
        said = f"This prompt knows two grades, and the round's scale has {len(meanings)}."
        raise NotValid(said, {"prompt": said})
    chosen = _examples(round_, choice)
    told: dict[str, Any] = {
        "template": [template.name, template.version, template.system, template.prompt],
        "scale": [list(one) for one in meanings],
        "guidelines": round_.guidelines.markdown,
        "relevant_from": round_.scale.relevant_from,
        "examples": [[one.query, one.text, one.grade] for one in chosen.examples],
        "example_pairs": [list(key) for key in chosen.keys],
        "seed": choice.seed,
        "probabilities": choice.probabilities,
    }
    graded = graded_of(told)
    parameters = {
        **graded.provenance(),
        "protocol": choice.provider.protocol,
        "base_url": choice.provider.base_url,
        "model": choice.model,
        "guidelines_version": round_.guidelines.number,
        "examples": len(chosen.examples),
        "examples_from": None if choice.snapshot is None else choice.snapshot.name,
    }
    digest = hashlib.sha256(json.dumps(parameters, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    judge = Judge(
        collection=round_.collection,
        name=f"{template.name}-v{template.version} {choice.model[:80]} {digest[:8]}"[:120],
        kind=KIND,
        model=choice.model,
        prompt_sha256=template.sha256,
        parameters=parameters,
        provider=choice.provider,
        prompt=choice.prompt.version,
        told=told,
    )
    return judge, graded


def kept(judge: Judge) -> Judge:
    """The row of this judge: the one that is there, or the one that is stored now.

    Raises
    ------
    Conflict
        Another judge has its name.
    """
    found, made = Judge.objects.get_or_create(
        collection=judge.collection,
        name=judge.name,
        defaults={
            name: getattr(judge, name)
            for name in ("kind", "model", "prompt_sha256", "parameters", "provider", "prompt", "told")
        },
    )
    if not made and found.parameters != judge.parameters:
        raise Conflict(f"There is another judge called {judge.name} in this collection.")
    if found.provider_id != judge.provider_id and judge.provider_id is not None:
        # The same place under another name, perhaps after its first row was removed.
        found.provider = judge.provider
        found.save(update_fields=["provider"])
    return found


def graded_of(told: dict[str, Any]) -> Graded:
    """What asks, from what the judge's row keeps."""
    name, version, system, prompt = told["template"]
    return Graded(
        Template(name, version, system, prompt),
        tuple(GradeMeaning(*one) for one in told["scale"]),
        told["guidelines"],
        tuple(Example(query, text, grade) for query, text, grade in told["examples"]),
        told["relevant_from"],
        seed=told["seed"],
        probabilities=told["probabilities"],
    )


def check_provider(judge: Judge) -> Provider:
    """Who answers for this judge.

    Raises
    ------
    Conflict
        The provider was removed, or points elsewhere since: another address is another judge.
    """
    provider, known = judge.provider, judge.parameters
    if provider is None:
        raise Conflict(f"The provider of {judge} was removed. Add it again, then make the judge again.")
    if (provider.protocol, provider.base_url) != (known["protocol"], known["base_url"]):
        said = f"{provider} is at {provider.base_url} by now; {judge} was asked at {known['base_url']}."
        raise Conflict(f"{said} Make another judge.")
    if provider.offered(judge.model) is None:
        raise Conflict(f"{provider} does not list {judge.model} any more.")
    return provider


def asks_a_model(judge: Judge) -> bool:
    """Whether it has a ledger, a provider and caps."""
    return judge.parameters.get("protocol") in PROTOCOLS


def in_round(collection: Collection, round_: Round) -> list[Judge]:
    """The judges that have answered in the round, or were asked to, by name."""
    rows = Judge.objects.filter(collection=collection)
    answered = MachineJudgment.objects.filter(pair__round=round_).order_by().values("judge")
    asked = round_.judge_runs.order_by().values("judge")
    here = rows.filter(Q(pk__in=answered) | Q(pk__in=asked))
    return list(here.select_related("provider", "prompt").order_by("name"))


def _examples(round_: Round, choice: Choice) -> Chosen:
    if not choice.examples:
        return Chosen((), ())
    if not 0 < choice.examples <= MOST_EXAMPLES:
        raise NotValid("Too many examples.", {"examples": f"{MOST_EXAMPLES} at most."})
    if choice.snapshot is None:
        said = "Examples come from frozen labels: choose the snapshot."
        raise NotValid(said, {"snapshot": said})
    return choose(choice.snapshot, round_, choice.examples, seed=choice.seed)
