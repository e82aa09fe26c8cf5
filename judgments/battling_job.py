"""Job that runs thousands of pairwise comparisons without losing an answer or paying for one twice.

It works like the job for judges of single documents (`judging_job`): workers call the models, the job's own thread
writes, and a worker goes on when its answer is committed. Each model of the ensemble answers every comparison; when
one model refuses or is down, the others continue.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from judgments import battle_canaries, battle_draws, battles_kept, jobs, machine_runs, providers_kept
from judgments.battle_draws import contexts_of
from judgments.battles_kept import BattlesKept, Meeting, Table
from judgments.core.errors import NotFound
from judgments.desk import Desk
from judgments.judges.asking import Answered, Asking, Verdict
from judgments.models import Battle, BattleCanary, BattleRun
from judgments.providers.calls import Ended
from judgments.providers.limits import Budget

# So many battles are held at a time, each with two texts.
AT_ONCE = 1_000


def work_on(work: jobs.Work) -> dict[str, Any]:
    """The job: ask what has no answer, keep each answer, and say how it ended."""
    rows = BattleRun.objects.select_related("round__collection")
    run = rows.filter(uuid=work.job.parameters["run"]).first()
    if run is None:
        raise NotFound("These battles are no more.")
    with machine_runs.at_work(run):
        end, said, leave_alone = _Sitting(work, run).whole()
    machine_runs.close(run, end, said, leave_alone=leave_alone, page="the page of the battles")
    return {"end": end, "said": said}


class _Member:
    """One model of the ensemble, ready to be asked."""

    def __init__(self, run: BattleRun, told: dict[str, str], open_: ExitStack) -> None:
        self.provider = battle_draws.provider_of(run.round, told)
        self.endpoint = providers_kept.endpoint(self.provider, told["model"])
        self.client = open_.enter_context(providers_kept.client(self.provider))
        self.limits = providers_kept.limits(self.provider)


class _Sitting:
    """One attempt at a run."""

    def __init__(self, work: jobs.Work, run: BattleRun) -> None:
        self.work, self.run = work, run
        self.asker = battle_draws.asker_of(run.told)
        self.spent, self.calls = battles_kept.spent(run)
        self.budget = Budget(run.cap_usd, run.cap_calls, self.spent, self.calls)
        self.total, self.done = run.battles * len(run.ensemble), 0
        self.paused = False
        self.taken_away: jobs.Cancelled | jobs.Lost | None = None
        # How each model that could not be asked to the end failed.
        self.failed: list[tuple[_Member, Ended]] = []

    def whole(self) -> tuple[str, str, float]:
        """All that is left to ask of all models; how it ended, why in words, and how long to leave a provider alone."""
        with ExitStack() as open_:
            self.members = [_Member(self.run, told, open_) for told in self.run.ensemble]
            for begin in range(0, len(self.run.drawn), AT_ONCE):
                drawn = self.run.drawn[begin : begin + AT_ONCE]
                ready = [Meeting(row, context) for row, context in contexts_of(drawn)]
                for member in list(self.members):
                    if (ended := self._over(member, self._asked(member, ready, Battle))) is not None:
                        return ended.end, ended.said, 0.0
            for member in list(self.members) if self.run.canaries else []:
                planted = battle_canaries.planted(self.run, self.asker, member.endpoint)
                if (ended := self._over(member, self._asked(member, planted, BattleCanary))) is not None:
                    return ended.end, ended.said, 0.0
        return self._how()

    def _over(self, member: _Member, ended: Ended) -> Ended | None:
        """What ends the run for all; a model that is refused or down leaves the others to go on."""
        if ended.end in ("refused", "down"):
            self.failed.append((member, ended))
            self.members.remove(member)
            return None
        return ended if ended.end != "done" else None

    def _how(self) -> tuple[str, str, float]:
        if not self.failed:
            return "done", "", 0.0
        said = "; ".join(f"{member.provider}, {member.endpoint.model}: {ended.said}" for member, ended in self.failed)
        # Who is refused needs a person, whoever else is only down.
        end = "refused" if any(ended.end == "refused" for _, ended in self.failed) else "down"
        return end, said, max(ended.leave_alone for _, ended in self.failed)

    def _asked(self, member: _Member, meetings: Sequence[Meeting], table: Table) -> Ended:
        kept = BattlesKept(self.run, table, battles_kept.owners_of(self.asker, member.endpoint, meetings))
        asking = Asking(self.asker, member.endpoint, [one.context for one in meetings], kept.known())
        desk = Desk(self._beat)

        def answered(call: Answered) -> None:
            kept.answer(call, member.endpoint.model)
            self.spent, self.calls = self.spent + (call.reply.cost_usd or 0.0), self.calls + 1

        def told(verdict: Verdict) -> None:
            self.done += table is Battle

        ended = desk.during(
            lambda: asking.run(
                told,
                answered=answered,
                limits=member.limits,
                budget=self.budget,
                stop=lambda: self.paused,
                client=member.client,
                together=lambda work: desk.here(lambda: kept.together(work)),
            )
        )
        self.add_up()
        if self.taken_away is not None:
            raise self.taken_away
        return ended

    def _beat(self) -> None:
        """Every second or so: how far it is, whether the job is still ours, and whether anybody wants it to stop."""
        self.add_up()
        try:
            self.work.progress(min(self.done, self.total), self.total)
            self.paused = BattleRun.objects.filter(pk=self.run.pk, pause_asked=True).exists()
        except (jobs.Cancelled, jobs.Lost) as taken:
            self.taken_away, self.paused = taken, True

    def add_up(self) -> None:
        """What was used so far, for those who look."""
        BattleRun.objects.filter(pk=self.run.pk).update(spent_usd=self.spent, calls=self.calls)
