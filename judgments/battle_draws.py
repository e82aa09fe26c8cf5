"""Draw of pairwise comparisons: which documents are compared in a round, and what text the models read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgments import audit_slice, machine_runs, model_judges
from judgments.core.errors import Conflict, NotValid
from judgments.judges.contract import Context
from judgments.judges.pairwise import NEEDED, PAIRWISE, PLACES, Pairwise
from judgments.judges.templates import Template
from judgments.judging_estimate import context_of
from judgments.models import Judge, Pair, Provider, Round
from judgments.preferences.fitting import drawn_battles
from judgments.prompts_kept import Named

# A run keeps its draw: more than this is several runs, of some of the queries each.
MOST_BATTLES = 100_000
MOST_MODELS = 8
MOST_CYCLES = 20

# Pair a, pair b, and whether b is shown first.
Drawn = list[int]


@dataclass(frozen=True)
class Choice:
    """What a lead chose for battles.

    Parameters
    ----------
    ensemble : sequence of (Provider, str)
        Whom to ask for which model; each answers every battle.
    cycles : int
        Random rounds of each query's documents.
    both : float
        The share of the battles that is shown in both orders.
    most : int, optional
        Only so many documents of each query, the first of the pool.
    queries : sequence of str
        Ids of the queries; empty for all of the round.
    seed : int
        Of the draw, and for providers that take one.
    prompt : Named, optional
        In which words; those that come with Assay when left out.
    canaries : int
        On how many battles each model is tried with planted text in the document that had lost.
    audit_share : float
        The share of all pairs of the round that people judge whatever comes of the battles.
    """

    ensemble: Sequence[tuple[Provider, str]]
    cycles: int = 4
    both: float = 0.2
    most: int | None = None
    queries: Sequence[str] = ()
    seed: int = 1
    prompt: Named | None = None
    canaries: int = 0
    audit_share: float = 0.1

    @property
    def template(self) -> Template:
        """The words."""
        return PAIRWISE if self.prompt is None else self.prompt.template

    def check(self) -> None:
        """Refuse what cannot be fought.

        Raises
        ------
        NotValid
            By field.
        """
        if not 1 <= len(self.ensemble) <= MOST_MODELS or len(set(self.ensemble)) < len(self.ensemble):
            raise NotValid("Which models?", {"models": f"Choose 1 to {MOST_MODELS} models, each once."})
        for provider, model in self.ensemble:
            if provider.offered(model) is None:
                said = f"{provider} has no model {model!r}. Its list stands on its page."
                raise NotValid(said, {"models": said})
        if not 1 <= self.cycles <= MOST_CYCLES:
            raise NotValid("How many cycles?", {"cycles": f"From 1 to {MOST_CYCLES}; 4 is usual."})
        if not 0 <= self.both <= 1:
            raise NotValid("The share shown in both orders is none.", {"both": "From 0 to 1."})
        if self.most is not None and self.most < 2:
            raise NotValid("Two documents at least can meet.", {"most": "2 or more."})
        machine_runs.check_canaries(self.canaries)
        audit_slice.check(self.audit_share)
        self.template.check(PLACES, NEEDED)


@dataclass(frozen=True)
class Draw:
    """Battles as drawn, with how many queries and documents are in them, and how many documents have no text."""

    battles: list[Drawn]
    queries: int
    documents: int
    without_text: int


def draw(round_: Round, choice: Choice) -> Draw:
    """Draw who meets whom: documents of one query, in the round's order, that have a text.

    Raises
    ------
    NotValid
        Queries that the round has not, or more battles than one run holds.
    """
    rows = round_.pairs.order_by("position")
    if choice.queries:
        known = set(rows.filter(query__query_id__in=list(choice.queries)).values_list("query__query_id", flat=True))
        strange = [query_id for query_id in choice.queries if query_id not in known]
        if strange:
            said = f"This round has no query {', '.join(map(repr, strange[:5]))}."
            raise NotValid(said, {"queries": said})
        rows = rows.filter(query__query_id__in=list(choice.queries))
    told = rows.filter(document__stub=False).exclude(document__title="", document__text="")
    pairs: dict[str, dict[str, int]] = {}
    for pk, query_id, doc_id in told.values_list("pk", "query__query_id", "document__doc_id"):
        pairs.setdefault(query_id, {})[doc_id] = pk
    listed = {query_id: list(found) for query_id, found in pairs.items()}
    battles = drawn_battles(listed, cycles=choice.cycles, seed=choice.seed, most=choice.most, both=choice.both)
    if len(battles) > MOST_BATTLES:
        said = f"{len(battles):,} battles are more than one run holds ({MOST_BATTLES:,})."
        raise NotValid(f"{said} Take fewer queries, cycles or documents.", {"cycles": said})
    found = [[pairs[query_id][a], pairs[query_id][b], int(turned)] for query_id, a, b, turned in battles]
    number = sum(len(found) for found in pairs.values())
    return Draw(
        found, len({row[0] for row in battles}), len({pk for row in found for pk in row[:2]}), rows.count() - number
    )


def told_of(round_: Round, seed: int, template: Template = PAIRWISE) -> dict[str, Any]:
    """What the models will be told, to be kept word for word."""
    words = [template.name, template.version, template.system, template.prompt]
    guidelines = round_.guidelines
    told = {"template": words, "guidelines": guidelines.markdown, "guidelines_version": guidelines.number}
    return {**told, "seed": seed}


def asker_of(told: Mapping[str, Any]) -> Pairwise:
    """What asks, from what a run keeps."""
    return Pairwise(Template(*told["template"]), told["guidelines"], seed=told["seed"])


def member_of(provider: Provider, model: str) -> dict[str, str]:
    """How a run keeps one of its models."""
    where = {"protocol": provider.protocol, "base_url": provider.base_url}
    return {"provider": str(provider.uuid), "name": provider.name, **where, "model": model}


def provider_of(round_: Round, member: Mapping[str, str]) -> Provider:
    """Who answers for a model of a run.

    Raises
    ------
    Conflict
        The provider was removed, or points elsewhere since.
    """
    found = round_.collection.providers.filter(uuid=member["provider"]).first()
    same = Judge(name=f"The model {member['model']}", model=member["model"], provider=found, parameters=dict(member))
    if found is None:
        raise Conflict(f"The provider {member['name']} was removed. Add it again, then make another run of battles.")
    return model_judges.check_provider(same)


def contexts_of(battles: Sequence[Drawn]) -> Iterator[tuple[Drawn, Context]]:
    """Each battle as it is shown: the first document, the second one, and nothing that would tell who found them."""
    keys = {pk for row in battles for pk in row[:2]}
    pairs = {pair.pk: pair for pair in Pair.objects.filter(pk__in=keys).select_related("query", "document")}
    texts = {pk: context_of(pair) for pk, pair in pairs.items()}
    for row in battles:
        a, b, turned = row
        if a not in texts or b not in texts:
            continue
        first, second = (texts[b], texts[a]) if turned else (texts[a], texts[b])
        # A text that is gone since is waited for, and is no empty document that loses.
        if first.text.strip() and second.text.strip():
            yield row, Context(first.query, first.text, narrative=first.narrative, other=second.text)
