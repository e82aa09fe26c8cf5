"""Job that asks a model thousands of questions without losing an answer or paying for one twice.

Workers call the model; the job's own thread reads and writes the database, with one commit for all answers that came
meanwhile. A worker goes on when its answer is committed, so a process that is killed at any moment repeats only the
questions in flight.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from judgments import jobs, judge_kinds, machine_runs, model_judges, providers_kept
from judgments.answers_kept import AnswersKept, reply_of
from judgments.audit_slice import drawn
from judgments.core.errors import NotFound
from judgments.desk import Desk
from judgments.judges.answers import Reply
from judgments.judges.asking import Answered, Asking, Verdict, key_of
from judgments.judges.canaries import plant
from judgments.judges.contract import Context, Outcome
from judgments.judges.model_judge import ModelJudge, again
from judgments.judging_estimate import context_of, waiting
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall, Pair
from judgments.providers.calls import Ended
from judgments.providers.limits import Budget
from judgments.providers.protocol import Endpoint

# So many pairs are held at a time: texts of a large round would fill the memory, and the last of a few leave many idle.
AT_ONCE = 2_000
# So many of the next ones are read in a step while these are asked: an answer waits no longer than that.
A_STEP = 50
# So many keys are looked up by one question: fewer than SQLite takes.
KEYS = 5_000
Purpose = ModelCall.Purpose


def work_on(work: jobs.Work) -> dict[str, Any]:
    """The job: ask what has no answer, keep each answer, and say how it ended."""
    rows = JudgeRun.objects.select_related("judge__provider", "round__scale", "round__collection")
    run = rows.filter(uuid=work.job.parameters["run"]).first()
    if run is None:
        raise NotFound("This run of a judge is no more.")
    with machine_runs.at_work(run):
        ended = _Sitting(work, run).whole()
    machine_runs.close(run, ended.end, ended.said, leave_alone=ended.leave_alone, page="the judge's page")
    return {"end": ended.end, "said": ended.said, "answered": ended.answered}


@dataclass
class _Portion:
    """Pairs that are asked about together, and whose each key is."""

    purpose: str
    pairs: list[Pair] = field(default_factory=list)
    contexts: list[Context] = field(default_factory=list)
    owners: dict[str, tuple[Pair, str, str]] = field(default_factory=dict)


class _Sitting:
    """One attempt at a run."""

    def __init__(self, work: jobs.Work, run: JudgeRun) -> None:
        self.work, self.run, self.judge = work, run, run.judge
        self.provider = model_judges.check_provider(run.judge)
        self.asker: ModelJudge = model_judges.asker_of(run.judge.told)
        self.endpoint: Endpoint = model_judges.endpoint_of(run.judge, self.provider)
        self.values = run.round.scale.values()
        self.kept = AnswersKept(run, self.values)
        self.budget = Budget(run.cap_usd, run.cap_calls, self.kept.spent, self.kept.calls)
        self.paused, self.done = False, 0
        self.taken_away: jobs.Cancelled | jobs.Lost | None = None

    def whole(self) -> Ended:
        ready = waiting(self.run.round, self.judge).ready
        self.total = ready.count()
        ended = Ended("done", "", 0, 0)
        with closing(providers_kept.client(self.provider)) as self.client:
            # A pair without an answer, because the provider did not give one, is not asked again in this sitting.
            keys = list(ready.values_list("pk", flat=True))
            parts = [keys[begin : begin + AT_ONCE] for begin in range(0, len(keys), AT_ONCE)]
            portions = [_Portion(Purpose.PAIR) for _ in parts]
            reading = [self._read(portion, part) for portion, part in zip(portions, parts, strict=True)]
            while portions:
                deque(reading.pop(0), maxlen=0)  # the rest of it
                one = self._asked(portions.pop(0), reading[0] if reading else None)
                ended = replace(one, answered=ended.answered + one.answered, attempts=ended.attempts + one.attempts)
                if ended.end != "done":
                    return ended
            return self._canaries() if self.run.canaries else ended

    def _read(self, portion: _Portion, keys: Sequence[int]) -> Iterator[None]:
        """Read the pairs of a portion, a few in a step: while the one before it is asked."""
        for begin in range(0, len(keys), A_STEP):
            rows = Pair.objects.filter(pk__in=keys[begin : begin + A_STEP])
            for pair in rows.select_related("query", "document").order_by("position"):
                self._add(portion, pair, context_of(pair, self.judge))
            yield

    def _canaries(self) -> Ended:
        """Plant traps into documents that the judge gave its lowest grade, and ask about those."""
        lowest = MachineJudgment.objects.filter(judge=self.judge, pair__round=self.run.round, grade=self.values[0])
        rows = list(lowest.values_list("pair", "pair__query__query_id", "pair__document__doc_id"))
        rows.sort(key=lambda row: drawn(self.run.seed, row[1], row[2]))
        chosen = [pk for pk, _, _ in rows[: self.run.canaries]]
        pairs = list(Pair.objects.filter(pk__in=chosen).select_related("query", "document").order_by("position"))
        planted = plant([context_of(pair, self.judge) for pair in pairs], self.values[-1], seed=self.run.seed)
        portion = _Portion(Purpose.CANARY)
        for one in planted:
            self._add(portion, pairs[one.place], one.context, one.trap)
        return self._asked(portion)

    def _asked(self, portion: _Portion, meanwhile: Iterator[None] | None = None) -> Ended:
        pairs, owners = portion.pairs, portion.owners
        # Known is, too, what the portion before this one was answered: so it is looked up now and not while reading.
        asking = Asking(self.asker, self.endpoint, portion.contexts, self._known(owners))
        desk = Desk(self._beat)

        def answered(call: Answered) -> None:
            self.kept.call(call, self.endpoint.model, *owners[call.question.key])

        def told(verdict: Verdict) -> None:
            if portion.purpose == Purpose.PAIR:
                self.done += 1
                self.kept.judgment(pairs[verdict.place], verdict.outcome)

        ended = desk.during(
            lambda: asking.run(
                told,
                answered=answered,
                limits=providers_kept.limits(self.provider),
                budget=self.budget,
                stop=lambda: self.paused,
                client=self.client,
                together=lambda work: desk.here(lambda: self.kept.together(work)),
            ),
            meanwhile,
        )
        self.add_up()
        if self.taken_away is not None:
            raise self.taken_away
        return ended

    def _add(self, portion: _Portion, pair: Pair, context: Context, trap: str = "") -> None:
        """Put a pair into a portion, with the keys that can come up: the question's, and those of its repetitions."""
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
        """What this judge answered before, in whichever round, and what others did whose answers count as its own."""
        keys, lenders = list(owners), _lenders(self.judge)
        found: dict[str, Reply] = {}
        for begin in range(0, len(keys), KEYS):
            rows = ModelCall.objects.filter(judge__in=lenders, key__among=keys[begin : begin + KEYS])
            found |= {row.key: reply_of(row) for row in rows.exclude(outcome="transport_error")}
        return found

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
        JudgeRun.objects.filter(pk=self.run.pk).update(spent_usd=self.kept.spent, calls=self.kept.calls)


def _lenders(judge: Judge) -> list[int]:
    """Whose answers count as its own: another text metric over the same answers of the same system asks nothing anew.

    Not so for grades: which models gave them is counted judge by judge.
    """
    if judge_kinds.says_grades(judge.kind):
        return [judge.pk]
    return list(Judge.objects.filter(collection=judge.collection_id, kind=judge.kind).values_list("pk", flat=True))
