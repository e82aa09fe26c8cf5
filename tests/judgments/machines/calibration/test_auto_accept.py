"""Tests of auto-accept: a lead requests it, people confirm it, and it saves ratings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid
from judgments.machines.calibration import auto_accept, calibration
from judgments.models import AuditRow, AutoAccept, ModelCall, Round
from judgments.rounds import rounds
from tests.cached_rows import cached_fixture
from tests.judgments.machines.calibration.audit_example import grade_of, inside, judged_by, pairs_of, slice_rated
from tests.test_hidden_machine_grades import CHANGING

pytestmark = pytest.mark.django_db


@pytest.fixture
@cached_fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    """Sixteen queries of six documents, one rater."""
    return make_round(queries=16, documents=6, raters=[rater], ratings_per_pair=1)


@pytest.fixture
def accept(round_: Any, lead: Any, rater: Any, rate_slice: Any) -> AutoAccept:
    """What stands: people confirm the whole slice and have judged nothing else."""
    run = judged_by(round_, grade_of)
    rate_slice(run, grade_of)
    return auto_accept.activate(round_, run.judge, bound=0.8, actor=lead)


@pytest.fixture
def rate_slice(lead: Any, rater: Any, rate_all: Any) -> Any:
    return slice_rated(lead, rater, rate_all)


def test_auto_accept_holds_only_while_people_confirm_it(round_: Any, lead: Any, rate_slice: Any) -> None:
    run = judged_by(round_, grade_of)
    with pytest.raises(NotValid, match="30 are needed"):
        auto_accept.activate(round_, run.judge, bound=0.8, actor=lead)
    assert not AutoAccept.objects.exists()
    rate_slice(run, grade_of)
    accept = auto_accept.activate(round_, run.judge, bound=0.8, actor=lead)
    status = auto_accept.status_of(accept)
    assert (status.stands, status.confirmed.population) == (True, 80)
    assert (status.confirmed.right, status.confirmed.whole) == (status.confirmed.sampled, True)
    with pytest.raises(Conflict):
        auto_accept.activate(round_, run.judge, bound=0.8, actor=lead)
    taken = auto_accept.accepted_grades(round_)
    assert set(taken.values()) == {0}
    outside = {(pair.query.query_id, pair.document.doc_id) for pair in pairs_of(round_) if not inside(run, pair)}
    assert set(taken) == {key for key in outside if not key[1].endswith("-6")}
    auto_accept.deactivate(accept, actor=lead)
    assert auto_accept.active_accept(round_) is None


def test_unjudged_pairs_count_against_auto_accept(round_: Any, lead: Any, rate_slice: Any) -> None:
    run = judged_by(round_, grade_of)
    rate_slice(run, grade_of, most=40)
    with pytest.raises(NotValid, match="are not judged yet and count against it"):
        auto_accept.activate(round_, run.judge, bound=0.8, actor=lead)
    # It is told before all of it is there, so this was no look at it.
    assert not AutoAccept.objects.exists()


def test_a_bound_that_people_do_not_confirm_is_refused_and_on_record(round_: Any, lead: Any, rate_slice: Any) -> None:
    run = judged_by(round_, grade_of)
    rate_slice(run, lambda pair: 2 if pair.document.doc_id.endswith("-1") else grade_of(pair))
    with pytest.raises(NotValid, match="below the bound of 80%"):
        auto_accept.activate(round_, run.judge, bound=0.8, actor=lead)
    assert auto_accept.active_accept(round_) is None
    assert AutoAccept.objects.filter(ended_at__isnull=False).count() == 1
    assert AuditRow.objects.filter(verb="auto_accept.ask", sentence__contains="failed to accept").count() == 1


def test_each_further_ask_and_each_further_judge_has_to_clear_more(round_: Any, lead: Any, rate_slice: Any) -> None:
    first, second = judged_by(round_, grade_of), judged_by(round_, grade_of, name="second")
    rate_slice(first, grade_of)
    lows = []
    for judge in (first.judge, first.judge, first.judge, second.judge):
        accept = auto_accept.activate(round_, judge, bound=0.6, actor=lead)
        lows.append(auto_accept.status_of(accept).confirmed.low)
        auto_accept.deactivate(accept, actor=lead)
    assert lows[0] >= lows[1] >= lows[2] > 0.6
    assert lows[0] > max(lows[2:])


def test_another_model_or_more_grades_suspend_it(accept: AutoAccept, lead: Any) -> None:
    pair = accept.round.pairs.first()
    run = accept.judge.runs.get()
    AutoAccept.objects.filter(pk=accept.pk).update(created_at=accept.judge.judgments.first().created_at)
    accept.refresh_from_db()
    assert "more times since" in auto_accept.status_of(accept).why
    assert auto_accept.accepted_grades(accept.round) == {}
    AutoAccept.objects.filter(pk=accept.pk).update(created_at=accept.judge.judgments.last().created_at)
    accept.refresh_from_db()
    assert auto_accept.status_of(accept).stands
    ModelCall.objects.create(
        run=run, judge=run.judge, pair=pair, purpose="repair", key="1" * 64, prompt_sha256="", requested_model="m",
        model_answered="m-2", outcome="graded", grade=0,
    )  # fmt: skip
    assert (auto_accept.status_of(accept).stands, auto_accept.accepted_grades(accept.round)) == (False, {})


def test_all_in_the_slice_leaves_nothing_to_accept(round_: Any, lead: Any, rater: Any, rate_all: Any) -> None:
    run = judged_by(round_, grade_of, share=1.0)
    rate_all(round_, rater, grade_of)
    with pytest.raises(NotValid, match="nothing to accept"):
        auto_accept.activate(round_, run.judge, bound=0.9, actor=lead)


def test_a_draft_is_made_without_them(accept: AutoAccept, lead: Any, rater: Any, rate_all: Any) -> None:
    round_, stand = accept.round, auto_accept.accepted_grades(accept.round)
    made = auto_accept.draft_round(round_, actor=lead)
    keys = {(pair.query.query_id, pair.document.doc_id) for pair in pairs_of(made)}
    everything = {(pair.query.query_id, pair.document.doc_id) for pair in pairs_of(round_)}
    assert (made.state, keys & set(stand)) == (Round.State.DRAFT, set())
    assert keys == everything - set(stand) - set(calibration.labels_of(round_))
    assert made.provenance["auto_accept"]["left_out"] == len(stand)
    # People's work is what is left: every pair of the round is either judged by them, in the draft, or stands.
    made = rounds.open_round(made, actor=lead)
    assert rate_all(made, rater, grade_of) == len(keys)
    assert set(calibration.labels_of(round_)) | set(stand) == everything


def test_the_draft_contains_the_audit_slice_for_every_machine_grade(
    round_: Any, lead: Any, rate_slice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = judged_by(round_, grade_of)
    monkeypatch.setattr(auto_accept, "LEAST", 10)
    rate_slice(run, grade_of, most=45)
    auto_accept.activate(round_, run.judge, bound=0.5, actor=lead)
    made = auto_accept.draft_round(round_, actor=lead)
    missing = [pair for pair in pairs_of(round_) if inside(run, pair)][45:]
    drafted = set(made.pairs.values_list("query__query_id", "document__doc_id"))
    assert missing
    assert {(pair.query.query_id, pair.document.doc_id) for pair in missing} <= drafted


def test_leads_who_rate_cannot_create_the_draft_or_rate_in_it(
    make_round: Any, lead: Any, lead2: Any, rater: Any, rate_slice: Any
) -> None:
    round_ = make_round(queries=16, documents=6, raters=[rater, lead2], ratings_per_pair=1)
    run = judged_by(round_, grade_of)
    rate_slice(run, grade_of)
    auto_accept.activate(round_, run.judge, bound=0.7, actor=lead)
    with pytest.raises(Conflict, match="omitted pairs"):
        auto_accept.draft_round(round_, actor=lead2)
    made = auto_accept.draft_round(round_, actor=lead)
    assert set(made.raters.values_list("user__username", flat=True)) == {rater.username}


def test_without_auto_accept_no_pair_is_left_out(round_: Any, lead: Any) -> None:
    with pytest.raises(Conflict, match="no pair can be left out"):
        auto_accept.draft_round(round_, actor=lead)


def test_nothing_that_a_rater_reaches_changes(
    round_: Any, lead: Any, rater: Any, client_of: Any, rate_slice: Any, rate_all: Any
) -> None:
    """Neither what stands nor the draft without it: their round hands out every pair as before."""
    run = judged_by(round_, grade_of)
    rate_slice(run, grade_of)
    client, places = client_of(rater), ("/", f"/rounds/{round_.uuid}/judge/", "/api/v1/collections/")
    before = [CHANGING.sub(b"", client.get(place).content) for place in places]
    auto_accept.activate(round_, run.judge, bound=0.8, actor=lead)
    assert auto_accept.draft_round(round_, actor=lead).state == Round.State.DRAFT
    assert [CHANGING.sub(b"", client.get(place).content) for place in places] == before
    assert rate_all(round_, rater, grade_of) == round_.pairs.count()
