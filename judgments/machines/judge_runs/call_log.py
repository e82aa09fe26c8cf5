"""Call log of a judge's run: store many answers in one commit, and each answer once.

A commit waits for the disk, so answers that arrive together are stored together: the calls in the ledger and their
machine judgments, all or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, QuerySet, Sum

from assay.core.text_rules import storable
from assay.llm.judge import Context, Outcome
from assay.llm.judges.bulk_judging import Answered, key_of, prompt_sha256
from assay.llm.judges.model_judge import ModelJudge, again
from assay.llm.model_reply import Reply
from assay.llm.providers.limits import Ratio
from assay.llm.providers.protocol import Endpoint
from judgments.machines.judge_runs.judge_settings import on_scale
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall, Pair, ProviderCall
from judgments.models.fields import rows_among

# The number of recent calls from which a provider's token ratio is computed.
LATEST = 500
Purpose = ModelCall.Purpose


class JudgeCallLog:
    """The ledger and the judgments of one run."""

    def __init__(self, run: JudgeRun, values: list[int]) -> None:
        self._run, self._judge, self._values = run, run.judge, values
        self._last: dict[int, ModelCall] = {}
        self._new_calls: list[ModelCall] = []
        self._new_judgments: list[MachineJudgment] = []

    def commit_after(self, work: Callable[[], None]) -> None:
        """Run some work and store all the answers that it adds; they are committed when this returns."""
        work()
        calls, self._new_calls = self._new_calls, []
        judgments, self._new_judgments = self._new_judgments, []
        if not calls and not judgments:
            return
        try:
            # Each statement waits for the other threads, so use four statements and no savepoint.
            self._write(calls, judgments, lambda rows: ModelCall.objects.bulk_create(rows))
        except IntegrityError:
            # When a lease expires, two workers can run at once. Rows that the other worker stored stay unchanged.
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
                row.call = self._stored_call(row.pair_id)
        MachineJudgment.objects.bulk_create(judgments, ignore_conflicts=True)

    def call(self, call: Answered, model: str, pair: Pair, purpose: str, trap: str) -> None:
        """Add one answer to the ledger."""
        outcome = on_scale(call.outcome, self._judge.inputs, self._values)
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

    def judgment(self, pair: Pair, outcome: Outcome) -> None:
        """Add the judge's grade of a pair; a pair with a failed call stays open."""
        call = self._last.pop(pair.pk, None)
        if outcome.name == "transport_error":
            return
        scaled = on_scale(outcome, self._judge.inputs, self._values)
        row = MachineJudgment(
            judge=self._judge,
            pair=pair,
            outcome=scaled.name,
            grade=scaled.grade,
            usefulness=scaled.usefulness,
            probabilities=scaled.probabilities,
            rationale=storable(scaled.rationale),
            raw=storable(scaled.raw),
            call=call,
            document_sha256=pair.document.content_sha256,
        )
        self._new_judgments.append(row)

    def _stored_call(self, pair: int) -> ModelCall | None:
        """Return the call that an earlier or concurrent worker stored."""
        calls = ModelCall.objects.filter(judge=self._judge, pair=pair).exclude(purpose=Purpose.CANARY)
        return calls.order_by("-pk").first()


def used(*ledgers: QuerySet[Any]) -> tuple[float, int]:
    """Return the dollars and calls in ledgers, which contain calls that a killed worker did not add to its totals."""
    totals = [rows.aggregate(calls=Count("pk"), usd=Sum("cost_usd")) for rows in ledgers]
    return sum(of["usd"] or 0.0 for of in totals), sum(of["calls"] for of in totals)


def keys_of(asker: ModelJudge, endpoint: Endpoint, context: Context) -> list[str]:
    """Return the keys of answers about a context: those of the question and of its repetitions."""
    keys: list[str] = []
    for question in asker.questions(context):
        repeated = [again(question, Outcome(name)) for name in ("truncated", "unparseable")]
        keys += [key_of(endpoint, one) for one in (question, *repeated) if one is not None]
    return keys


def known_replies(rows: QuerySet[Any], keys: Iterable[str]) -> dict[str, Reply]:
    """Return the answers in a ledger to questions with these keys."""
    return {row.key: reply_of(row) for row in rows_among(rows.exclude(outcome="transport_error"), "key", keys)}


def store_once(rows: Sequence[Any]) -> None:
    """Store new rows of a ledger in one commit."""
    if not rows:
        return
    table = type(rows[0]).objects
    try:
        with transaction.atomic():
            table.bulk_create(rows)
    except IntegrityError:
        # When a lease expires, two workers can run at once. Rows that the other worker stored stay unchanged.
        table.bulk_create(rows, ignore_conflicts=True)


def _one_by_one(calls: list[ModelCall]) -> None:
    """Store each new call; existing calls get no key."""
    for row in calls:
        row.pk = None
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:
            row.pk = None


def call_fields(call: Answered, model: str) -> dict[str, Any]:
    """Return the fields of a `ProviderCall`."""
    question, outcome, reply = call.question, call.outcome, call.reply
    return {
        "key": question.key,
        "prompt_sha256": prompt_sha256(question),
        "requested_model": model,
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
    """Return the ratio of counted to estimated tokens in the last calls of this model."""
    ratio = Ratio()
    rows = ModelCall.objects.filter(judge__provider=judge.provider, requested_model=judge.model, tokens_in__gt=0)
    for parameters, counted in rows.order_by("-pk").values_list("parameters", "tokens_in")[:LATEST]:
        if estimated := parameters.get("tokens_estimated"):
            ratio.add(estimated=estimated, counted=counted)
    return ratio


def reply_of(row: ProviderCall) -> Reply:
    """Return the stored answer as a reply, to parse it again."""
    stop, probabilities = row.parameters.get("stop", "done"), getattr(row, "probabilities", None)
    return Reply(
        row.raw, stop, row.tokens_in, row.tokens_out, row.cost_usd, row.model_answered, row.seconds, probabilities
    )
