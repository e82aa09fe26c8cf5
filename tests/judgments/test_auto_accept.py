"""Tests of auto-accept: a lead requests it, people confirm it, and it saves ratings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments import auto_accept, judged, rounds
from judgments.core.errors import Conflict, NotValid
from judgments.models import AuditRow, AutoAccept, ModelCall, Round
from tests.judgments.slice_rated import inside, judged_by, pairs_of, said, slice_rated
from tests.test_blind_to_machines import CHANGING

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    """Sixteen queries of six documents, one rater."""
    return make_round(queries=16, documents=6, raters=[rater], ratings_per_pair=1)


@pytest.fixture
def asked(round_: Any, lead: Any, rater: Any, rate_slice: Any) -> AutoAccept:
    """What stands: people confirm the whole slice and have judged nothing else."""
    run = judged_by(round_, said)
    rate_slice(run, said)
    return auto_accept.ask(round_, run.judge, bound=0.8, actor=lead)


@pytest.fixture
def rate_slice(lead: Any, rater: Any, rate_all: Any) -> Any:
    return slice_rated(lead, rater, rate_all)


def test_it_stands_only_while_people_confirm_it(round_: Any, lead: Any, rate_slice: Any) -> None:
    run = judged_by(round_, said)
    with pytest.raises(NotValid, match="it takes 30"):
        auto_accept.ask(round_, run.judge, bound=0.8, actor=lead)
    assert not AutoAccept.objects.exists()
    rate_slice(run, said)
    asked = auto_accept.ask(round_, run.judge, bound=0.8, actor=lead)
    found = auto_accept.standing(asked)
    assert (found.stands, found.confirmed.population) == (True, 80)
    assert (found.confirmed.right, found.confirmed.whole) == (found.confirmed.sampled, True)
    with pytest.raises(Conflict):
        auto_accept.ask(round_, run.judge, bound=0.8, actor=lead)
    taken = auto_accept.accepted(round_)
    assert set(taken.values()) == {0}
    outside = {(pair.query.query_id, pair.document.doc_id) for pair in pairs_of(round_) if not inside(run, pair)}
    assert set(taken) == {key for key in outside if not key[1].endswith("-6")}
    auto_accept.end(asked, actor=lead)
    assert auto_accept.asked_for(round_) is None


def test_what_people_have_not_judged_counts_against_it(round_: Any, lead: Any, rate_slice: Any) -> None:
    run = judged_by(round_, said)
    rate_slice(run, said, most=40)
    with pytest.raises(NotValid, match="are not judged yet and count against it"):
        auto_accept.ask(round_, run.judge, bound=0.8, actor=lead)
    # It is told before all of it is there, so this was no look at it.
    assert not AutoAccept.objects.exists()


def test_a_bound_that_people_do_not_confirm_is_refused_and_on_record(round_: Any, lead: Any, rate_slice: Any) -> None:
    run = judged_by(round_, said)
    rate_slice(run, lambda pair: 2 if pair.document.doc_id.endswith("-1") else said(pair))
    with pytest.raises(NotValid, match=r"below 0\.8"):
        auto_accept.ask(round_, run.judge, bound=0.8, actor=lead)
    assert auto_accept.asked_for(round_) is None
    assert AutoAccept.objects.filter(ended_at__isnull=False).count() == 1
    assert AuditRow.objects.filter(verb="auto_accept.ask", sentence__contains="in vain").count() == 1


def test_each_further_ask_and_each_further_judge_has_to_clear_more(round_: Any, lead: Any, rate_slice: Any) -> None:
    first, second = judged_by(round_, said), judged_by(round_, said, name="second")
    rate_slice(first, said)
    lows = []
    for judge in (first.judge, first.judge, first.judge, second.judge):
        asked = auto_accept.ask(round_, judge, bound=0.6, actor=lead)
        lows.append(auto_accept.standing(asked).confirmed.low)
        auto_accept.end(asked, actor=lead)
    assert lows[0] >= lows[1] >= lows[2] > 0.6
    assert lows[0] > max(lows[2:])


def test_another_model_or_more_grades_suspend_it(asked: AutoAccept, lead: Any) -> None:
    pair = asked.round.pairs.first()
    run = asked.judge.runs.get()
    AutoAccept.objects.filter(pk=asked.pk).update(created_at=asked.judge.judgments.first().created_at)
    asked.refresh_from_db()
    assert "more of these grades since" in auto_accept.standing(asked).why
    assert auto_accept.accepted(asked.round) == {}
    AutoAccept.objects.filter(pk=asked.pk).update(created_at=asked.judge.judgments.last().created_at)
    asked.refresh_from_db()
    assert auto_accept.standing(asked).stands
    ModelCall.objects.create(
        run=run, judge=run.judge, pair=pair, purpose="repair", key="1" * 64, prompt_sha256="", model_asked="m",
        model_answered="m-2", outcome="graded", grade=0,
    )  # fmt: skip
    assert (auto_accept.standing(asked).stands, auto_accept.accepted(asked.round)) == (False, {})


def test_all_in_the_slice_leaves_nothing_to_accept(round_: Any, lead: Any, rater: Any, rate_all: Any) -> None:
    run = judged_by(round_, said, share=1.0)
    rate_all(round_, rater, said)
    with pytest.raises(NotValid, match="nothing to accept"):
        auto_accept.ask(round_, run.judge, bound=0.9, actor=lead)


def test_a_draft_is_made_without_them(asked: AutoAccept, lead: Any, rater: Any, rate_all: Any) -> None:
    round_, stand = asked.round, auto_accept.accepted(asked.round)
    made = auto_accept.draft_round(round_, actor=lead)
    keys = {(pair.query.query_id, pair.document.doc_id) for pair in pairs_of(made)}
    everything = {(pair.query.query_id, pair.document.doc_id) for pair in pairs_of(round_)}
    assert (made.state, keys & set(stand)) == (Round.State.DRAFT, set())
    assert keys == everything - set(stand) - set(judged.labels_of(round_))
    assert made.provenance["auto_accept"]["left_out"] == len(stand)
    # People's work is what is left: every pair of the round is either judged by them, in the draft, or stands.
    made = rounds.open_round(made, actor=lead)
    assert rate_all(made, rater, said) == len(keys)
    assert set(judged.labels_of(round_)) | set(stand) == everything


def test_the_audit_slice_is_in_it_whatever_the_machine_said(
    round_: Any, lead: Any, rate_slice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = judged_by(round_, said)
    monkeypatch.setattr(auto_accept, "LEAST", 10)
    rate_slice(run, said, most=45)
    auto_accept.ask(round_, run.judge, bound=0.5, actor=lead)
    made = auto_accept.draft_round(round_, actor=lead)
    missing = [pair for pair in pairs_of(round_) if inside(run, pair)][45:]
    drafted = set(made.pairs.values_list("query__query_id", "document__doc_id"))
    assert missing
    assert {(pair.query.query_id, pair.document.doc_id) for pair in missing} <= drafted


def test_who_rates_makes_no_such_draft_and_is_asked_for_none(
    make_round: Any, lead: Any, rater: Any, make_user: Any, collection: Any, rate_slice: Any
) -> None:
    from judgments.models import Membership, Role

    other = make_user("lola")
    Membership.objects.create(collection=collection, user=other, role=Role.LEAD)
    round_ = make_round(queries=16, documents=6, raters=[rater, other], ratings_per_pair=1)
    run = judged_by(round_, said)
    rate_slice(run, said)
    auto_accept.ask(round_, run.judge, bound=0.7, actor=lead)
    with pytest.raises(Conflict, match="You rate in this round"):
        auto_accept.draft_round(round_, actor=other)
    made = auto_accept.draft_round(round_, actor=lead)
    assert set(made.raters.values_list("user__username", flat=True)) == {rater.username}


def test_nothing_stands_nothing_is_left_out(round_: Any, lead: Any) -> None:
    with pytest.raises(Conflict, match="nothing to leave out"):
        auto_accept.draft_round(round_, actor=lead)


def test_nothing_that_a_rater_reaches_changes(
    round_: Any, lead: Any, rater: Any, client_of: Any, rate_slice: Any, rate_all: Any
) -> None:
    """Neither what stands nor the draft without it: their round hands out every pair as before."""
    run = judged_by(round_, said)
    rate_slice(run, said)
    client, places = client_of(rater), ("/", f"/rounds/{round_.uuid}/judge/", "/api/v1/collections/")
    before = [CHANGING.sub(b"", client.get(place).content) for place in places]
    auto_accept.ask(round_, run.judge, bound=0.8, actor=lead)
    assert auto_accept.draft_round(round_, actor=lead).state == Round.State.DRAFT
    assert [CHANGING.sub(b"", client.get(place).content) for place in places] == before
    assert rate_all(round_, rater, said) == round_.pairs.count()
