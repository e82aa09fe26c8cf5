"""Job that makes thousands of model calls without losing an answer or paying for one twice.

Workers call the model; the job's own thread reads and writes the database, with one commit for all answers received
since the last one. A worker continues when its answer is committed, so a killed process repeats only the calls in
progress.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from assay.llm.judge import Context, Outcome
from assay.llm.judges.bulk_judging import Answered, Asking, Verdict, key_of
from assay.llm.judges.injection_probe import plant
from assay.llm.judges.model_judge import ModelJudge, again
from assay.llm.model_reply import Reply
from assay.llm.providers.limits import Budget
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import Ended
from judgments.jobs import jobs
from judgments.machines import kinds, machine_runs
from judgments.machines.calibration.audit_sample import drawn
from judgments.machines.judge_runs import model_judges
from judgments.machines.judge_runs.call_log import JudgeCallLog, reply_of
from judgments.machines.judge_runs.estimate import context_of, waiting
from judgments.machines.owner_thread import MainThreadExecutor
from judgments.machines.providers import accounts
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall, Pair
from judgments.web import access

# The number of pairs in memory at once: more would fill the memory, fewer would leave workers idle at the end.
AT_ONCE = 2_000
# The number of pairs of the next batch to read in one step, which limits how long an answer waits.
A_STEP = 50
# The number of keys per query, below the limit of SQLite.
KEYS = 5_000
Purpose = ModelCall.Purpose


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run the job: send the unanswered pairs, store each answer, and return how it ended."""
    rows = JudgeRun.objects.select_related("judge__provider", "round__scale", "round__collection")
    run = access.existing(rows.filter(uuid=work.job.parameters["run"]), "This run of a judge was deleted.")
    with machine_runs.attempt(run):
        ended = _Sitting(work, run).whole()
    machine_runs.close(run, ended.end, ended.message, leave_alone=ended.leave_alone, page="the judge's page")
    return {"end": ended.end, "said": ended.message, "answered": ended.answered}


@dataclass
class _Portion:
    """A batch of pairs, with the pairs of each key."""

    purpose: str
    pairs: list[Pair] = field(default_factory=list)
    contexts: list[Context] = field(default_factory=list)
    owners: dict[str, tuple[Pair, str, str]] = field(default_factory=dict)


