"""Judges that call no model service: by words, by local embeddings, or by a rule over other judges.

A machine's answer is stored in a table of its own. It fills no slot, is no judgment, and enters neither agreement nor
labels; `access` decides whether anyone may see it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from judgments import ensembles, grants, judge_kinds
from judgments.core.errors import NotValid
from judgments.judge_choice import Choice, beside, fitting, on_scale
from judgments.judge_kinds import ENSEMBLE, Kind
from judgments.judges import JUDGES
from judgments.judging_estimate import Waiting, context_of, waiting
from judgments.model_judges import digest
from judgments.models import Collection, Judge, MachineJudgment, Pair, Round

BATCH = 200
Watch = Callable[[int, int], None]


def made_for(round_: Round, choice: Choice) -> Judge:
    """The judge for the round, not stored yet; the same kind with other parameters or answers is another judge.

    Raises
    ------
    UnknownName
        There is no such judge.
    NotValid
        By field: a library is missing, the judge does not take these parameters, or no query of the round has an
        expected answer.
    """
    kind = judge_kinds.find(choice.kind)
    kind.check_installed()
    chosen = JUDGES[kind.name].checked(choice.parameters)
    JUDGES[kind.name].build(**chosen)
    model = _model(round_.collection, kind, chosen)
    told = fitting(round_, kind, choice)
    parameters = {**chosen, **beside(told)}
    return Judge(
        collection=round_.collection,
        name=f"{kind.name} {digest(parameters)[:8]}",
        kind=kind.name,
        model=model,
        parameters=parameters,
        told={**told, "parameters": chosen},
    )


def check_here(judge: Judge) -> None:
    """Whether this server may still run a judge that was made for it: its libraries and models can be others by now.

    Raises
    ------
    NotValid
        A library is missing, or the operator does not name its model in `LOCAL_MODELS` any more.
    """
    if judge.kind == ENSEMBLE:
        return
    kind = judge_kinds.find(judge.kind)
    kind.check_installed()
    _model(judge.collection, kind, judge.told["parameters"])


def left_for(round_: Round, judge: Judge) -> Waiting:
    """What the judge has not answered in the round; of an ensemble, what its judges have and it has not."""
    return ensembles.waiting(round_, judge) if judge.kind == ENSEMBLE else waiting(round_, judge)


def answer(judge: Judge, round_: Round, *, watch: Watch = lambda done, total: None) -> int:
    """Let the judge answer the pairs of a round that it has not answered yet.

    Every batch is stored at once, so that a call that was killed is taken up where it stopped by calling again.

    Parameters
    ----------
    judge, round_ : Judge, Round
        A stored judge, and a round in any state.
    watch : callable
        Told before the first and after each batch how many pairs are done, and of how many; what it raises ends the
        work with all batches before it stored.

    Returns
    -------
    int
        How many pairs it answered. Those that lack what it needs are left: they get their answer when they are complete
        and it is called again.

    Raises
    ------
    NotValid
        A library or a model that it needs is not here, or the operator does not allow the model.
    """
    keys = list(left_for(round_, judge).ready.values_list("pk", flat=True))
    says = ensembles.sayer(judge, round_) if judge.kind == ENSEMBLE else _sayer(judge, round_)
    watch(0, len(keys))
    for begin in range(0, len(keys), BATCH):
        rows = Pair.objects.filter(pk__in=keys[begin : begin + BATCH])
        said = says(list(rows.select_related("query", "document").order_by("position")))
        # Two calls at the same moment judge the same pairs alike; whoever comes second adds nothing.
        MachineJudgment.objects.bulk_create(said, ignore_conflicts=True)
        watch(min(begin + BATCH, len(keys)), len(keys))
    return len(keys)


Sayer = Callable[[Sequence[Pair]], Iterator[MachineJudgment]]


def _sayer(judge: Judge, round_: Round) -> Sayer:
    check_here(judge)
    machine = JUDGES[judge.kind].judge(judge.told["parameters"])
    values = round_.scale.values()

    def says(pairs: Sequence[Pair]) -> Iterator[MachineJudgment]:
        outcomes = machine.outcomes([context_of(pair, judge) for pair in pairs])
        for pair, outcome in zip(pairs, outcomes, strict=True):
            found = on_scale(outcome, judge.told, values)
            yield MachineJudgment(
                judge=judge,
                pair=pair,
                outcome=found.name,
                grade=found.grade,
                probabilities=found.probabilities,
                rationale=found.rationale,
                raw=found.raw,
                document_sha256=pair.document.content_sha256,
            )

    return says


def _model(collection: Collection, kind: Kind, chosen: dict[str, object]) -> str:
    """The model that it loads on this machine, if the operator allows that one: loading a model runs what is in it."""
    model = str(chosen.get("model", ""))
    if model and model not in (allowed := grants.local_models(collection)):
        said = f"{kind.title} may load {', '.join(allowed) or 'no model'} here, not {model!r}. "
        hint = "The server's operator decides which: LOCAL_MODELS, granted to the collection."
        raise NotValid(said + hint, {"model": said, "kind": said})
    return model
