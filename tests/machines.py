"""Rows of every kind that machines can add to a round, with texts that no rater may ever read."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Sequence, Set
from typing import Any

from judgments.models import (
    AutoAccept,
    Battle,
    BattleCanary,
    BattleRun,
    Collection,
    Judge,
    JudgeRun,
    MachineJudgment,
    ModelCall,
    Pair,
    PromptVersion,
    Provider,
    Round,
)

# What stands in every text of these rows.
PLANTED = "planted-for-a-rater"
NAME = "another-judge"
MODEL = "model-of-another-judge"
WORDS = {"rationale": PLANTED, "raw": PLANTED}
GRADED: dict[str, Any] = {"outcome": "graded", "probabilities": {"0": 0.5, "3": 0.5}, **WORDS}
# Of one pair after the other: grades apart from each other, and every kind of failure.
FIRST = (3, 0, "unparseable", 3, "refused", 1)
SECOND = (0, 3, "out_of_scale", 3, "blocked", 1)


def judge_everything(collection: Collection, rounds: Iterable[Round], turned: Set[int] = frozenset()) -> list[Judge]:
    """Let machines of every kind have been in these rounds; of the pairs with these keys they say the opposite."""
    prompt = PromptVersion.objects.filter(collection=collection).first()
    provider = Provider.objects.filter(collection=collection).first()
    settings = {"kind": "graded", "model": MODEL, "prompt": prompt, "provider": provider}
    first = _judge(collection, "first", **settings, inputs={"guidelines": PLANTED})
    second = _judge(collection, "second", **settings)
    useful = _judge(collection, "useful", kind="downstream", model=MODEL)
    names = {"rule": "unanimous", "least": 2, "judges": [first.name, second.name]}
    created = {**names, "judges": [str(first.uuid), str(second.uuid)]}
    several = _judge(collection, "ensemble", kind="ensemble", parameters=names, inputs=created)
    for round_ in rounds:
        pairs = list(round_.pairs.order_by("position"))
        _graded(first, round_, pairs, FIRST, turned)
        _graded(second, round_, pairs, SECOND, turned)
        _machine_answers(useful, pairs, [{"outcome": "graded", "usefulness": 0.75, **WORDS}], turned)
        _machine_answers(
            several, pairs, [{"outcome": "undecided", **WORDS}, {"outcome": "graded", "grade": 0, **WORDS}], turned
        )
        fought = _battles(round_, pairs, turned)
        learnt = {"anchors_right": 0.7, "cuts": [0.0, 0.1]} if turned else {"anchors_right": 0.5, "cuts": [-0.5, 0.5]}
        of = {"run": str(fought.uuid), "models": [MODEL], "anchors": len(pairs), **learnt}
        anchors = [[pair.query.query_id, pair.document.doc_id] for pair in pairs]
        cut = _judge(
            collection, f"battles {round_.pk}", kind="pairwise", parameters=of, inputs={"example_pairs": anchors}
        )
        _machine_answers(cut, pairs, [{**GRADED, "grade": 2}], turned)
        AutoAccept.objects.create(round=round_, judge=first, bound=0.5, model_answered=MODEL)
    return list(collection.judges.filter(name__startswith=NAME).order_by("pk"))


def _judge(collection: Collection, name: str, **fields: Any) -> Judge:
    return Judge.objects.create(collection=collection, name=f"{NAME} {name}", **fields)


def _graded(judge: Judge, round_: Round, pairs: Sequence[Pair], grades: Sequence[int | str], turned: Set[int]) -> None:
    """Calls, calls that were repeated, canaries that were believed, and what came of them."""
    run = JudgeRun.objects.create(
        round=round_,
        judge=judge,
        state="done",
        cap_calls=100,
        calls=99,
        canaries=2,
        audit_share=0.5,
        end_message=PLANTED,
    )
    for place, pair in enumerate(pairs):
        one = grades[place % len(grades)]
        answer = {**GRADED, "grade": one} if isinstance(one, int) else {"outcome": one, **WORDS}
        answer = _other(answer) if pair.pk in turned else answer
        call = _call(run, pair, "pair", **answer)
        if "grade" not in answer:
            _call(run, pair, "repair", **answer)
        else:
            _call(run, pair, "canary", trap="instruction", **{**GRADED, "grade": 0 if pair.pk in turned else 3})
        MachineJudgment.objects.create(judge=judge, pair=pair, call=call, **answer)


def _call(run: JudgeRun, pair: Pair, purpose: str, **fields: Any) -> ModelCall:
    key = hashlib.sha256(f"{run.judge.name} {pair.pk} {purpose}".encode()).hexdigest()
    return ModelCall.objects.create(
        run=run, judge=run.judge, pair=pair, purpose=purpose, key=key, prompt_sha256=key, requested_model=MODEL,
        model_answered=MODEL, tokens_in=7, tokens_out=7, cost_usd=0.01, **fields,
    )  # fmt: skip


def _other(answer: dict[str, Any]) -> dict[str, Any]:
    """What was sure is in doubt, what was graded low is high, what failed has a grade, and one that had fails."""
    if answer.get("grade") == 1:
        return {"outcome": "refused", **WORDS}
    if "usefulness" in answer:
        return {**answer, "usefulness": 1 - answer["usefulness"]}
    return {**GRADED, "grade": 3 - answer.get("grade", 0), "probabilities": {"0": 0.0, "3": 1.0}}


def _machine_answers(judge: Judge, pairs: Sequence[Pair], answers: Sequence[dict[str, Any]], turned: Set[int]) -> None:
    for place, pair in enumerate(pairs):
        answer = answers[place % len(answers)]
        MachineJudgment.objects.create(judge=judge, pair=pair, **(_other(answer) if pair.pk in turned else answer))


def _battles(round_: Round, pairs: Sequence[Pair], turned: Set[int]) -> BattleRun:
    """The first document of each query against every other one, and each of them with planted text."""
    firsts: dict[int, Pair] = {}
    for pair in pairs:
        firsts.setdefault(pair.query_id, pair)
    drawn = [(firsts[pair.query_id], pair) for pair in pairs if pair != firsts[pair.query_id]]
    run = BattleRun.objects.create(
        round=round_,
        number=round_.battle_runs.count() + 1,
        ensemble=[{"provider": str(uuid.uuid4()), "name": NAME, "model": MODEL}],
        inputs={"template": ["pairwise", 1, "", PLANTED], "guidelines": PLANTED, "guidelines_version": 1},
        cycles=1,
        both=0.0,
        seed=1,
        drawn=[[first.pk, pair.pk, False] for first, pair in drawn],
        battles=len(drawn),
        cap_calls=100,
        calls=99,
        canaries=1,
        state=BattleRun.State.DONE,
        end_message=PLANTED,
    )
    for first, pair in drawn:
        shared: dict[str, Any] = {
            "run": run, "a": first, "b": pair, "swapped": False, "key": f"{pair.pk:064}", "prompt_sha256": "",
            "requested_model": MODEL, "model_answered": MODEL, "outcome": "graded", "reason": PLANTED, "raw": PLANTED,
        }  # fmt: skip
        score = -0.9 if {first.pk, pair.pk} & turned else 0.9
        Battle.objects.create(score=score, **shared)
        BattleCanary.objects.create(score=-0.9, trap="instruction", plain=score, **shared)
    return run
