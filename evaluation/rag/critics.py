"""Critics of RAG systems: a provider's model scores the answers of a sample set, as a job within caps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from assay.core.errors import Conflict, NotFound, NotValid
from assay.llm.judges.bulk_judging import Answered, Asking, Verdict
from assay.llm.providers.question_run import Ended
from assay.rag.fields import output_of, sample_of
from assay.rag.metric import Metric
from assay.rag.metric_names import asking, parse_metrics
from assay.rag.provider_critic import ProviderCritic
from evaluation.models import RagCriticCall, RagCriticRun, RagOutput, RagSampleSet
from evaluation.rag import sample_sets, scorecards
from evaluation.rag.critic_ledger import LedgerCalls, critic_of
from judgments.jobs import jobs
from judgments.machines import machine_runs
from judgments.machines.judge_runs import model_judges, retry
from judgments.machines.judge_runs.attempts import Attempt
from judgments.machines.judge_runs.call_log import call_fields, store_once, used
from judgments.machines.judge_runs.estimate import CostEstimate
from judgments.machines.providers import accounts
from judgments.models import Judge, Provider, User, audit

KIND = "rag-critic"
METRICS = ("LLMFaithfulnessScore", "LLMAnswerQuality")
MOST_METRICS = 10
# The estimate reads this many samples, spread over the set.
LOOKED_AT = 200


@dataclass(frozen=True)
class CriticSettings:
    """A model of a provider, and the metrics that ask it."""

    provider: Provider
    model: str
    metrics: Sequence[str] = METRICS

    def parsed(self) -> list[Metric]:
        """Return the metrics."""
        if self.provider.offered(self.model) is None:
            raise NotValid(f"{self.provider} does not offer the model {self.model!r}.", "model")
        by_label = {metric.label: metric for metric in parse_metrics(self.metrics)}
        if wrong := [label for label, metric in by_label.items() if asking(metric) is None]:
            raise NotValid(f"{wrong[0]} does not use a critic. Add it under “Metrics and slices”.", "metrics")
        if not 0 < len(by_label) <= MOST_METRICS:
            raise NotValid(f"Enter 1 to {MOST_METRICS} metrics that use a critic, for example {METRICS[0]}.", "metrics")
        return list(by_label.values())


@dataclass(frozen=True, kw_only=True)
class CriticCost(CostEstimate):
    """The estimated cost of a critic, extrapolated from the samples that were read."""

    systems: int
    samples: int
    known: int


def look(sample_set: RagSampleSet, choice: CriticSettings) -> CriticCost:
    """Estimate the cost of a critic without making calls."""
    metrics, systems = choice.parsed(), list(sample_set.systems.active())
    calls = LedgerCalls(sample_set, accounts.endpoint(choice.provider, choice.model))
    index = list(sample_set.samples.all())
    some = index[:: max(1, len(index) // LOOKED_AT)][:LOOKED_AT]
    samples = [sample_of(record, 1) for record in sample_sets.objects(sample_set, some)]
    for system in systems:
        places = list(RagOutput.objects.filter(system=system, sample__in=some).order_by("start"))
        outputs = [output_of(record, 1) for record in sample_sets.objects(system, places)]
        if outputs:
            _evaluate(samples, {system.name: outputs}, metrics, "skip", calls)
    plan, times = calls.plan, len(index) / max(1, len(some))

    def scaled(pair: tuple[int, int]) -> tuple[int, int]:
        return round(pair[0] * times), round(pair[1] * times)

    return CriticCost(
        systems=len(systems),
        samples=len(index),
        known=round(plan.known * times),
        calls=scaled((plan.questions, 2 * plan.questions)),
        tokens_in=scaled(plan.tokens_in),
        tokens_out=scaled(plan.tokens_out),
        usd=None if plan.usd is None else (plan.usd[0] * times, plan.usd[1] * times),
        looked_at=len(some),
    )


def _evaluate(
    samples: Any, outputs: Mapping[str, Any], metrics: Sequence[Metric], missing: Any, calls: LedgerCalls
) -> None:
    """Send the questions of the metrics through the calls; the values are not used."""
    from assay.rag import evaluate

    evaluate(samples, outputs, metrics, missing=missing, resamples=1, critic=ProviderCritic(calls))


@transaction.atomic
def start(
    sample_set: RagSampleSet, choice: CriticSettings, *, cap_usd: float | None, cap_calls: int | None, actor: User
) -> RagCriticRun:
    """Start a job in which a critic scores the answers of all systems of a set. It becomes the critic of the
    scorecards.
    """
    machine_runs.check_caps(cap_usd, cap_calls, of="A critic needs")
    metrics = choice.parsed()
    machine_runs.check_prices(cap_usd, (choice.provider, choice.model))
    RagSampleSet.objects.select_for_update(of=("self",)).get(pk=sample_set.pk)
    before = critic_of(sample_set)
    if before is not None and not machine_runs.is_over(before):
        raise Conflict(f"The {before} is running on this sample set. Pause it first.")
    estimate = look(sample_set, choice)
    if not estimate.calls[0] and not estimate.known:
        raise Conflict("No system of this set has an answer to score. Import outputs with answers first.")
    prompts = {metric.label: _prompt(metric) for metric in metrics}
    run = RagCriticRun.objects.create(
        sample_set=sample_set,
        provider=choice.provider,
        model=choice.model,
        metrics=[metric.label for metric in metrics],
        parameters={
            "protocol": choice.provider.protocol,
            "base_url": choice.provider.base_url,
            "asked_as": accounts.settings_of(choice.provider, choice.model),
            "prompts": prompts,
        },
        cap_usd=cap_usd,
        cap_calls=cap_calls,
        estimate=estimate.as_json(),
        created_by=actor,
    )
    sentence = f"{actor} started scoring the answers of {sample_set} with {choice.model}"
    _record("start", sentence, run, actor, cap_usd=cap_usd, cap_calls=cap_calls)
    _queue(run, actor)
    return run


@transaction.atomic
def pause(run: RagCriticRun, *, actor: User) -> None:
    """Pause the critic after the calls in progress have returned."""
    if not machine_runs.ask_to_pause(run):
        raise Conflict(f"The {run} is not running.")
    _record("pause", f"{actor} paused the {run} of {run.sample_set}", run, actor)


@transaction.atomic
def go_on(
    run: RagCriticRun, *, cap_usd: float | None = None, cap_calls: int | None = None, actor: User
) -> RagCriticRun:
    """Send the unanswered questions, including those about systems added since."""
    RagSampleSet.objects.select_for_update(of=("self",)).get(pk=run.sample_set_id)
    current = critic_of(run.sample_set)
    if current is None or current.pk != run.pk:
        raise Conflict(f"The {run} is no longer the critic of this sample set.")
    if not machine_runs.is_over(current):
        raise Conflict(f"The {run} is running. Pause it first.")
    provider = _provider(current)
    machine_runs.check_prices(current.cap_usd if cap_usd is None else cap_usd, (provider, current.model))
    machine_runs.change(current, cap_usd, cap_calls)
    _record("go_on", f"{actor} resumed the {current} of {current.sample_set}", current, actor)
    _queue(current, actor)
    return current


def asks(provider: Provider) -> bool:
    """Return whether a running critic uses this provider."""
    return any(not machine_runs.is_over(run) for run in RagCriticRun.objects.filter(provider=provider))


def _prompt(metric: Metric) -> dict[str, Any]:
    template = asking(metric).template
    return {"name": template.name, "version": template.version, "sha256": template.sha256}


def _provider(run: RagCriticRun) -> Provider:
    named = Judge(name=str(run), provider=run.provider, model=run.model, parameters=run.parameters)
    return model_judges.check_provider(named)


def _queue(run: RagCriticRun, actor: User | None, *, woken: int = 0) -> None:
    machine_runs.queue(run, KIND, f"Score {run.sample_set} with the {run}", actor=actor, woken=woken)


def _record(verb: str, sentence: str, run: RagCriticRun, actor: User, **detail: Any) -> None:
    audit.record(f"rag.critic_{verb}", sentence, actor=actor, target=run, **detail)


class _AskingCalls(LedgerCalls):
    """The calls of one attempt at a run: it sends the unanswered questions and stores each answer at once."""

    def __init__(self, work: jobs.Work, run: RagCriticRun, client: Any, provider: Provider) -> None:
        super().__init__(run.sample_set, accounts.endpoint(provider, run.model, run.parameters["asked_as"]))
        self.attempt = Attempt(work, run, used(RagCriticCall.objects.filter(run=run)))
        self.attempt.total = run.estimate.get("calls", [0])[0]
        self._job_run, self._client, self._provider = run, client, provider
        self._new: list[RagCriticCall] = []

    @property
    def over(self) -> bool:
        """Return whether this attempt must make no further calls."""
        return self.ended is not None and self.ended.end != "done"

    def _run(self, questions: Asking, add: Callable[[Verdict], None]) -> Ended:
        if self.over and self.ended is not None:
            super()._run(questions, add)
            return self.ended
        return self.attempt.send(
            questions, add, self._answered, self._commit_after, provider=self._provider, client=self._client
        )

    def _answered(self, call: Answered) -> None:
        self._new.append(RagCriticCall(run=self._job_run, **call_fields(call, self.endpoint.model)))
        self.attempt.done += 1
        self.attempt.total = max(self.attempt.done, self.attempt.total)

    def _commit_after(self, work: Callable[[], None]) -> None:
        work()
        rows, self._new = self._new, []
        store_once(rows)


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run the job: send the unanswered questions, then queue the scorecards."""
    rows = RagCriticRun.objects.select_related("provider", "sample_set__collection", "created_by")
    run = rows.filter(uuid=work.job.parameters["run"]).first()
    if run is None:
        raise NotFound("This critic was deleted before it started.")
    with machine_runs.attempt(run):
        calls = _ask_all(work, run)
    ended = calls.ended or Ended("done", "", 0, 0)
    try:
        machine_runs.close(run, ended, page="the critic page")
    finally:
        scorecards.queue(run.sample_set, actor=run.created_by)
    return {"end": ended.end, "said": ended.message, "answered": calls.attempt.done}


def _ask_all(work: jobs.Work, run: RagCriticRun) -> _AskingCalls:
    from assay.rag import read_outputs, read_samples

    provider, metrics = _provider(run), parse_metrics(run.metrics)
    with closing(accounts.client(provider)) as client:
        calls = _AskingCalls(work, run, client, provider)
        with sample_sets.checked(run.sample_set) as path:
            samples = read_samples(path)
        for system in run.sample_set.systems.active():
            with sample_sets.checked(system) as path:
                outputs = read_outputs(path)
            _evaluate(samples, {system.name: outputs}, metrics, system.missing, calls)
            # The critic's metrics would hide an exception, so it is raised here.
            calls.attempt.raise_interruption()
            if calls.over:
                break
    return calls


WAITING = retry.Kind(
    RagCriticRun,
    ("sample_set__collection", "provider", "job", "created_by"),
    lambda run: RagCriticCall.objects.filter(run=run),
    _provider,
    _queue,
    lambda run: f"The {run} of {run.sample_set} will be retried because its provider did not answer",
)
