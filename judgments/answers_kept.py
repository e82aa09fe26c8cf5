"""Call log of a judge's run: store many answers in one commit, and each answer once.

A commit waits for the disk. So answers that arrive together are stored together: the calls in the ledger and the
machine judgments that belong to them, all or none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Sum

from judgments.core.storable import storable
from judgments.judge_choice import on_scale
from judgments.judges.answers import Reply
from judgments.judges.asking import Answered, prompt_sha256
from judgments.judges.contract import Outcome
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall, Pair, ProviderCall
from judgments.providers.pace import Ratio

# So many of the last calls say how a provider counts.
LATEST = 500
Purpose = ModelCall.Purpose


class AnswersKept:
    """The ledger and the judgments of one run.

    Parameters
    ----------
    run : JudgeRun
        Whose.
    values : sequence of int
        The grades of its round.
    """

    def __init__(self, run: JudgeRun, values: list[int]) -> None:
        self._run, self._judge, self._values = run, run.judge, values
        # The ledger is the truth: what a killed sitting did not add up is in it all the same.
        told = ModelCall.objects.filter(run=run).aggregate(calls=Count("pk"), usd=Sum("cost_usd"))
        self.spent, self.calls = told["usd"] or 0.0, told["calls"]
        self._last: dict[int, ModelCall] = {}
        self._new_calls: list[ModelCall] = []
        self._new_judgments: list[MachineJudgment] = []

    def together(self, work: Callable[[], None]) -> None:
        """Do some work, and keep all that it hands in: committed when this returns."""
        work()
        calls, self._new_calls = self._new_calls, []
        judgments, self._new_judgments = self._new_judgments, []
        if not calls and not judgments:
            return
        try:
            # Every statement waits for its turn among the threads that ask: four of them, and no savepoint.
            self._write(calls, judgments, lambda rows: ModelCall.objects.bulk_create(rows))
        except IntegrityError:
            # Two sittings at once are possible while a lease runs out: what the other one wrote down stays as it is.
            self._write(calls, judgments, _one_by_one)

    @transaction.atomic
    def _write(
        self,
        calls: list[ModelCall],
        judgments: list[MachineJudgment],
        create: Callable[[list[ModelCall]], object],
    ) -> None:
        create(calls)
        for row in judgments:
            if row.call is None or row.call.pk is None:
                row.call = self._found(row.pair_id)
        MachineJudgment.objects.bulk_create(judgments, ignore_conflicts=True)

    def call(self, call: Answered, model: str, pair: Pair, purpose: str, trap: str) -> None:
        """One answer for the ledger."""
        outcome, reply = on_scale(call.outcome, self._judge.told, self._values), call.reply
        row = ModelCall(
            run=self._run,
            judge=self._judge,
            pair=pair,
            purpose=purpose,
            trap=trap,
            grade=outcome.grade,
            probabilities=outcome.probabilities,
            rationale=storable(outcome.rationale),
            **call_fields(replace(call, outcome=outcome), model),
        )
        self._new_calls.append(row)
        self._last[pair.pk] = row
        self.spent, self.calls = self.spent + (reply.cost_usd or 0.0), self.calls + 1

    def judgment(self, pair: Pair, outcome: Outcome) -> None:
        """The judge's word on a pair; one that got no answer goes on waiting for it."""
        call = self._last.pop(pair.pk, None)
        if outcome.name == "transport_error":
            return
        found = on_scale(outcome, self._judge.told, self._values)
        row = MachineJudgment(
            judge=self._judge,
            pair=pair,
            outcome=found.name,
            grade=found.grade,
            usefulness=found.usefulness,
            probabilities=found.probabilities,
            rationale=storable(found.rationale),
            raw=storable(found.raw),
            call=call,
            document_sha256=pair.document.content_sha256,
        )
        self._new_judgments.append(row)

    def _found(self, pair: int) -> ModelCall | None:
        """The call that an earlier sitting wrote down, or another one at the same time."""
        calls = ModelCall.objects.filter(judge=self._judge, pair=pair).exclude(purpose=Purpose.CANARY)
        return calls.order_by("-pk").first()


def _one_by_one(calls: list[ModelCall]) -> None:
    """Each that is new; the others are left without a key of their own."""
    for row in calls:
        row.pk = None
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:
            row.pk = None


def call_fields(call: Answered, model: str) -> dict[str, Any]:
    """The fields of a `ProviderCall`."""
    question, outcome, reply = call.question, call.outcome, call.reply
    return {
        "key": question.key,
        "prompt_sha256": prompt_sha256(question),
        "model_asked": model,
        "model_answered": storable(reply.model)[:200],
        "parameters": {
            "temperature": question.temperature,
            "seed": question.seed,
            "most_tokens": question.most_tokens,
            "stop": reply.stop,
            "tokens_estimated": question.tokens,
        },
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost_usd": reply.cost_usd,
        "cost_estimated": reply.estimated,
        "left_out": list(reply.left_out),
        "seconds": reply.seconds,
        "outcome": outcome.name,
        "usefulness": outcome.usefulness,
        "raw": storable(outcome.raw),
    }


def ratio_of(judge: Judge) -> Ratio:
    """How many tokens its provider counted for one that was estimated, when this model was asked last."""
    ratio = Ratio()
    rows = ModelCall.objects.filter(judge__provider=judge.provider, model_asked=judge.model, tokens_in__gt=0)
    for told, counted in rows.order_by("-pk").values_list("parameters", "tokens_in")[:LATEST]:
        if estimated := told.get("tokens_estimated"):
            ratio.add(estimated=estimated, counted=counted)
    return ratio


def reply_of(row: ProviderCall) -> Reply:
    """The answer as it came, to be read again."""
    stop, probabilities = row.parameters.get("stop", "done"), getattr(row, "probabilities", None)
    return Reply(
        row.raw, stop, row.tokens_in, row.tokens_out, row.cost_usd, row.model_answered, row.seconds, probabilities
    )
