"""Judges that call no model service: by words, by local embeddings, or by a rule over other judges.

A machine's answer is stored in a separate table. It fills no slot, is not a judgment, and enters neither agreement nor
labels; `access` decides who may see it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from assay.core.errors import NotValid
from assay.llm.judges import JUDGES
from judgments.jobs import jobs
from judgments.machines import kinds, machine_runs
from judgments.machines.judge_runs import ensembles
from judgments.machines.judge_runs.estimate import Waiting, context_of, waiting
from judgments.machines.judge_runs.judge_settings import JudgeSettings, beside, fitting, on_scale
from judgments.machines.judge_runs.model_judges import digest
from judgments.machines.kinds import ENSEMBLE, Kind
from judgments.members import grants
from judgments.models import Collection, Judge, JudgeRun, MachineJudgment, Pair, Round
from judgments.web import access

State = JudgeRun.State


class _Paused(Exception):
    """A lead has paused the run."""


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Run the job: answer the unanswered pairs batch by batch, and record how the run ended."""
    rows = JudgeRun.objects.select_related("judge", "round__scale", "round__collection")
    run = access.existing(rows.filter(uuid=work.job.parameters["run"]), "This run of a judge no longer exists.")

    def watch(done: int, total: int) -> None:
        work.progress(done, total)
        if done < total and JudgeRun.objects.filter(pk=run.pk, pause_requested=True).exists():
            raise _Paused

    try:
        with machine_runs.attempt(run):
            answered = answer(run.judge, run.round, watch=watch)
    except _Paused:
        machine_runs.record_end(run, State.PAUSED, "")
        return {"end": "stopped"}
    machine_runs.record_end(run, State.DONE, "")
    return {"end": "done", "answered": answered}


BATCH = 200
Watch = Callable[[int, int], None]


def build(round_: Round, choice: JudgeSettings) -> Judge:
    """Return the unsaved judge for the round; other parameters or expected answers make another judge."""
    kind = kinds.find(choice.kind)
    kind.check_installed()
    chosen = JUDGES[kind.name].checked(choice.parameters)
    JUDGES[kind.name].build(**chosen)
    model = _model(round_.collection, kind, chosen)
    inputs = fitting(round_, kind, choice)
    parameters = {**chosen, **beside(inputs)}
    return Judge(
        collection=round_.collection,
        name=f"{kind.name} {digest(parameters)[:8]}",
        kind=kind.name,
        model=model,
        parameters=parameters,
        inputs={**inputs, "parameters": chosen},
    )


def check_here(judge: Judge) -> None:
    """Refuse a judge whose library or model this server no longer has or allows."""
    if judge.kind == ENSEMBLE:
        return
    kind = kinds.find(judge.kind)
    kind.check_installed()
    _model(judge.collection, kind, judge.inputs["parameters"])


def left_for(round_: Round, judge: Judge) -> Waiting:
    """Return the pairs that the judge has not answered; for an ensemble, only those that its judges have answered."""
    return ensembles.waiting(round_, judge) if judge.kind == ENSEMBLE else waiting(round_, judge)


def answer(judge: Judge, round_: Round, *, watch: Watch = lambda done, total: None) -> int:
    """Let the judge answer the pairs of a round that it has not answered yet."""
    keys = list(left_for(round_, judge).ready.values_list("pk", flat=True))
    says = ensembles.sayer(judge, round_) if judge.kind == ENSEMBLE else _sayer(judge, round_)
    watch(0, len(keys))
    for begin in range(0, len(keys), BATCH):
        rows = Pair.objects.filter(pk__in=keys[begin : begin + BATCH])
        judgments = says(list(rows.select_related("query", "document").order_by("position")))
        # Two concurrent calls compute the same answers; the second one adds nothing.
        MachineJudgment.objects.bulk_create(judgments, ignore_conflicts=True)
        watch(min(begin + BATCH, len(keys)), len(keys))
    return len(keys)


Sayer = Callable[[Sequence[Pair]], Iterator[MachineJudgment]]


def _sayer(judge: Judge, round_: Round) -> Sayer:
    check_here(judge)
    machine = JUDGES[judge.kind].judge(judge.inputs["parameters"])
    values = round_.scale.values()

    def says(pairs: Sequence[Pair]) -> Iterator[MachineJudgment]:
        outcomes = machine.outcomes([context_of(pair, judge) for pair in pairs])
        for pair, outcome in zip(pairs, outcomes, strict=True):
            scaled = on_scale(outcome, judge.inputs, values)
            yield MachineJudgment(
                judge=judge,
                pair=pair,
                outcome=scaled.name,
                grade=scaled.grade,
                probabilities=scaled.probabilities,
                rationale=scaled.rationale,
                raw=scaled.raw,
                document_sha256=pair.document.content_sha256,
            )

    return says


def _model(collection: Collection, kind: Kind, chosen: dict[str, object]) -> str:
    """Return the model that the judge loads on this server. Loading runs code, so the operator must allow the model."""
    model = str(chosen.get("model", ""))
    if model and model not in (allowed := grants.local_models(collection)):
        problem = f"{kind.title} cannot load {model!r} on this server. Allowed models: {', '.join(allowed) or 'none'}. "
        hint = "The operator allows models with LOCAL_MODELS and grants them to the collection."
        raise NotValid(problem + hint, {"model": problem, "kind": problem})
    return model
