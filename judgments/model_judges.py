"""Model judges of a collection: provider, prompt, scale and examples of each.

A judge is everything that decides its answers. Another model, another version of the prompt or other guidelines make
another judge, so that a number about one judge is never taken for a number about another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from judgments import judge_kinds, providers_kept
from judgments.core.errors import Conflict, NotValid
from judgments.few_shot import Chosen, choose
from judgments.judge_choice import Choice, beside, fitting
from judgments.judge_kinds import GRADED, Kind
from judgments.judges import MODEL_JUDGES
from judgments.judges.graded import BINARY, Example, Graded, GradeMeaning
from judgments.judges.model_judge import ModelJudge, Told
from judgments.judges.templates import Template
from judgments.models import Collection, Judge, MachineJudgment, Provider, Round
from judgments.providers import PROTOCOLS
from judgments.providers.protocol import Endpoint
from judgments.textmetrics import TEXT_METRICS

MOST_EXAMPLES = 20


def made_for(round_: Round, choice: Choice) -> tuple[Judge, ModelJudge]:
    """The judge for the round, not stored yet, and what asks for it.

    Raises
    ------
    NotValid
        By field: a model that the provider does not have, a prompt that does not go with the scale, examples or
        expected answers that there are not.
    """
    provider, model = choice.asked()
    kind = judge_kinds.find(choice.kind)
    told = _told_graded(round_, choice) if kind.name == GRADED else _told_other(round_, kind, choice)
    asker = asker_of(told)
    parameters: dict[str, Any] = {
        **asker.provenance(),
        "protocol": provider.protocol,
        "base_url": provider.base_url,
        "model": model,
        **_asked_as(provider, model),
        **_beside(round_, kind, choice, told),
    }
    name = f"{parameters['template']}-v{parameters['template_version']}" if "template" in parameters else kind.name
    judge = Judge(
        collection=round_.collection,
        name=f"{name} {model[:80]} {digest(parameters)[:8]}"[:120],
        kind=kind.name,
        model=model,
        prompt_sha256=parameters.get("template_sha256", ""),
        parameters=parameters,
        provider=provider,
        prompt=None if choice.prompt is None else choice.prompt.version,
        told=told,
    )
    return judge, asker


def digest(parameters: Mapping[str, Any]) -> str:
    """The hash of all that decides a judge's answers; its name ends with the beginning of it."""
    return hashlib.sha256(json.dumps(parameters, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _asked_as(provider: Provider, model: str) -> dict[str, Any]:
    """What was set of how the model is asked: part of the judge, so that another setting is another judge."""
    told = providers_kept.settings_of(provider, model)
    most = {"most_tokens": told["most_tokens"]} if "most_tokens" in told else {}
    return {"asked_as": told, **most} if told else {}


def _told_graded(round_: Round, choice: Choice) -> dict[str, Any]:
    if choice.prompt is None:
        raise NotValid("This judge is asked in words: choose a prompt.", {"prompt": "Choose one."})
    meanings = list(round_.scale.grades.order_by("value").values_list("value", "label", "cue"))
    template = choice.prompt.template
    if template == BINARY and len(meanings) != 2:
        said = f"This prompt knows two grades, and the round's scale has {len(meanings)}."
        raise NotValid(said, {"prompt": said})
    chosen = _examples(round_, choice)
    return {
        "template": [template.name, template.version, template.system, template.prompt],
        "scale": [list(one) for one in meanings],
        "guidelines": round_.guidelines.markdown,
        "relevant_from": round_.scale.relevant_from,
        "examples": [[one.query, one.text, one.grade] for one in chosen.examples],
        "example_pairs": [list(key) for key in chosen.keys],
        "seed": choice.seed,
        "probabilities": choice.probabilities,
        "temperature": choice.temperature,
    }


def _told_other(round_: Round, kind: Kind, choice: Choice) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": kind.name, "seed": choice.seed, "temperature": choice.temperature}
    if kind.says == "usefulness":
        if choice.text_metric not in TEXT_METRICS:
            said = f"Choose what scores the answers: {', '.join(TEXT_METRICS)}."
            raise NotValid(said, {"text_metric": said})
        # One whose library is not here says so now, and not after the first answer was paid for.
        TEXT_METRICS[choice.text_metric].score("tried", ["tried"])
        told["text_metric"] = choice.text_metric
    if choice.prompt is not None and choice.prompt.version is not None:
        template = choice.prompt.template
        told["template"] = [template.name, template.version, template.system, template.prompt]
    return told | fitting(round_, kind, choice)


def _beside(round_: Round, kind: Kind, choice: Choice, told: Mapping[str, Any]) -> dict[str, Any]:
    if kind.name != GRADED:
        return beside(told)
    return {
        "guidelines_version": round_.guidelines.number,
        "examples": len(told["examples"]),
        "examples_from": None if choice.snapshot is None else choice.snapshot.name,
    }


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


def asker_of(told: Mapping[str, Any]) -> ModelJudge:
    """What asks, from what the judge's row keeps; rows of before there were other kinds name none."""
    if told.get("kind", GRADED) == GRADED:
        return graded_of(told)
    metric = TEXT_METRICS[told["text_metric"]] if "text_metric" in told else None
    # Without words of the collection's own it has those that come with Assay.
    template = Template(*told["template"]) if "template" in told else None
    kept_as = Told(seed=told["seed"], temperature=told["temperature"], text_metric=metric, template=template)
    return MODEL_JUDGES[told["kind"]].build(kept_as)


def graded_of(told: Mapping[str, Any]) -> Graded:
    """The same for the kind that is asked in words of the collection."""
    name, version, system, prompt = told["template"]
    return Graded(
        Template(name, version, system, prompt),
        tuple(GradeMeaning(*one) for one in told["scale"]),
        told["guidelines"],
        tuple(Example(query, text, grade) for query, text, grade in told["examples"]),
        told["relevant_from"],
        temperature=told.get("temperature", 0.0),
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


def endpoint_of(judge: Judge, provider: Provider) -> Endpoint:
    """The judge's model, asked as it was when the judge was made, whatever was set since.

    Raises
    ------
    Conflict
        The key was encrypted with one that is no more.
    """
    return providers_kept.endpoint(provider, judge.model, judge.parameters.get("asked_as", {}))


def asks_a_model(judge: Judge) -> bool:
    """Whether it has a ledger, a provider and caps."""
    return judge.parameters.get("protocol") in PROTOCOLS


def in_round(collection: Collection, round_: Round) -> list[Judge]:
    """The judges that have answered in the round, or were asked to, by name."""
    rows = Judge.objects.filter(collection=collection)
    answered = MachineJudgment.objects.filter(pair__round=round_).order_by().values("judge")
    asked = round_.judge_runs.order_by().values("judge")
    here = rows.filter(Q(pk__in=answered) | Q(pk__in=asked))
    # What a judge was told can be megabytes of accepted answers: it is fetched where it is needed.
    return list(here.defer("told").select_related("provider", "prompt").order_by("name"))


def _examples(round_: Round, choice: Choice) -> Chosen:
    if not choice.examples:
        return Chosen((), ())
    if not 0 < choice.examples <= MOST_EXAMPLES:
        raise NotValid("Too many examples.", {"examples": f"{MOST_EXAMPLES} at most."})
    if choice.snapshot is None:
        said = "Examples come from frozen labels: choose the snapshot."
        raise NotValid(said, {"snapshot": said})
    return choose(choice.snapshot, round_, choice.examples, seed=choice.seed)
