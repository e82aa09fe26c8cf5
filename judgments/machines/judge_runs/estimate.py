"""Estimate of the calls, tokens and dollars that a judge would need in a round, before any call is made."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import QuerySet

from assay.core.errors import UnknownName
from assay.llm.judge import Context, Need
from assay.llm.judges.bulk_judging import Asking
from assay.llm.judges.injection_probe import TRAPS
from assay.llm.judges.model_judge import ModelJudge
from judgments.machines import kinds
from judgments.machines.judge_runs import model_judges
from judgments.machines.judge_runs.call_log import ratio_of
from judgments.models import Document, Judge, MachineJudgment, Pair, Round

# The number of pairs to sample from the round; the estimate is extrapolated from them.
LOOKED_AT = 300


@dataclass(frozen=True, kw_only=True)
class CostEstimate:
    """The estimated cost of calls to a model."""

    calls: tuple[int, int]
    tokens_in: tuple[int, int]
    tokens_out: tuple[int, int]
    usd: tuple[float, float] | None
    looked_at: int

    def as_json(self) -> dict[str, Any]:
        """Return the estimate as a dict."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class JudgeCost(CostEstimate):
    """The estimated cost of a judge in a round."""

    pairs: int
    without_text: int
    examples: int
    canaries: int
    without_expected: int = 0


@dataclass(frozen=True)
class Waiting:
    """The pairs that a judge has not answered in a round."""

    ready: QuerySet[Pair]
    without_text: int
    without_expected: int
    examples: int


def free(waits: Waiting) -> JudgeCost:
    """Return the estimate for a judge that calls no model and costs only time."""
    number, nothing = waits.ready.count(), (0, 0)
    return JudgeCost(
        pairs=number,
        without_text=waits.without_text,
        without_expected=waits.without_expected,
        examples=waits.examples,
        canaries=0,
        calls=nothing,
        tokens_in=nothing,
        tokens_out=nothing,
        usd=(0.0, 0.0),
        looked_at=number,
    )


def estimate(round_: Round, judge: Judge, asker: ModelJudge, *, canaries: int) -> JudgeCost:
    """Estimate the cost from a sample of the pairs, without calling a model."""
    waits = waiting(round_, judge)
    number = waits.ready.count()
    step = max(1, number // LOOKED_AT)
    some = [pair for at, pair in enumerate(waits.ready.iterator(chunk_size=1_000)) if at % step == 0][:LOOKED_AT]
    contexts = [context_of(pair, judge) for pair in some]
    known = model_judges.endpoint_of(judge, model_judges.check_provider(judge))
    plan = Asking(asker, known, contexts, {}, ratio_of(judge)).plan
    # Probes are the same documents with one more sentence, once for each kind of probe.
    planted = min(canaries, round_.pairs_made) * len(TRAPS)
    # A pair with several expected answers needs several questions.
    a_pair = sum(len(asker.questions(one)) for one in contexts) / len(contexts) if contexts else 1.0
    calls = round((number + planted) * a_pair)
    times = calls / plan.questions if plan.questions else 0.0
    return JudgeCost(
        pairs=number,
        without_text=waits.without_text,
        examples=waits.examples,
        canaries=planted,
        calls=(calls, 2 * calls),
        tokens_in=_scaled(plan.tokens_in, times),
        tokens_out=_scaled(plan.tokens_out, times),
        usd=None if plan.usd is None else (plan.usd[0] * times, plan.usd[1] * times),
        looked_at=len(some),
        without_expected=waits.without_expected,
    )


def waiting(round_: Round, judge: Judge) -> Waiting:
    """Return the pairs that the judge can answer and has not, and the numbers of pairs with missing data."""
    needs = _needs(judge)
    rows = round_.pairs.select_related("query", "document").order_by("position")
    if judge.pk is not None:
        rows = rows.exclude(pk__in=MachineJudgment.objects.filter(judge=judge, pair__round=round_).values("pair"))
    own = _examples_of(round_, judge)
    rows = rows.exclude(pk__in=own)
    # A stub has no content yet. A document with an empty text is different: a judge that matches words can judge it.
    with_content = rows.filter(document__stub=False)
    if "text" in needs:
        with_content = with_content.exclude(document__title="", document__text="")
    ready = (
        with_content.filter(query__query_id__in=list(judge.inputs["expected"])) if "expected" in needs else with_content
    )
    ready = ready.exclude(query__narrative="") if "narrative" in needs else ready
    there = with_content.count()
    return Waiting(ready, rows.count() - there, there - ready.count() if ready is not with_content else 0, len(own))


def _needs(judge: Judge) -> tuple[Need, ...]:
    try:
        return kinds.find(judge.kind).needs
    except UnknownName:
        return ("query", "text")


def _examples_of(round_: Round, judge: Judge) -> list[int]:
    """Return the pairs of the round that are examples in the judge's prompt."""
    shown = {tuple(key) for key in judge.inputs.get("example_pairs", ())}
    same = round_.pairs.filter(query__query_id__in={key[0] for key in shown}) if shown else round_.pairs.none()
    keys = same.values_list("pk", "query__query_id", "document__doc_id")
    return [pk for pk, query_id, doc_id in keys if (query_id, doc_id) in shown]


def read_by_judges(document: Document) -> str:
    """Return the text that a machine judge reads: title and text, or an answer with its numbered evidence."""
    if not document.is_answer:
        return "\n".join(part for part in (document.title, document.text) if part)
    passages = [
        "\n".join(part for part in (f"[{number}] {one['title']}".rstrip(), one["text"]) if part)
        for number, one in enumerate(document.evidence, 1)
    ]
    return "\n\n".join([document.text, *(["Evidence:", *passages] if passages else [])])


def context_of(pair: Pair, judge: Judge | None = None) -> Context:
    """Return the pair as a judge sees it: query, need, text and accepted answers, without its runs."""
    text = read_by_judges(pair.document)
    expected = judge.inputs.get("expected", {}).get(pair.query.query_id, ()) if judge is not None else ()
    return Context(pair.query.text, text, tuple(expected), pair.query.narrative)


def _scaled(range_: tuple[int, int], times: float) -> tuple[int, int]:
    return round(range_[0] * times), round(range_[1] * times)
