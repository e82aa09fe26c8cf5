"""Draw of pairwise comparisons: the documents to compare in a round, and the texts that the models read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import Conflict, NotValid
from assay.llm.judge import Context
from assay.llm.judges.pairwise import NEEDED, PAIRWISE, PLACES, Pairwise
from assay.llm.judges.prompt_templates import Template
from assay.llm.pairwise.score_fitting import drawn_battles, most_telling, swapped
from judgments.machines import machine_runs
from judgments.machines.calibration import audit_sample
from judgments.machines.judge_runs import model_judges
from judgments.machines.judge_runs.estimate import context_of
from judgments.machines.pairwise.scores import comparison_rows
from judgments.machines.prompts.prompts import Named
from judgments.models import BattleRun, Judge, Pair, Provider, Round

MOST_FURTHER = 1_000


def draw_further(run: BattleRun, number: int) -> Draw:
    """Return the next comparisons of a run, the most informative of each query, without storing them."""
    if not 1 <= number <= MOST_FURTHER:
        raise NotValid(
            "The number of comparisons is out of range.",
            {"number": f"Enter a number from 1 to {MOST_FURTHER:,} per query."},
        )
    names, rows = comparison_rows(run, None)
    if not any(row.score is not None for row in rows):
        raise Conflict(
            "No comparison has an answer yet, and additional comparisons are chosen from the answers. Wait for the "
            "first answers."
        )
    keys = {name: pk for pk, name in names.items()}
    met = {frozenset(row[:2]) for row in run.drawn}
    telling = most_telling([(row.query_id, row.a, row.b, row.score) for row in rows], number)
    pairs = [(keys[query_id, a], keys[query_id, b]) for query_id, a, b in telling]
    new = [pair for pair in pairs if frozenset(pair) not in met]
    if not new:
        raise Conflict("All documents of these queries have been compared or are queued, so no comparison is left.")
    if run.battles + len(new) > MOST_BATTLES:
        raise NotValid(
            "The run would exceed its limit.", {"number": f"A run contains at most {MOST_BATTLES:,} comparisons."}
        )
    turned, both = swapped(len(new), run.both, seed=run.seed + run.battles)
    added = []
    for (a, b), first, twice in zip(new, turned, both, strict=True):
        added += [[a, b, int(first)], *([[a, b, int(not first)]] if twice else [])]
    documents = {pk for pair in new for pk in pair}
    return Draw(added, len({names[pk][0] for pk in documents}), len(documents), 0)


# A run stores its draw. Larger draws must be split into several runs, by query.
MOST_BATTLES = 100_000
MOST_MODELS = 8
MOST_CYCLES = 20

# Pair a, pair b, and whether b is shown first.
Drawn = list[int]


@dataclass(frozen=True)
class ComparisonSettings:
    """A lead's settings of a run of pairwise comparisons."""

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
        """The prompt template."""
        return PAIRWISE if self.prompt is None else self.prompt.template

    def check(self) -> None:
        """Validate the settings."""
        if not 1 <= len(self.ensemble) <= MOST_MODELS or len(set(self.ensemble)) < len(self.ensemble):
            raise NotValid(
                "The choice of models is invalid.", {"models": f"Choose from 1 to {MOST_MODELS} different models."}
            )
        for provider, model in self.ensemble:
            if provider.offered(model) is None:
                problem = f"{provider} has no model {model!r}. Choose one from the list on the provider's page."
                raise NotValid(problem, "models")
        if not 1 <= self.cycles <= MOST_CYCLES:
            raise NotValid(
                "The number of cycles is out of range.",
                {"cycles": f"Choose a number from 1 to {MOST_CYCLES}, such as 4."},
            )
        if not 0 <= self.both <= 1:
            raise NotValid(
                "The share of comparisons shown in both orders is out of range.",
                {"both": "Choose a share from 0 to 1."},
            )
        if self.most is not None and self.most < 2:
            raise NotValid("A comparison needs two documents.", {"most": "Choose at least 2."})
        machine_runs.check_canaries(self.canaries)
        audit_sample.check(self.audit_share)
        self.template.check(PLACES, NEEDED)


@dataclass(frozen=True)
class Draw:
    """The drawn comparisons, with the numbers of their queries and documents and of documents without text."""

    battles: list[Drawn]
    queries: int
    documents: int
    without_text: int


