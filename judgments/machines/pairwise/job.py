"""Job that runs thousands of pairwise comparisons without losing an answer or paying for one twice.

Each model answers every comparison; if one model refuses or is down, the others continue.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from assay.llm.judges.bulk_judging import Answered, Asking, Verdict
from assay.llm.providers.question_run import End, Ended
from judgments.jobs import jobs
from judgments.machines import machine_runs
from judgments.machines.judge_runs.attempts import Attempt
from judgments.machines.judge_runs.call_log import used
from judgments.machines.pairwise import call_log, injection_probe, pair_selection
from judgments.machines.pairwise.call_log import BattleLog, Meeting, Table
from judgments.machines.pairwise.pair_selection import contexts_of
from judgments.machines.providers import accounts
from judgments.models import Battle, BattleCanary, BattleRun, Provider
from judgments.web import access

# The number of comparisons in memory at once, each with two texts.
AT_ONCE = 1_000
TABLES = (Battle, BattleCanary)


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run the job: send the unanswered comparisons, store each answer, and return how it ended."""
    rows = BattleRun.objects.select_related("round__collection")
    run = access.existing(rows.filter(uuid=work.job.parameters["run"]), "These comparisons were deleted.")
    with machine_runs.attempt(run):
        sitting = _Sitting(work, run)
        ended = sitting.run_all()
        sitting.attempt.raise_interruption()
    machine_runs.close(run, ended, page="the page of these comparisons")
    return {"end": ended.end, "said": ended.message}


class _Member:
    """One model of the run, with its client."""

    def __init__(self, provider: Provider, model: str, open_: ExitStack) -> None:
        self.provider, self.endpoint = provider, accounts.endpoint(provider, model)
        self.client = open_.enter_context(accounts.client(self.provider))


class _Sitting:
    """One attempt at a run."""

    def __init__(self, work: jobs.Work, run: BattleRun) -> None:
        self.run = run
        self.asker = pair_selection.judge_of_record(run.inputs)
        # Answers copied from other runs are not calls.
        self.attempt = Attempt(work, run, used(*(table.objects.filter(run=run, reused=False) for table in TABLES)))
        self.attempt.total = run.battles * len(run.ensemble)
        # The models that stopped early, with the error.
        self.failed: list[tuple[_Member, Ended]] = []

    def run_all(self) -> Ended:
        """Send the rest to all models; return how the run ended."""
        with ExitStack() as open_:
            self.members = [_Member(*member, open_) for member in pair_selection.members_of(self.run)]
            for begin in range(0, len(self.run.drawn), AT_ONCE):
                drawn = self.run.drawn[begin : begin + AT_ONCE]
                ready = [Meeting(row, context) for row, context in contexts_of(drawn)]
                for member in list(self.members):
                    if (ended := self._over(member, self._ask(member, ready, Battle))) is not None:
                        return ended
            for member in list(self.members) if self.run.canaries else []:
                planted = injection_probe.plan_probes(self.run, self.asker, member.endpoint)
                if (ended := self._over(member, self._ask(member, planted, BattleCanary))) is not None:
                    return ended
        return self._outcome()

    def _over(self, member: _Member, ended: Ended) -> Ended | None:
        """Return the outcome that ends the run for all models; None if only this model refused or is down."""
        if ended.end in ("refused", "down"):
            self.failed.append((member, ended))
            self.members.remove(member)
            return None
        return ended if ended.end != "done" else None

    def _outcome(self) -> Ended:
        if not self.failed:
            return Ended("done", "", 0, 0)
        faults = (f"{member.provider}, {member.endpoint.model}: {ended.message}" for member, ended in self.failed)
        message = "; ".join(faults)
        # A refusal needs a person, even if other models are only down.
        end: End = "refused" if any(ended.end == "refused" for _, ended in self.failed) else "down"
        return Ended(end, message, 0, 0, max(ended.leave_alone for _, ended in self.failed))

    def _ask(self, member: _Member, meetings: Sequence[Meeting], table: Table) -> Ended:
        log = BattleLog(self.run, table, call_log.owners_of(self.asker, member.endpoint, meetings))
        asking = Asking(self.asker, member.endpoint, [one.context for one in meetings], log.known())

        def answered(call: Answered) -> None:
            log.answer(call, member.endpoint.model)

        def count_verdict(verdict: Verdict) -> None:
            self.attempt.done += table is Battle

        return self.attempt.send(
            asking, count_verdict, answered, log.commit_after, provider=member.provider, client=member.client
        )
