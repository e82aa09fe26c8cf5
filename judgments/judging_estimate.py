"""Estimate of the calls, tokens and dollars that a judge would take in a round, before any call is made."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import QuerySet

from judgments import judge_kinds, model_judges
from judgments.answers_kept import ratio_of
from judgments.core.errors import UnknownName
from judgments.judges.asking import Asking
from judgments.judges.canaries import TRAPS
from judgments.judges.contract import Context, Need
from judgments.judges.model_judge import ModelJudge
from judgments.models import Document, Judge, MachineJudgment, Pair, Round

# So many pairs are looked at, spread over the round; a larger round is told in proportion.
LOOKED_AT = 300


@dataclass(frozen=True, kw_only=True)
class CostEstimate:
    """What the questions to a model would cost.

    Parameters
    ----------
    calls : (int, int)
        Each question once; each once more, if no answer can be read. None of a judge that asks no model.
    tokens_in, tokens_out : (int, int)
        Low and high: four characters a token, corrected by what the provider counted when this model was asked before.
    usd : (float, float) or None
        Low and high; None if a model has no price.
    looked_at : int
        How many pairs, comparisons or samples were read for the estimate.
    """

    calls: tuple[int, int]
    tokens_in: tuple[int, int]
    tokens_out: tuple[int, int]
    usd: tuple[float, float] | None
    looked_at: int

    def as_json(self) -> dict[str, Any]:
        """Return plain values by name."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Estimate(CostEstimate):
    """What a judge would cost in a round.

    Parameters
    ----------
    pairs : int
        Without an answer of this judge, and with all that it needs.
    without_text : int
        Without a text: they wait until a documents file brings it.
    without_expected : int
        With a text, and without the expected answer or need that this judge compares with; of an ensemble, without an
        answer of each of its judges.
    examples : int
        Shown to the model as examples, and so never asked about.
    canaries : int
        Planted documents that are asked about besides.
    """

    pairs: int
    without_text: int
    examples: int
    canaries: int
    without_expected: int = 0


@dataclass(frozen=True)
class Waiting:
    """What a judge has not answered in a round.

    Parameters
    ----------
    ready : QuerySet
        The pairs that it can answer, in the round's order.
    without_text, without_expected, examples : int
        As in `Estimate`.
    """

    ready: QuerySet[Pair]
    without_text: int
    without_expected: int
    examples: int


def free(waits: Waiting) -> Estimate:
    """What a judge takes that asks no model: nothing but time."""
    number, nothing = waits.ready.count(), (0, 0)
    return Estimate(
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


def estimate(round_: Round, judge: Judge, asker: ModelJudge, *, canaries: int) -> Estimate:
    """Look at some of the pairs and tell in proportion what all of them would take; nothing is asked.

    Parameters
    ----------
    round_ : Round
        Whose pairs.
    judge : Judge
        Stored or not.
    asker : ModelJudge
        What asks for it.
    canaries : int
        How many documents are to be planted.
    """
    waits = waiting(round_, judge)
    number = waits.ready.count()
    step = max(1, number // LOOKED_AT)
    some = [pair for at, pair in enumerate(waits.ready.iterator(chunk_size=1_000)) if at % step == 0][:LOOKED_AT]
    contexts = [context_of(pair, judge) for pair in some]
    known = model_judges.endpoint_of(judge, model_judges.check_provider(judge))
    plan = Asking(asker, known, contexts, {}, ratio_of(judge)).plan
    # Canaries are the same documents with a sentence more, each of them once for each trap.
    planted = min(canaries, round_.pairs_made) * len(TRAPS)
    # Several questions about a pair where there are several expected answers.
    a_pair = sum(len(asker.questions(one)) for one in contexts) / len(contexts) if contexts else 1.0
    calls = round((number + planted) * a_pair)
    times = calls / plan.questions if plan.questions else 0.0
    return Estimate(
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
    """The pairs that the judge can answer and has not, and how many wait for what."""
    needs = _needs(judge)
    rows = round_.pairs.select_related("query", "document").order_by("position")
    if judge.pk is not None:
        rows = rows.exclude(pk__in=MachineJudgment.objects.filter(judge=judge, pair__round=round_).values("pair"))
    own = _examples_of(round_, judge)
    rows = rows.exclude(pk__in=own)
    # A stub has no content yet, unlike a text that is known to say nothing: a judge that matches words can answer that.
    told = rows.filter(document__stub=False)
    if "text" in needs:
        told = told.exclude(document__title="", document__text="")
    ready = told.filter(query__query_id__in=list(judge.told["expected"])) if "expected" in needs else told
    ready = ready.exclude(query__narrative="") if "narrative" in needs else ready
    there = told.count()
    return Waiting(ready, rows.count() - there, there - ready.count() if ready is not told else 0, len(own))


def _needs(judge: Judge) -> tuple[Need, ...]:
    try:
        return judge_kinds.find(judge.kind).needs
    except UnknownName:
        return ("query", "text")


def _examples_of(round_: Round, judge: Judge) -> list[int]:
    """The pairs of the round that the judge was shown with their grades."""
    shown = {tuple(key) for key in judge.told.get("example_pairs", ())}
    same = round_.pairs.filter(query__query_id__in={key[0] for key in shown}) if shown else round_.pairs.none()
    keys = same.values_list("pk", "query__query_id", "document__doc_id")
    return [pk for pk, query_id, doc_id in keys if (query_id, doc_id) in shown]


def read_by_judges(document: Document) -> str:
    """What a machine judge reads of a document: title and text; of an answer, the answer and its numbered evidence."""
    if not document.is_answer:
        return "\n".join(part for part in (document.title, document.text) if part)
    passages = [
        "\n".join(part for part in (f"[{number}] {one['title']}".rstrip(), one["text"]) if part)
        for number, one in enumerate(document.evidence, 1)
    ]
    return "\n\n".join([document.text, *(["Evidence:", *passages] if passages else [])])


def context_of(pair: Pair, judge: Judge | None = None) -> Context:
    """The pair as a judge sees it: query, need, text and accepted answers, and nothing that would tell who found it."""
    text = read_by_judges(pair.document)
    expected = judge.told.get("expected", {}).get(pair.query.query_id, ()) if judge is not None else ()
    return Context(pair.query.text, text, tuple(expected), pair.query.narrative)


def _scaled(range_: tuple[int, int], times: float) -> tuple[int, int]:
    return round(range_[0] * times), round(range_[1] * times)