def draw(round_: Round, choice: ComparisonSettings) -> Draw:
    """Draw comparisons between documents of a query that have a text, in the order of the round."""
    rows = round_.pairs.order_by("position")
    if choice.queries:
        known = set(rows.filter(query__query_id__in=list(choice.queries)).values_list("query__query_id", flat=True))
        strange = [query_id for query_id in choice.queries if query_id not in known]
        if strange:
            problem = f"This round does not contain these queries: {', '.join(map(repr, strange[:5]))}."
            raise NotValid(problem, "queries")
        rows = rows.filter(query__query_id__in=list(choice.queries))
    with_text = rows.filter(document__stub=False).exclude(document__title="", document__text="")
    pairs: dict[str, dict[str, int]] = {}
    for pk, query_id, doc_id in with_text.values_list("pk", "query__query_id", "document__doc_id"):
        pairs.setdefault(query_id, {})[doc_id] = pk
    listed = {query_id: list(keys_by_doc) for query_id, keys_by_doc in pairs.items()}
    battles = drawn_battles(listed, cycles=choice.cycles, seed=choice.seed, most=choice.most, both=choice.both)
    if len(battles) > MOST_BATTLES:
        problem = f"{len(battles):,} comparisons exceed the limit of {MOST_BATTLES:,} per run."
        raise NotValid(f"{problem} Choose fewer queries, cycles or documents.", {"cycles": problem})
    keys_by_doc = [[pairs[query_id][a], pairs[query_id][b], int(turned)] for query_id, a, b, turned in battles]
    number = sum(len(keys_by_doc) for keys_by_doc in pairs.values())
    return Draw(
        keys_by_doc,
        len({row[0] for row in battles}),
        len({pk for row in keys_by_doc for pk in row[:2]}),
        rows.count() - number,
    )


def prompt_record(round_: Round, seed: int, template: Template = PAIRWISE) -> dict[str, Any]:
    """Return the exact prompt, guidelines and seed, as the run stores them."""
    words = [template.name, template.version, template.system, template.prompt]
    guidelines = round_.guidelines
    record = {"template": words, "guidelines": guidelines.markdown, "guidelines_version": guidelines.number}
    return {**record, "seed": seed}


def judge_of_record(record: Mapping[str, Any]) -> Pairwise:
    """Return the pairwise judge for a stored prompt."""
    return Pairwise(Template(*record["template"]), record["guidelines"], seed=record["seed"])


def member_of(provider: Provider, model: str) -> dict[str, str]:
    """Return one model of a run in its stored form."""
    where = {"protocol": provider.protocol, "base_url": provider.base_url}
    return {"provider": str(provider.uuid), "name": provider.name, **where, "model": model}


def members_of(run: BattleRun) -> list[tuple[Provider, str]]:
    """Return the models of a run with their providers, which must be unchanged."""
    return [(_provider_of(run, member), member["model"]) for member in run.ensemble]


def _provider_of(run: BattleRun, member: Mapping[str, str]) -> Provider:
    provider_ = run.collection.providers.filter(uuid=member["provider"]).first()
    same = Judge(
        name=f"The model {member['model']}", model=member["model"], provider=provider_, parameters=dict(member)
    )
    if provider_ is None:
        raise Conflict(
            f"The provider {member['name']} was removed. Add it again and create another run of comparisons."
        )
    return model_judges.check_provider(same)


def contexts_of(battles: Sequence[Drawn]) -> Iterator[tuple[Drawn, Context]]:
    """Yield each comparison as shown: query, first and second document, without their runs."""
    keys = {pk for row in battles for pk in row[:2]}
    pairs = {pair.pk: pair for pair in Pair.objects.filter(pk__in=keys).select_related("query", "document")}
    texts = {pk: context_of(pair) for pk, pair in pairs.items()}
    for row in battles:
        a, b, turned = row
        if a not in texts or b not in texts:
            continue
        first, second = (texts[b], texts[a]) if turned else (texts[a], texts[b])
        # Skip a document that lost its text, because an empty document must not lose a comparison.
        if first.text.strip() and second.text.strip():
            yield row, Context(first.query, first.text, narrative=first.narrative, other=second.text)
