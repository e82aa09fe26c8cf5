"""Job that makes thousands of model calls without losing an answer or paying for one twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from assay.llm.judge import Context, Outcome
from assay.llm.judges.bulk_judging import Answered, Asking, Verdict, key_of
from assay.llm.judges.injection_probe import plant
from assay.llm.judges.model_judge import ModelJudge, again
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import Ended
from judgments.jobs import jobs
from judgments.machines import kinds, machine_runs
from judgments.machines.calibration.audit_sample import drawn
from judgments.machines.judge_runs import model_judges
from judgments.machines.judge_runs.attempts import Attempt
from judgments.machines.judge_runs.call_log import JudgeCallLog, known_replies, used
from judgments.machines.judge_runs.estimate import context_of, waiting
from judgments.machines.providers import accounts
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall, Pair
from judgments.web import access

# The number of pairs in memory at once: more would fill the memory, fewer would leave workers idle at the end.
AT_ONCE = 2_000
# The number of pairs of the next batch to read in one step, which limits how long an answer waits.
A_STEP = 50
Purpose = ModelCall.Purpose


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run the job: send the unanswered pairs, store each answer, and return how it ended."""
    rows = JudgeRun.objects.select_related("judge__provider", "round__scale", "round__collection")
    run = access.existing(rows.filter(uuid=work.job.parameters["run"]), "This run of a judge was deleted.")
    with machine_runs.attempt(run):
        sitting = _Sitting(work, run)
        ended = sitting.whole()
        sitting.attempt.raise_interruption()
    machine_runs.close(run, ended, page="the judge's page")
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
        self.run, self.judge = run, run.judge
        self.provider = model_judges.check_provider(run.judge)
        self.asker: ModelJudge = model_judges.model_judge_of(run.judge.inputs)
        self.endpoint: Endpoint = model_judges.endpoint_of(run.judge, self.provider)
        self.values = run.round.scale.values()
        self.call_log = JudgeCallLog(run, self.values)
        self.attempt = Attempt(work, run, used(ModelCall.objects.filter(run=run)))

    def whole(self) -> Ended:
        ready = waiting(self.run.round, self.judge).ready
        self.attempt.total = ready.count()
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
        # Stored answers are those of this judge in any round, and of judges whose answers are equivalent.
        known = known_replies(ModelCall.objects.filter(judge__in=_lenders(self.judge)), owners)
        asking = Asking(self.asker, self.endpoint, portion.contexts, known)

        def answered(call: Answered) -> None:
            self.call_log.call(call, self.endpoint.model, *owners[call.question.key])

        def store_verdict(verdict: Verdict) -> None:
            if portion.purpose == Purpose.PAIR:
                self.attempt.done += 1
                self.call_log.judgment(pairs[verdict.place], verdict.outcome)

        return self.attempt.send(
            asking,
            store_verdict,
            answered,
            self.call_log.commit_after,
            provider=self.provider,
            client=self.client,
            meanwhile=meanwhile,
        )

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


def _lenders(judge: Judge) -> list[int]:
    """Return the judges whose stored answers can be reused: another text metric over the same answers needs no new
    calls."""
    if kinds.says_grades(judge.kind):
        return [judge.pk]
    return list(Judge.objects.filter(collection=judge.collection_id, kind=judge.kind).values_list("pk", flat=True))
