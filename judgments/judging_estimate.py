"""What would a judge take in a round, before anything is asked: calls, tokens, dollars?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import QuerySet

from judgments import model_judges, providers_kept
from judgments.judges.asking import Asking
from judgments.judges.canaries import TRAPS
from judgments.judges.contract import Context
from judgments.judges.graded import Graded
from judgments.models import Judge, MachineJudgment, Pair, Round

# So many pairs are looked at, spread over the round; a larger round is told in proportion.
LOOKED_AT = 300


@dataclass(frozen=True)
class Estimate:
    """What is to come.

    Parameters
    ----------
    pairs : int
        Without an answer of this judge, and with a text.
    without_text : int
        Without a text: they wait until a documents file brings it.
    examples : int
        Shown to the model as examples, and so never asked about.
    canaries : int
        Planted documents that are asked about besides.
    calls : (int, int)
        Each pair and canary once; each once more, where no answer can be read.
    tokens_in, tokens_out : (int, int)
        Low and high.
    usd : (float, float) or None
        Low and high; None where the model has no price.
    looked_at : int
        On how many pairs that stands.
    """

    pairs: int
    without_text: int
    examples: int
    canaries: int
    calls: tuple[int, int]
    tokens_in: tuple[int, int]
    tokens_out: tuple[int, int]
    usd: tuple[float, float] | None
    looked_at: int

    def as_json(self) -> dict[str, Any]:
        """Plain values under plain names."""
        return asdict(self)


def estimate(round_: Round, judge: Judge, graded: Graded, *, canaries: int) -> Estimate:
    """Look at some of the pairs and tell in proportion what all of them would take; nothing is asked.

    Parameters
    ----------
    round_ : Round
        Whose pairs.
    judge : Judge
        Stored or not.
    graded : Graded
        What asks for it.
    canaries : int
        How many documents are to be planted.
    """
    ready, without_text, examples = waiting(round_, judge)
    number = ready.count()
    step = max(1, number // LOOKED_AT)
    some = [pair for at, pair in enumerate(ready.iterator(chunk_size=1_000)) if at % step == 0][:LOOKED_AT]
    known = providers_kept.endpoint(model_judges.check_provider(judge), judge.model)
    plan = Asking(graded, known, [context_of(pair) for pair in some], {}).plan
    # Canaries are the same documents with a sentence more.
    planted = canaries * len(TRAPS)
    times = (number + planted) / plan.questions if plan.questions else 0.0
    return Estimate(
        pairs=number,
        without_text=without_text,
        examples=examples,
        canaries=planted,
        calls=(number + planted, 2 * (number + planted)),
        tokens_in=_scaled(plan.tokens_in, times),
        tokens_out=_scaled(plan.tokens_out, times),
        usd=None if plan.usd is None else (plan.usd[0] * times, plan.usd[1] * times),
        looked_at=len(some),
    )


def waiting(round_: Round, judge: Judge) -> tuple[QuerySet[Pair], int, int]:
    """The pairs that the judge can answer and has not, how many lack a text, and how many are its examples."""
    rows = round_.pairs.select_related("query", "document").order_by("position")
    if judge.pk is not None:
        rows = rows.exclude(pk__in=MachineJudgment.objects.filter(judge=judge, pair__round=round_).values("pair"))
    shown = {tuple(key) for key in judge.told.get("example_pairs", ())}
    same = round_.pairs.filter(query__query_id__in={key[0] for key in shown}) if shown else round_.pairs.none()
    keys = same.values_list("pk", "query__query_id", "document__doc_id")
    own = [pk for pk, query_id, doc_id in keys if (query_id, doc_id) in shown]
    rows = rows.exclude(pk__in=own)
    ready = rows.filter(document__stub=False).exclude(document__title="", document__text="")
    return ready, rows.count() - ready.count(), len(own)


def context_of(pair: Pair) -> Context:
    """The pair as a judge sees it: query, need and text, and nothing that would tell who found it."""
    text = "\n".join(part for part in (pair.document.title, pair.document.text) if part)
    return Context(pair.query.text, text, (), pair.query.narrative)


def _scaled(range_: tuple[int, int], times: float) -> tuple[int, int]:
    return round(range_[0] * times), round(range_[1] * times)
