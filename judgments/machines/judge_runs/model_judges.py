"""Model judges of a collection: provider, prompt, scale and examples of each.

A judge is defined by everything that affects its answers. Another model, prompt version or other guidelines make
another judge, so that results of different judges are never mixed.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount
from assay.llm.judges import MODEL_JUDGES
from assay.llm.judges.graded_relevance import BINARY, Example, Graded, GradeMeaning
from assay.llm.judges.model_judge import JudgeOptions, ModelJudge
from assay.llm.judges.prompt_templates import Template
from assay.llm.providers import PROTOCOLS
from assay.llm.providers.protocol import Endpoint
from assay.text_metrics import TEXT_METRICS
from judgments.machines import kinds
from judgments.machines.judge_runs.judge_settings import JudgeSettings, beside, fitting
from judgments.machines.kinds import GRADED, Kind
from judgments.machines.providers import accounts
from judgments.models import Collection, Document, Judge, MachineJudgment, Provider, Query, Round, Snapshot
from judgments.models.snapshot import FILES, HUMAN

Key = tuple[str, str]


@dataclass(frozen=True)
class Chosen:
    """The examples with their pairs, which the judge never grades."""

    examples: tuple[Example, ...]
    keys: tuple[Key, ...]


def choose(snapshot: Snapshot, round_: Round, number: int, *, seed: int) -> Chosen:
    """Draw examples from the human labels of a snapshot, alternating between the grades."""
    if snapshot.collection_id != round_.collection_id:
        raise NotValid(
            "This snapshot belongs to another collection.", {"snapshot": "Choose a snapshot of this collection."}
        )
    scale = set(round_.scale.values())
    query_ids = set(round_.pairs.values_list("query__query_id", flat=True).distinct())
    by_grade: dict[int, list[Key]] = defaultdict(list)
    for query_id, doc_id, grade in _human(snapshot):
        if query_id not in query_ids and grade in scale:
            by_grade[grade].append((query_id, doc_id))
    drawn = _in_turn(by_grade, seed)
    candidates: list[tuple[Key, Example]] = []
    for key, grade in drawn:
        if len(candidates) == number:
            break
        if (example := _example(snapshot, key, grade)) is not None:
            candidates.append((key, example))
    if len(candidates) < number:
        problem = f"{snapshot} has {amount(len(candidates), 'human label')} for queries outside this round."
        raise NotValid(f"{problem} Choose fewer examples or another snapshot.", {"examples": problem})
    return Chosen(tuple(example for _, example in candidates), tuple(key for key, _ in candidates))


def _human(snapshot: Snapshot) -> list[tuple[str, str, int]]:
    """Return the human labels; column 2 of Assay's qrels contains the label source."""
    content = snapshot.read_file(FILES["trec-qrels"])
    rows = (line.split() for line in content.decode().splitlines())
    return [(row[0], row[2], int(row[3])) for row in rows if len(row) == 4 and row[1] == HUMAN]


def _in_turn(by_grade: dict[int, list[Key]], seed: int) -> list[tuple[Key, int]]:
    """Return the pairs of each grade in random order, one grade after the other."""
    for keys in by_grade.values():
        keys.sort(key=lambda key: hashlib.sha256(f"{seed}\0{key[0]}\0{key[1]}".encode()).digest())
    longest = max((len(keys) for keys in by_grade.values()), default=0)
    grades = sorted(by_grade)
    return [(by_grade[grade][at], grade) for at in range(longest) for grade in grades if at < len(by_grade[grade])]


def _example(snapshot: Snapshot, key: Key, grade: int) -> Example | None:
    """Return the texts of the pair; None if the document has no text."""
    document = Document.of_any_kind.filter(collection=snapshot.collection_id, doc_id=key[1], stub=False).first()
    if document is None:
        return None
    queries = Query.of_any_kind.filter(pairs__document=document) if document.is_answer else Query.objects.all()
    query = queries.filter(collection=snapshot.collection_id, query_id=key[0]).first()
    if query is None:
        return None
    text = "\n".join(part for part in (document.title, document.text) if part)
    return Example(query.text, text[:4_000], grade) if text.strip() else None


MOST_EXAMPLES = 20


def build(round_: Round, choice: JudgeSettings) -> tuple[Judge, ModelJudge]:
    """Return the unsaved judge for the round, and the object that calls its model."""
    provider, model = choice.provider_and_model()
    kind = kinds.find(choice.kind)
    inputs = _graded_inputs(round_, choice) if kind.name == GRADED else _other_inputs(round_, kind, choice)
    asker = model_judge_of(inputs)
    parameters: dict[str, Any] = {
        **asker.provenance(),
        "protocol": provider.protocol,
        "base_url": provider.base_url,
        "model": model,
        **_call_options(provider, model),
        **_beside(round_, kind, choice, inputs),
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
        inputs=inputs,
    )
    return judge, asker


