"""Ensembles: combine the answers of several judges of a round into one.

An ensemble is a judge like every other, and its answers are machine grades. A pair waits until each of its judges has
answered it. A failed answer is no vote, and where the rule decides nothing the outcome is undecided.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from judgments import judge_kinds
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotValid
from judgments.core.parameters import checked
from judgments.judge_choice import Choice
from judgments.judge_kinds import ENSEMBLE, TOGETHER
from judgments.judges.contract import Outcome
from judgments.judges.ensemble import RULES, Rule, Together, together
from judgments.judging_estimate import Waiting
from judgments.model_judges import digest
from judgments.models import Judge, MachineJudgment, Pair, Round
from judgments.models.machine import UNDECIDED

MOST = 12


def made_for(round_: Round, choice: Choice) -> Judge:
    """The ensemble of the chosen judges, not stored yet.

    Raises
    ------
    NotValid
        By field: fewer than two judges or too many, one that gives no grades or was never in the round, another
        ensemble, a rule that there is not, more grades asked for than there are judges.
    """
    chosen = checked("the ensemble", TOGETHER.parameters, choice.parameters)
    if chosen["rule"] not in RULES:
        said = f"Choose {', '.join(RULES)}."
        raise NotValid(f"There is no rule {chosen['rule']!r}. {said}", {"rule": said})
    judges = sorted({judge.pk: judge for judge in choice.judges}.values(), key=lambda judge: judge.name)
    _check(round_, judges)
    if chosen["least"] > len(judges):
        said = f"There are {amount(len(judges), 'judge')}: {chosen['least']} grades never come together."
        raise NotValid(said, {"least": said})
    # By name: it ends with the hash of all that decides that judge's answers.
    parameters = {**chosen, "judges": [judge.name for judge in judges]}
    return Judge(
        collection=round_.collection,
        name=f"{ENSEMBLE} {chosen['rule']} {digest(parameters)[:8]}",
        kind=ENSEMBLE,
        parameters=parameters,
        told={**chosen, "judges": [str(judge.uuid) for judge in judges]},
    )


def can_join(judge: Judge) -> bool:
    """Whether an ensemble may hold it: it gives grades, and holds no other judges."""
    return judge.kind != ENSEMBLE and judge_kinds.says_grades(judge.kind)


def waiting(round_: Round, judge: Judge) -> Waiting:
    """The pairs that all of its judges have answered and it has not."""
    rows = round_.pairs.select_related("query", "document").order_by("position")
    said = MachineJudgment.objects.filter(pair__round=round_)
    if judge.pk is not None:
        rows = rows.exclude(pk__in=said.filter(judge=judge).values("pair"))
    ready = rows
    for uuid in judge.told["judges"]:
        ready = ready.filter(pk__in=said.filter(judge__uuid=uuid).values("pair"))
    return Waiting(ready, 0, rows.count() - ready.count(), 0)


def sayer(judge: Judge, round_: Round) -> Callable[[Sequence[Pair]], Iterator[MachineJudgment]]:
    """What puts the answers of its judges together, batch by batch.

    Raises
    ------
    Conflict
        One of its judges is no more.
    """
    names = dict(Judge.objects.filter(uuid__in=judge.told["judges"]).order_by("name").values_list("pk", "name"))
    if len(names) != len(judge.told["judges"]):
        raise Conflict(f"A judge of {judge} was removed. Make another ensemble of those that are there.")
    values, rule, least = round_.scale.values(), cast("Rule", judge.told["rule"]), judge.told["least"]

    def says(pairs: Sequence[Pair]) -> Iterator[MachineJudgment]:
        found: dict[int, dict[int, MachineJudgment]] = {}
        for row in MachineJudgment.objects.filter(judge__in=list(names), pair__in=[pair.pk for pair in pairs]):
            found.setdefault(row.pair_id, {})[row.judge_id] = row
        for pair in pairs:
            rows = {name: found[pair.pk][pk] for pk, name in names.items()}
            one = together([_outcome(row) for row in rows.values()], values, rule, least=least)
            yield _said(judge, pair, rows, one)

    return says


def _check(round_: Round, judges: Sequence[Judge]) -> None:
    if not 2 <= len(judges) <= MOST:
        raise NotValid("An ensemble is several judges.", {"judges": f"Choose from 2 to {MOST}."})
    if unfit := next((judge for judge in judges if not can_join(judge)), None):
        why = "is an ensemble itself" if unfit.kind == ENSEMBLE else "tells usefulness and gives no grade"
        said = f"{unfit} {why}: leave it out."
        raise NotValid(said, {"judges": said})
    for judge in judges:
        if not judge.judgments.filter(pair__round=round_).exists():
            said = f"{judge} has answered nothing in this round."
            raise NotValid(said, {"judges": said})


def _outcome(row: MachineJudgment) -> Outcome:
    # Whatever kept it from giving a grade, it is no vote.
    return Outcome("graded", row.grade) if row.grade is not None else Outcome("unparseable")


def _said(judge: Judge, pair: Pair, rows: Mapping[str, MachineJudgment], one: Together) -> MachineJudgment:
    told: dict[str, Any] = {name: row.outcome if row.grade is None else row.grade for name, row in rows.items()}
    return MachineJudgment(
        judge=judge,
        pair=pair,
        outcome=UNDECIDED if one.grade is None else "graded",
        grade=one.grade,
        rationale=f"{amount(one.grades, 'grade')}, {amount(one.failed, 'failure')}, {one.spread} apart",
        raw=json.dumps(told, ensure_ascii=False),
        document_sha256=pair.document.content_sha256,
    )
