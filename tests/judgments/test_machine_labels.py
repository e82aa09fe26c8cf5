"""Do a machine's grades become labels only where a lead asks for it, no person gave one, and people confirm them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments import auto_accept, few_shot, labels, rounds, snapshots
from judgments.audit_slice import drawn
from judgments.core.errors import Conflict, NotValid
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    """Sixteen queries of six documents; a rater who is handed some of them grades those."""
    return make_round(queries=16, documents=6, raters=[rater], ratings_per_pair=1)


def judged(round_: Any, grade: Any, *, model: str = "m", share: float = 0.5) -> JudgeRun:
    judge, _ = Judge.objects.get_or_create(collection=round_.collection, name="graded-v1 m 12345678", kind="graded")
    run = JudgeRun.objects.create(round=round_, judge=judge, cap_calls=1_000, audit_share=share, seed=7)
    for pair in round_.pairs.select_related("query", "document"):
        word = {"outcome": "graded", "grade": grade(pair)}
        call = ModelCall.objects.create(
            run=run, judge=judge, pair=pair, purpose="pair", key=f"{pair.pk:064}", prompt_sha256="", model_asked=model,
            model_answered=model, **word,
        )  # fmt: skip
        MachineJudgment.objects.create(judge=judge, pair=pair, call=call, **word)
    return run


def inside(run: JudgeRun, pair: Any) -> bool:
    return drawn(run.seed, pair.query.query_id, pair.document.doc_id) < run.audit_share


def settled(round_: Any, **how: Any) -> labels.Settled:
    how = {"rule": "median", "merge": "newest", "sources": ["human"], **how}
    return labels.settle_labels(round_.collection, [round_], **how)


def test_human_else_machine_marks_what_no_person_gave(round_: Any, lead: Any, rater: Any, rate_all: Any) -> None:
    from judgments import assignment
    from tests.world import grade_together

    run = judged(round_, lambda pair: 1)
    batch = assignment.claim_batch(round_, rater=rater, size=5)
    grade_together(round_, rater, {pair.uuid: 3 for pair in batch})
    assert {one.column for one in settled(round_).labels} == {labels.HUMAN}
    found = settled(round_, sources=["human", "machine"], judge=run.judge.name)
    assert sorted({(one.column, one.grade) for one in found.labels}) == [(labels.HUMAN, 3), (labels.MACHINE, 1)]
    assert (len(found.labels), found.by_machine) == (96, 91)
    closed = rounds.close_round(round_, actor=lead)
    how = {"rounds": [closed], "sources": ["human", "machine"], "judge": run.judge.name}
    frozen = snapshots.freeze(round_.collection, name="with", actor=lead, **how)
    plain = snapshots.freeze(round_.collection, name="without", actor=lead, rounds=[closed])
    assert (frozen.manifest["counts"]["by_machine"], "by_machine" in plain.manifest["counts"]) == (91, False)
    assert frozen.manifest["consolidation"]["judge"] == run.judge.name
    rows = [line.split() for line in snapshots.export(frozen, "trec-qrels")[1].decode().splitlines()]
    assert sorted({row[1] for row in rows}) == ["0", "1"]
    # Examples for a model come from people alone.
    assert {row[2] for row in few_shot._human(frozen)} == {3}


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"sources": ["machine"], "judge": "x"}, "sources"),
        ({"sources": ["human", "machine"]}, "judge"),
        ({"sources": ["human", "machine"], "judge": "nobody"}, "judge"),
        ({"sources": ["human"], "judge": "x"}, "sources"),
    ],
)
def test_what_makes_no_sense_is_refused(how: dict[str, Any], field: str, round_: Any) -> None:
    with pytest.raises(NotValid) as refused:
        settled(round_, **how)
    assert field in refused.value.fields


def test_the_lowest_grade_stands_only_while_people_confirm_it(
    round_: Any, lead: Any, rater: Any, rate_all: Any
) -> None:
    run = judged(round_, lambda pair: 0 if pair.document.doc_id.endswith(("-1", "-2", "-3", "-4", "-5")) else 3)
    with pytest.raises(NotValid, match="it takes 30"):
        auto_accept.ask(round_, run.judge, bound=0.9, actor=lead)
    # People judge the slice and no more; they agree with the machine about what is not relevant.
    slice_ = [pair for pair in round_.pairs.select_related("query", "document") if inside(run, pair)]
    lowest = [pair for pair in slice_ if not pair.document.doc_id.endswith("-6")]
    assert len(lowest) >= 30, "the seed draws too few"
    rate_all(round_, rater, lambda pair: 0 if inside(run, pair) and not pair.document.doc_id.endswith("-6") else 2)
    asked = auto_accept.ask(round_, run.judge, bound=0.85, actor=lead)
    assert auto_accept.standing(asked).stands
    with pytest.raises(Conflict):
        auto_accept.ask(round_, run.judge, bound=0.85, actor=lead)
    taken = auto_accept.accepted(round_)
    assert set(taken.values()) == {0}
    outside = {(pair.query.query_id, pair.document.doc_id) for pair in round_.pairs.all() if not inside(run, pair)}
    assert set(taken) == {key for key in outside if not key[1].endswith("-6")}
    # Another model answers: nothing stands any more.
    pair = slice_[0]
    ModelCall.objects.create(
        run=run, judge=run.judge, pair=pair, purpose="repair", key="1" * 64, prompt_sha256="", model_asked="m",
        model_answered="m-2", outcome="graded", grade=0,
    )  # fmt: skip
    assert (auto_accept.standing(asked).stands, auto_accept.accepted(round_)) == (False, {})
    auto_accept.end(asked, actor=lead)
    assert auto_accept.asked_for(round_) is None


def test_a_bound_that_people_do_not_confirm_suspends_it(round_: Any, lead: Any, rater: Any, rate_all: Any) -> None:
    run = judged(round_, lambda pair: 0, share=1.0)
    rate_all(round_, rater, lambda pair: 2 if pair.document.doc_id.endswith("-1") else 0)
    with pytest.raises(NotValid, match=r"below 0\.9"):
        auto_accept.ask(round_, run.judge, bound=0.9, actor=lead)
    assert auto_accept.asked_for(round_) is None
