"""What does a machine say about a round's pairs, before or beside the people who rate them?

A machine's answer stands in a table of its own. It fills no slot, is no judgment, and enters neither agreement nor
labels; whether anybody may see it is decided in `access`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet

from judgments import audit
from judgments.core.errors import Conflict, NotValid
from judgments.judges import JUDGES, Context, JudgeKind, Outcome
from judgments.models import Judge, MachineJudgment, Pair, Round, User

BATCH = 200


@dataclass(frozen=True)
class Prejudged:
    """What a judge has done in a round.

    Parameters
    ----------
    judge : Judge
        The row of the judge with these parameters.
    judged : int
        Pairs judged by this call.
    earlier : int
        Pairs that the judge had answered before; they were left alone.
    lacking : dict of str to int
        How many pairs wait for something that the judge needs, by what it is: ``text``, ``expected``, ...
    outcomes : dict of str to int
        All answers of the judge in this round by outcome, the earlier ones among them.
    """

    judge: Judge
    judged: int
    earlier: int
    lacking: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)


def prejudge(
    round_: Round,
    judge_kind: str,
    parameters: Mapping[str, Any],
    *,
    actor: User,
    expected: Mapping[str, Sequence[str]] | None = None,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> Prejudged:
    """Let an offline judge answer the pairs of a round that it has not answered yet.

    Every batch is stored at once, so that a call that was killed is taken up where it stopped by calling again.

    Parameters
    ----------
    round_ : Round
        The round, in any state.
    judge_kind : str
        A member of ``judgments.judges.JUDGES``.
    parameters : mapping
        What that judge takes; the same kind with other parameters is another judge.
    actor : User
        The lead who asks for it.
    expected : mapping of str to sequence of str, optional
        Accepted answers by ``query_id``, for judges that match a text to an expected answer.
    watch : callable
        Told after each batch how many pairs are done, and of how many.

    Returns
    -------
    Prejudged
        Pairs without what the judge needs (no content yet, no expected answer) are counted, not judged: they get
        their answer when they are complete and the verb is called again.

    Raises
    ------
    UnknownName
        There is no such judge.
    NotValid
        The judge does not take these parameters, or not one pair has what it needs.
    """
    kind = JUDGES[judge_kind]
    machine = kind.judge(parameters)
    told = _told(kind, parameters, expected or {})
    waiting = list(_waiting(round_, _name(kind, told)).select_related("query", "document"))
    ready, lacking = _sorted_out(kind, waiting, expected or {})
    if waiting and len(waiting) == round_.pairs.count() and not ready:
        raise NotValid(f"No pair of {round_} has what {kind.name} needs: {', '.join(kind.needs)}.", _missing(lacking))
    judge = _judge(round_, kind, told, len(ready), actor)
    for begin in range(0, len(ready), BATCH):
        batch = ready[begin : begin + BATCH]
        answers = machine.outcomes([context for _, context in batch])
        _keep(judge, [pair for pair, _ in batch], answers, round_.scale.values())
        watch(begin + len(batch), len(ready))
    return Prejudged(judge, len(ready), round_.pairs.count() - len(waiting), lacking, _counted(judge, round_))


def _told(kind: JudgeKind, parameters: Mapping[str, Any], expected: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Everything beside the pair that an answer hangs on; expected answers by their hash."""
    told = kind.checked(parameters)
    if "expected" in kind.needs:
        told["expected_sha256"] = _sha256({query_id: list(texts) for query_id, texts in expected.items()})
    return told


def _name(kind: JudgeKind, told: Mapping[str, Any]) -> str:
    return f"{kind.name} {_sha256(told)[:8]}"


def _sha256(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _waiting(round_: Round, name: str) -> QuerySet[Pair]:
    done = MachineJudgment.objects.filter(judge__collection=round_.collection_id, judge__name=name)
    return round_.pairs.exclude(pk__in=done.filter(pair__round=round_).values("pair"))


def _sorted_out(
    kind: JudgeKind, pairs: Sequence[Pair], expected: Mapping[str, Sequence[str]]
) -> tuple[list[tuple[Pair, Context]], dict[str, int]]:
    ready: list[tuple[Pair, Context]] = []
    lacking: dict[str, int] = {}
    for pair in pairs:
        context = _context(pair, expected)
        # A stub has no content yet: unlike an empty text that is not known to say nothing.
        missing = [*(["content"] if pair.document.stub else []), *context.lacks(kind.needs)]
        for need in missing:
            lacking[need] = lacking.get(need, 0) + 1
        if not missing:
            ready.append((pair, context))
    return ready, lacking


def _context(pair: Pair, expected: Mapping[str, Sequence[str]]) -> Context:
    text = "\n".join(part for part in (pair.document.title, pair.document.text) if part)
    answers = tuple(expected.get(pair.query.query_id, ()))
    return Context(pair.query.text, text, answers, pair.query.narrative)


def _missing(lacking: Mapping[str, int]) -> dict[str, str]:
    return {need: f"{number:,} pairs have none." for need, number in lacking.items()}


@transaction.atomic
def _judge(round_: Round, kind: JudgeKind, told: dict[str, Any], pairs: int, actor: User) -> Judge:
    """The judge's row, and the audit row before the first answer: a call that is killed is on record too."""
    judge, _ = Judge.objects.get_or_create(
        collection=round_.collection, name=_name(kind, told), defaults={"kind": kind.name, "parameters": told}
    )
    if judge.kind != kind.name or judge.parameters != told:
        raise Conflict(f"There is another judge called {judge.name} in this collection.")
    if pairs:
        sentence = f"{actor} let the judge {judge} answer {pairs:,} pairs of round {round_}"
        detail = {"judge": str(judge.uuid), "parameters": told, "pairs": pairs}
        audit.record(
            "prejudging.prejudge", sentence, actor=actor, collection=round_.collection, target=round_, **detail
        )
    return judge


def _keep(judge: Judge, pairs: Sequence[Pair], answers: Sequence[Outcome], scale: Sequence[int]) -> None:
    rows = []
    for pair, answer in zip(pairs, answers, strict=True):
        found = answer.on_scale(scale)
        rows.append(
            MachineJudgment(
                judge=judge,
                pair=pair,
                outcome=found.name,
                grade=found.grade,
                probabilities=found.probabilities,
                rationale=found.rationale,
                raw=found.raw,
            )
        )
    # Two calls at the same moment judge the same pairs alike; whoever comes second adds nothing.
    MachineJudgment.objects.bulk_create(rows, ignore_conflicts=True)


def _counted(judge: Judge, round_: Round) -> dict[str, int]:
    rows = judge.judgments.filter(pair__round=round_).order_by("outcome")
    return dict(rows.values_list("outcome").annotate(number=Count("pk")))
