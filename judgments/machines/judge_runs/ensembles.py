"""Ensembles: combine the answers of several judges of a round into one.

An ensemble is a judge like any other, and its answers are machine grades. A pair waits until each member judge has
answered it. A failed answer is not a vote, and if the rule gives no result the outcome is undecided.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from assay.core.errors import Conflict, NotValid
from assay.core.parameters import checked
from assay.core.text_rules import amount
from assay.llm.judge import Outcome
from assay.llm.judges.ensemble import RULES, Rule, Together, together
from judgments.machines import kinds
from judgments.machines.judge_runs.estimate import Waiting
from judgments.machines.judge_runs.judge_settings import JudgeSettings
from judgments.machines.judge_runs.model_judges import digest
from judgments.machines.kinds import ENSEMBLE, TOGETHER
from judgments.models import Judge, MachineJudgment, Pair, Round
from judgments.models.machines.machine import UNDECIDED

MOST = 12


def build(round_: Round, choice: JudgeSettings) -> Judge:
    """Return an unsaved ensemble of the chosen judges."""
    chosen = checked("the ensemble", TOGETHER.parameters, choice.parameters)
    if chosen["rule"] not in RULES:
        problem = f"Known rules: {', '.join(RULES)}."
        raise NotValid(f"Unknown rule {chosen['rule']!r}. {problem}", {"rule": problem})
    judges = sorted({judge.pk: judge for judge in choice.judges}.values(), key=lambda judge: judge.name)
    _check(round_, judges)
    if chosen["least"] > len(judges):
        problem = f"{amount(len(judges), 'judge')} cannot give {chosen['least']} grades. Require fewer grades."
        raise NotValid(problem, "least")
    # The name ends with the hash of everything that determines the judge's answers.
    parameters = {**chosen, "judges": [judge.name for judge in judges]}
    return Judge(
        collection=round_.collection,
        name=f"{ENSEMBLE} {chosen['rule']} {digest(parameters)[:8]}",
        kind=ENSEMBLE,
        parameters=parameters,
        inputs={**chosen, "judges": [str(judge.uuid) for judge in judges]},
    )


def can_join(judge: Judge) -> bool:
    """Return whether the judge may be in an ensemble: it gives grades and is not an ensemble itself."""
    return judge.kind != ENSEMBLE and kinds.says_grades(judge.kind)


def waiting(round_: Round, judge: Judge) -> Waiting:
    """Return the pairs that all of its judges have answered and the ensemble has not."""
    rows = round_.pairs.select_related("query", "document").order_by("position")
    judged = MachineJudgment.objects.filter(pair__round=round_)
    if judge.pk is not None:
        rows = rows.exclude(pk__in=judged.filter(judge=judge).values("pair"))
    ready = rows
    for uuid in judge.inputs["judges"]:
        ready = ready.filter(pk__in=judged.filter(judge__uuid=uuid).values("pair"))
    return Waiting(ready, 0, rows.count() - ready.count(), 0)


def sayer(judge: Judge, round_: Round) -> Callable[[Sequence[Pair]], Iterator[MachineJudgment]]:
    """Return the function that combines the answers of its judges, batch by batch."""
    names = dict(Judge.objects.filter(uuid__in=judge.inputs["judges"]).order_by("name").values_list("pk", "name"))
    if len(names) != len(judge.inputs["judges"]):
        raise Conflict(f"A member of {judge} was removed. Create another ensemble of the remaining judges.")
    values, rule, least = round_.scale.values(), cast("Rule", judge.inputs["rule"]), judge.inputs["least"]

    def says(pairs: Sequence[Pair]) -> Iterator[MachineJudgment]:
        grades: dict[int, dict[int, MachineJudgment]] = {}
        for row in MachineJudgment.objects.filter(judge__in=list(names), pair__in=[pair.pk for pair in pairs]):
            grades.setdefault(row.pair_id, {})[row.judge_id] = row
        for pair in pairs:
            rows = {name: grades[pair.pk][pk] for pk, name in names.items()}
            one = together([_outcome(row) for row in rows.values()], values, rule, least=least)
            yield _machine_judgment(judge, pair, rows, one)

    return says


def _check(round_: Round, judges: Sequence[Judge]) -> None:
    if not 2 <= len(judges) <= MOST:
        raise NotValid("The number of judges is out of range.", {"judges": f"Choose from 2 to {MOST} judges."})
    if unfit := next((judge for judge in judges if not can_join(judge)), None):
        why = "is an ensemble itself" if unfit.kind == ENSEMBLE else "gives usefulness instead of grades"
        raise NotValid(f"{unfit} {why}. Remove this judge.", "judges")
    for judge in judges:
        if not judge.judgments.filter(pair__round=round_).exists():
            raise NotValid(f"{judge} has no answers in this round. Run it first.", "judges")


def _outcome(row: MachineJudgment) -> Outcome:
    # A failed answer is not a vote, for any reason of the failure.
    return Outcome("graded", row.grade) if row.grade is not None else Outcome("unparseable")


def _machine_judgment(judge: Judge, pair: Pair, rows: Mapping[str, MachineJudgment], one: Together) -> MachineJudgment:
    members: dict[str, Any] = {name: row.outcome if row.grade is None else row.grade for name, row in rows.items()}
    return MachineJudgment(
        judge=judge,
        pair=pair,
        outcome=UNDECIDED if one.grade is None else "graded",
        grade=one.grade,
        rationale=f"{amount(one.grades, 'grade')}, {amount(one.failed, 'failure')}, {one.spread} apart",
        raw=json.dumps(members, ensure_ascii=False),
        document_sha256=pair.document.content_sha256,
    )