class _Sitting:
    """One attempt at a run."""

    def __init__(self, work: jobs.Work, run: JudgeRun) -> None:
        self.work, self.run, self.judge = work, run, run.judge
        self.provider = model_judges.check_provider(run.judge)
        self.asker: ModelJudge = model_judges.model_judge_of(run.judge.inputs)
        self.endpoint: Endpoint = model_judges.endpoint_of(run.judge, self.provider)
        self.values = run.round.scale.values()
        self.call_log = JudgeCallLog(run, self.values)
        self.budget = Budget(run.cap_usd, run.cap_calls, self.call_log.spent, self.call_log.calls)
        self.paused, self.done = False, 0
        self.taken_away: jobs.Cancelled | jobs.Lost | None = None

    def whole(self) -> Ended:
        ready = waiting(self.run.round, self.judge).ready
        self.total = ready.count()
        ended = Ended("done", "", 0, 0)
        with closing(accounts.client(self.provider)) as self.client:
            # A pair whose call failed is not sent again in this attempt.
            keys = list(ready.values_list("pk", flat=True))
            parts = [keys[begin : begin + AT_ONCE] for begin in range(0, len(keys), AT_ONCE)]
            portions = [_Portion(Purpose.PAIR) for _ in parts]
            reading = [self._read(portion, part) for portion, part in zip(portions, parts, strict=True)]
            while portions:
                deque(reading.pop(0), maxlen=0)  # read the rest of the batch
                one = self._ask(portions.pop(0), reading[0] if reading else None)
                ended = replace(one, answered=ended.answered + one.answered, attempts=ended.attempts + one.attempts)
                if ended.end != "done":
                    return ended
            return self._canaries() if self.run.canaries else ended

    def _read(self, portion: _Portion, keys: Sequence[int]) -> Iterator[None]:
        """Read the pairs of a batch in small steps while the previous batch is being processed."""
        for begin in range(0, len(keys), A_STEP):
            rows = Pair.objects.filter(pk__in=keys[begin : begin + A_STEP])
            for pair in rows.select_related("query", "document").order_by("position"):
                self._add(portion, pair, context_of(pair, self.judge))
            yield

    def _canaries(self) -> Ended:
        """Send documents with the judge's lowest grade again, with a probe inserted."""
        lowest = MachineJudgment.objects.filter(judge=self.judge, pair__round=self.run.round, grade=self.values[0])
        rows = list(lowest.values_list("pair", "pair__query__query_id", "pair__document__doc_id"))
        rows.sort(key=lambda row: drawn(self.run.seed, row[1], row[2]))
        chosen = [pk for pk, _, _ in rows[: self.run.canaries]]
        pairs = list(Pair.objects.filter(pk__in=chosen).select_related("query", "document").order_by("position"))
        planted = plant([context_of(pair, self.judge) for pair in pairs], self.values[-1], seed=self.run.seed)
        portion = _Portion(Purpose.CANARY)
        for one in planted:
            self._add(portion, pairs[one.place], one.context, one.trap)
        return self._ask(portion)

    def _ask(self, portion: _Portion, meanwhile: Iterator[None] | None = None) -> Ended:
        pairs, owners = portion.pairs, portion.owners
        # Look up known answers now and not while reading, to include those of the previous batch.
        asking = Asking(self.asker, self.endpoint, portion.contexts, self._known(owners))
        desk = MainThreadExecutor(self._beat)

        def answered(call: Answered) -> None:
            self.call_log.call(call, self.endpoint.model, *owners[call.question.key])

        def store_verdict(verdict: Verdict) -> None:
            if portion.purpose == Purpose.PAIR:
                self.done += 1
                self.call_log.judgment(pairs[verdict.place], verdict.outcome)

        ended = desk.during(
            lambda: asking.run(
                store_verdict,
                answered=answered,
                limits=accounts.limits(self.provider),
                budget=self.budget,
                stop=lambda: self.paused,
                client=self.client,
                together=lambda work: desk.here(lambda: self.call_log.commit_after(work)),
            ),
            meanwhile,
        )
        self.add_up()
        if self.taken_away is not None:
            raise self.taken_away
        return ended

    def _add(self, portion: _Portion, pair: Pair, context: Context, trap: str = "") -> None:
        """Add a pair to a batch, with the keys of its question and of the repetitions."""
        portion.pairs.append(pair)
        portion.contexts.append(context)
        purpose = portion.purpose
        once_more = Purpose.REPAIR if purpose == Purpose.PAIR else purpose
        for question in self.asker.questions(context):
            repeated = [again(question, Outcome(name)) for name in ("truncated", "unparseable")]
            portion.owners.setdefault(key_of(self.endpoint, question), (pair, purpose, trap))
            for one in repeated:
                if one is not None:
                    portion.owners.setdefault(key_of(self.endpoint, one), (pair, once_more, trap))

    def _known(self, owners: Mapping[str, Any]) -> dict[str, Reply]:
        """Return stored answers of this judge in any round, and of judges whose answers are equivalent."""
        keys, lenders = list(owners), _lenders(self.judge)
        replies: dict[str, Reply] = {}
        for begin in range(0, len(keys), KEYS):
            rows = ModelCall.objects.filter(judge__in=lenders, key__among=keys[begin : begin + KEYS])
            replies |= {row.key: reply_of(row) for row in rows.exclude(outcome="transport_error")}
        return replies

    def _beat(self) -> None:
        """Report progress about every second, and stop if the job was canceled, lost or paused."""
        self.add_up()
        try:
            self.work.progress(self.done, self.total)
            self.paused = JudgeRun.objects.filter(pk=self.run.pk, pause_requested=True).exists()
        except (jobs.Cancelled, jobs.Lost) as taken:
            self.taken_away, self.paused = taken, True

    def add_up(self) -> None:
        """Store the dollars and calls used so far."""
        JudgeRun.objects.filter(pk=self.run.pk).update(spent_usd=self.call_log.spent, calls=self.call_log.calls)


def _lenders(judge: Judge) -> list[int]:
    """Return the judges whose stored answers can be reused: another text metric over the same answers needs no new
    calls."""
    if kinds.says_grades(judge.kind):
        return [judge.pk]
    return list(Judge.objects.filter(collection=judge.collection_id, kind=judge.kind).values_list("pk", flat=True))
