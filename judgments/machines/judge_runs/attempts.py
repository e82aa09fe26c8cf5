"""Model calls of one attempt at a machine run: within its caps, with its progress and usage stored every second.

Workers call the model; the job's own thread reads and writes the database. A worker continues when its answer is
committed, so a killed process repeats only the calls in progress.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from assay.llm.judges.bulk_judging import Answered, Asking, Verdict
from assay.llm.providers.limits import Budget
from assay.llm.providers.question_run import Ended
from judgments.jobs import jobs
from judgments.machines.owner_thread import MainThreadExecutor
from judgments.machines.providers import accounts
from judgments.models import MachineRun, Provider


class Attempt:
    """One attempt at a run, with the dollars and calls that all its attempts have used."""

    def __init__(self, work: jobs.Work, run: MachineRun, used: tuple[float, int]) -> None:
        self.spent, self.calls = used
        self.done = self.total = 0
        self._work, self._run = work, run
        self._budget = Budget(run.cap_usd, run.cap_calls, *used)
        self._paused = False
        self._interruption: jobs.Cancelled | jobs.Lost | None = None

    def send(
        self,
        asking: Asking,
        on_verdict: Callable[[Verdict], None],
        answered: Callable[[Answered], None],
        commit_after: Callable[[Callable[[], None]], None],
        *,
        provider: Provider,
        client: Any,
        meanwhile: Iterator[None] | None = None,
    ) -> Ended:
        """Send the unanswered questions; `commit_after` runs some work and commits the answers that it adds."""
        executor = MainThreadExecutor(self._beat)

        def charge(call: Answered) -> None:
            answered(call)
            self.spent, self.calls = self.spent + (call.reply.cost_usd or 0.0), self.calls + 1

        ended = executor.during(
            lambda: asking.run(
                on_verdict,
                answered=charge,
                limits=accounts.limits(provider),
                budget=self._budget,
                stop=lambda: self._paused,
                client=client,
                together=lambda work: executor.here(lambda: commit_after(work)),
            ),
            meanwhile,
        )
        self._store_usage()
        return ended

    def raise_interruption(self) -> None:
        """Raise the exception if the job was canceled or lost, after which nothing is sent."""
        if self._interruption is not None:
            raise self._interruption

    def _beat(self) -> None:
        """Report progress, and stop if the job was canceled, lost or paused."""
        self._store_usage()
        try:
            self._work.progress(min(self.done, self.total), self.total)
            self._paused = type(self._run).objects.filter(pk=self._run.pk, pause_requested=True).exists()
        except (jobs.Cancelled, jobs.Lost) as error:
            self._interruption, self._paused = error, True

    def _store_usage(self) -> None:
        type(self._run).objects.filter(pk=self._run.pk).update(spent_usd=self.spent, calls=self.calls)
