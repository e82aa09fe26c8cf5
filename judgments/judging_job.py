"""How does a job ask a model thousands of questions, so that no answer is lost and none is paid for twice?

Workers ask; the job's own thread reads and writes the database. A worker goes on when its answer is committed, so that
a process that is killed at any moment repeats the questions in flight and no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Sum

from judgments import jobs, judging, model_judges, providers_kept
from judgments.audit_slice import drawn
from judgments.core.errors import AssayError, NotFound
from judgments.desk import Desk
from judgments.judges.answers import Reply
from judgments.judges.asking import Answered, Asking, Verdict, key_of, prompt_sha256
from judgments.judges.canaries import plant
from judgments.judges.contract import Context, Outcome
from judgments.judges.graded import Graded
from judgments.judges.model_judge import again
from judgments.judging_estimate import context_of, waiting
from judgments.models import JudgeRun, MachineJudgment, ModelCall, Pair
from judgments.providers.calls import Ended
from judgments.providers.limits import Budget
from judgments.providers.protocol import Endpoint

# So many pairs are held at a time: prompts and texts of a large round would fill the memory.
AT_ONCE = 1_000
STATES = {
    "done": JudgeRun.State.DONE,
    "stopped": JudgeRun.State.PAUSED,
    "budget": JudgeRun.State.BUDGET,
    "refused": JudgeRun.State.REFUSED,
    "down": JudgeRun.State.DOWN,
}
# Ends after which somebody has to do something: the job says so.
FAILED = (JudgeRun.State.REFUSED, JudgeRun.State.DOWN)
Purpose = ModelCall.Purpose


def work_on(work: jobs.Work) -> dict[str, Any]:
    """The job: ask what has no answer, keep each answer, and say how it ended."""
    rows = JudgeRun.objects.select_related("judge__provider", "round__scale", "round__collection")
    run = rows.filter(uuid=work.job.parameters["run"]).first()
    if run is None:
        raise NotFound("This run of a judge is no more.")
    JudgeRun.objects.filter(pk=run.pk).update(state=JudgeRun.State.RUNNING)
    try:
        ended = _Sitting(work, run).whole()
    except jobs.Lost:
        raise  # another worker has the run by now
    except jobs.Cancelled:
        judging.ended(run, JudgeRun.State.STOPPED, "Its job was cancelled. What was answered is kept.")
        raise
    except AssayError as fault:
        judging.ended(run, JudgeRun.State.STOPPED, str(fault))
        raise
    state = STATES[ended.end]
    judging.ended(run, state, ended.said)
    if state in FAILED:
        raise AssayError(f"{ended.said}. What was answered is kept; go on from the judge's page.")
    return {"end": ended.end, "said": ended.said, "answered": ended.answered}


class _Sitting:
    """One attempt at a run."""

    def __init__(self, work: jobs.Work, run: JudgeRun) -> None:
        self.work, self.run, self.judge = work, run, run.judge
        self.provider = model_judges.check_provider(run.judge)
        self.graded: Graded = model_judges.graded_of(run.judge.told)
        self.endpoint: Endpoint = providers_kept.endpoint(self.provider, run.judge.model)
        self.values = run.round.scale.values()
        # The ledger is the truth: what a killed sitting did not add up is in it all the same.
        told = ModelCall.objects.filter(run=run).aggregate(calls=Count("pk"), usd=Sum("cost_usd"))
        self.spent, self.calls = told["usd"] or 0.0, told["calls"]
        self.budget = Budget(run.cap_usd, run.cap_calls, self.spent, self.calls)
        self.last: dict[int, ModelCall] = {}
        self.paused, self.done = False, 0
        self.taken_away: jobs.Cancelled | jobs.Lost | None = None

    def whole(self) -> Ended:
        ready, _, _ = waiting(self.run.round, self.judge)
        self.total = ready.count()
        ended = Ended("done", "", 0, 0)
        with closing(providers_kept.client(self.provider)) as self.client:
            # A pair without an answer, because the provider did not give one, is not asked again in this sitting.
            for pairs in _portions(list(ready.values_list("pk", flat=True))):
                one = self._asked(pairs, [context_of(pair) for pair in pairs], Purpose.PAIR, [""] * len(pairs))
                ended = replace(one, answered=ended.answered + one.answered, attempts=ended.attempts + one.attempts)
                if ended.end != "done":
                    return ended
            return self._canaries() if self.run.canaries else ended

    def _canaries(self) -> Ended:
        """Plant traps into documents that the judge gave its lowest grade, and ask about those."""
        lowest = MachineJudgment.objects.filter(judge=self.judge, pair__round=self.run.round, grade=self.values[0])
        rows = list(lowest.values_list("pair", "pair__query__query_id", "pair__document__doc_id"))
        rows.sort(key=lambda row: drawn(self.run.seed, row[1], row[2]))
        chosen = [pk for pk, _, _ in rows[: self.run.canaries]]
        pairs = list(Pair.objects.filter(pk__in=chosen).select_related("query", "document").order_by("position"))
        planted = plant([context_of(pair) for pair in pairs], self.values[-1], seed=self.run.seed)
        return self._asked(
            [pairs[one.place] for one in planted],
            [one.context for one in planted],
            Purpose.CANARY,
            [one.trap for one in planted],
        )

    def _asked(self, pairs: Sequence[Pair], contexts: Sequence[Context], purpose: str, traps: Sequence[str]) -> Ended:
        owners = self._owners(pairs, contexts, purpose, traps)
        asking = Asking(self.graded, self.endpoint, contexts, self._known(owners))
        desk = Desk(self._beat)

        def answered(call: Answered) -> None:
            desk.here(lambda: self._write(call, *owners[call.question.key]))

        def told(verdict: Verdict) -> None:
            if purpose == Purpose.PAIR:
                desk.here(lambda: self._judged(pairs[verdict.place], verdict.outcome))

        ended = desk.during(
            lambda: asking.run(
                told,
                answered=answered,
                limits=providers_kept.limits(self.provider),
                budget=self.budget,
                stop=lambda: self.paused,
                client=self.client,
            )
        )
        self.add_up()
        if self.taken_away is not None:
            raise self.taken_away
        return ended

    def _owners(
        self, pairs: Sequence[Pair], contexts: Sequence[Context], purpose: str, traps: Sequence[str]
    ) -> dict[str, tuple[Pair, str, str]]:
        """Whose each key is that can come up: the question's, and those of its two repetitions."""
        found: dict[str, tuple[Pair, str, str]] = {}
        for pair, context, trap in zip(pairs, contexts, traps, strict=True):
            for question in self.graded.questions(context):
                repeated = [again(question, Outcome(name)) for name in ("truncated", "unparseable")]
                found.setdefault(key_of(self.endpoint, question), (pair, purpose, trap))
                for one in repeated:
                    if one is not None:
                        once_more = Purpose.REPAIR if purpose == Purpose.PAIR else purpose
                        found.setdefault(key_of(self.endpoint, one), (pair, once_more, trap))
        return found

    def _known(self, owners: Mapping[str, Any]) -> dict[str, Reply]:
        """What this judge answered before, in whichever round."""
        keys, found = list(owners), {}
        for begin in range(0, len(keys), 500):
            rows = ModelCall.objects.filter(judge=self.judge, key__in=keys[begin : begin + 500])
            found |= {row.key: _reply(row) for row in rows.exclude(outcome="transport_error")}
        return found

    def _write(self, call: Answered, pair: Pair, purpose: str, trap: str) -> None:
        """Into the ledger, before anybody goes on."""
        outcome, reply = call.outcome.on_scale(self.values), call.reply
        row = ModelCall(
            run=self.run,
            judge=self.judge,
            pair=pair,
            purpose=purpose,
            trap=trap,
            key=call.question.key,
            prompt_sha256=prompt_sha256(call.question),
            model_asked=self.endpoint.model,
            model_answered=reply.model[:200],
            parameters={
                "temperature": call.question.temperature,
                "seed": call.question.seed,
                "most_tokens": call.question.most_tokens,
                "stop": reply.stop,
            },
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost_usd=reply.cost_usd,
            seconds=reply.seconds,
            outcome=outcome.name,
            grade=outcome.grade,
            probabilities=outcome.probabilities,
            rationale=_kept(outcome.rationale),
            raw=_kept(outcome.raw),
        )
        try:
            with transaction.atomic():
                row.save()
            self.last[pair.pk] = row
        except IntegrityError:
            pass  # two sittings at once are possible while a lease runs out: the other one wrote it down
        self.spent, self.calls = self.spent + (reply.cost_usd or 0.0), self.calls + 1

    def _judged(self, pair: Pair, outcome: Outcome) -> None:
        """The judge's word on the pair; a pair that got no answer goes on waiting for one."""
        self.done += 1
        if outcome.name == "transport_error":
            return
        found = outcome.on_scale(self.values)
        call = self.last.pop(pair.pk, None)
        if call is None:
            calls = ModelCall.objects.filter(judge=self.judge, pair=pair).exclude(purpose=Purpose.CANARY)
            call = calls.order_by("-pk").first()
        row = MachineJudgment(
            judge=self.judge,
            pair=pair,
            outcome=found.name,
            grade=found.grade,
            probabilities=found.probabilities,
            rationale=_kept(found.rationale),
            raw=_kept(found.raw),
            call=call,
            document_sha256=pair.document.content_sha256,
        )
        MachineJudgment.objects.bulk_create([row], ignore_conflicts=True)

    def _beat(self) -> None:
        """Every second or so: how far it is, whether the job is still ours, and whether anybody wants it to stop.

        A job that is cancelled or lost asks no more, and still writes down what is on its way: it was paid for.
        """
        self.add_up()
        try:
            self.work.progress(self.done, self.total)
            self.paused = JudgeRun.objects.filter(pk=self.run.pk, pause_asked=True).exists()
        except (jobs.Cancelled, jobs.Lost) as taken:
            self.taken_away, self.paused = taken, True

    def add_up(self) -> None:
        """What was used so far, for those who look."""
        JudgeRun.objects.filter(pk=self.run.pk).update(spent_usd=self.spent, calls=self.calls)


def _portions(keys: Sequence[int]) -> Iterator[list[Pair]]:
    for begin in range(0, len(keys), AT_ONCE):
        rows = Pair.objects.filter(pk__in=keys[begin : begin + AT_ONCE])
        yield list(rows.select_related("query", "document").order_by("position"))


def _reply(row: ModelCall) -> Reply:
    """The answer as it came, to be read again."""
    stop = row.parameters.get("stop", "done")
    return Reply(
        row.raw, stop, row.tokens_in, row.tokens_out, row.cost_usd, row.model_answered, row.seconds, row.probabilities
    )


def _kept(text: str) -> str:
    """As a text column can hold it: PostgreSQL knows no NUL."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