def digest(parameters: Mapping[str, Any]) -> str:
    """Return the hash of everything that affects a judge's answers; the judge's name ends with its first characters."""
    return hashlib.sha256(json.dumps(parameters, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _call_options(provider: Provider, model: str) -> dict[str, Any]:
    """Return the options of the model's calls, which are part of the judge's identity."""
    options = accounts.settings_of(provider, model)
    most = {"most_tokens": options["most_tokens"]} if "most_tokens" in options else {}
    return {"asked_as": options, **most} if options else {}


def _graded_inputs(round_: Round, choice: JudgeSettings) -> dict[str, Any]:
    if choice.prompt is None:
        raise NotValid("This judge needs a prompt.", {"prompt": "Choose a prompt."})
    meanings = list(round_.scale.grades.order_by("value").values_list("value", "label", "cue"))
    template = choice.prompt.template
    if template == BINARY and len(meanings) != 2:
        message = f"This prompt uses two grades, but the round's scale has {len(meanings)}. Choose another prompt."
        raise NotValid(message, "prompt")
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


def _other_inputs(round_: Round, kind: Kind, choice: JudgeSettings) -> dict[str, Any]:
    inputs: dict[str, Any] = {"kind": kind.name, "seed": choice.seed, "temperature": choice.temperature}
    if kind.says == "usefulness":
        if choice.text_metric not in TEXT_METRICS:
            raise NotValid(f"Choose the metric that scores the answers: {', '.join(TEXT_METRICS)}.", "text_metric")
        # Fail now if the metric's library is missing, not after the first paid answer.
        TEXT_METRICS[choice.text_metric].score("tried", ["tried"])
        inputs["text_metric"] = choice.text_metric
    if choice.prompt is not None and choice.prompt.version is not None:
        template = choice.prompt.template
        inputs["template"] = [template.name, template.version, template.system, template.prompt]
    return inputs | fitting(round_, kind, choice)


def _beside(round_: Round, kind: Kind, choice: JudgeSettings, inputs: Mapping[str, Any]) -> dict[str, Any]:
    if kind.name != GRADED:
        return beside(inputs)
    return {
        "guidelines_version": round_.guidelines.number,
        "examples": len(inputs["examples"]),
        "examples_from": None if choice.snapshot is None else choice.snapshot.name,
    }


def get_or_store(judge: Judge) -> Judge:
    """Return the stored row of this judge, and store it if it is new."""
    stored, made = Judge.objects.get_or_create(
        collection=judge.collection,
        name=judge.name,
        defaults={
            name: getattr(judge, name)
            for name in ("kind", "model", "prompt_sha256", "parameters", "provider", "prompt", "inputs")
        },
    )
    if not made and stored.parameters != judge.parameters:
        raise Conflict(f"Another judge of this collection is already called {judge.name}.")
    if stored.provider_id != judge.provider_id and judge.provider_id is not None:
        # The same address with another provider row, for example after the first one was removed.
        stored.provider = judge.provider
        stored.save(update_fields=["provider"])
    return stored


def model_judge_of(inputs: Mapping[str, Any]) -> ModelJudge:
    """Return the object that calls the model, built from the stored inputs; old rows have no kind."""
    if inputs.get("kind", GRADED) == GRADED:
        return graded_of(inputs)
    metric = TEXT_METRICS[inputs["text_metric"]] if "text_metric" in inputs else None
    # None uses the built-in prompt.
    template = Template(*inputs["template"]) if "template" in inputs else None
    parts = JudgeOptions(seed=inputs["seed"], temperature=inputs["temperature"], text_metric=metric, template=template)
    return MODEL_JUDGES[inputs["kind"]].build(parts)


def graded_of(inputs: Mapping[str, Any]) -> Graded:
    """Return the judge that grades with the collection's own prompt and scale."""
    name, version, system, prompt = inputs["template"]
    return Graded(
        Template(name, version, system, prompt),
        tuple(GradeMeaning(*one) for one in inputs["scale"]),
        inputs["guidelines"],
        tuple(Example(query, text, grade) for query, text, grade in inputs["examples"]),
        inputs["relevant_from"],
        temperature=inputs.get("temperature", 0.0),
        seed=inputs["seed"],
        probabilities=inputs["probabilities"],
    )


def check_provider(judge: Judge) -> Provider:
    """Return the provider of this judge, if it is unchanged."""
    provider, known = judge.provider, judge.parameters
    if provider is None:
        raise Conflict(f"The provider of {judge} was removed. Add the provider again, then create the judge again.")
    if (provider.protocol, provider.base_url) != (known["protocol"], known["base_url"]):
        problem = (
            f"{provider} now has the address {provider.base_url}, but {judge} was created with {known['base_url']}."
        )
        raise Conflict(f"{problem} Create another judge.")
    if provider.offered(judge.model) is None:
        raise Conflict(
            f"{provider} no longer lists {judge.model}. Add the model to the provider, or choose another judge."
        )
    return provider


def endpoint_of(judge: Judge, provider: Provider) -> Endpoint:
    """Return the judge's model endpoint with the call options that the judge was created with."""
    return accounts.endpoint(provider, judge.model, judge.parameters.get("asked_as", {}))


def asks_a_model(judge: Judge) -> bool:
    """Return whether the judge calls a model service, so that it has a call log, a provider and caps."""
    return judge.parameters.get("protocol") in PROTOCOLS


def in_round(collection: Collection, round_: Round) -> list[Judge]:
    """Return the judges that have answered or were started in the round, by name."""
    rows = Judge.objects.filter(collection=collection)
    answered = MachineJudgment.objects.filter(pair__round=round_).order_by().values("judge")
    started = round_.judge_runs.order_by().values("judge")
    here = rows.filter(Q(pk__in=answered) | Q(pk__in=started))
    # The inputs can hold megabytes of expected answers, so they are loaded only when needed.
    return list(here.defer("inputs").select_related("provider", "prompt").order_by("name"))


def _examples(round_: Round, choice: JudgeSettings) -> Chosen:
    if not choice.examples:
        return Chosen((), ())
    if not 0 < choice.examples <= MOST_EXAMPLES:
        raise NotValid("Too many examples.", {"examples": f"Use at most {MOST_EXAMPLES} examples."})
    if choice.snapshot is None:
        raise NotValid("Choose the snapshot that the examples come from.", "snapshot")
    return choose(choice.snapshot, round_, choice.examples, seed=choice.seed)
