"""Tests of ratings requested after a conflict: they are left out of agreement and rater checks."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.urls import reverse

from judgments.agreement import agreement_summary, resolutions, round_report
from judgments.labels.round_labels import label, read_rounds
from judgments.models import Judgment, Pair, Round, RoundReport
from judgments.progress import progress
from judgments.quality import checks, pausing
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from judgments.rounds.settings import RoundSettings

pytestmark = pytest.mark.django_db

PARTS = ("agreement", "by_tier", "by_query", "without")


def first(pair: Pair) -> int:
    return pair.position % 4


def second(pair: Pair) -> int:
    """As the first, but for every third pair, which is two or three steps off."""
    return (0, 3)[first(pair) < 2] if pair.position % 3 == 0 else first(pair)


@pytest.fixture
def planned(make_round: Callable[..., Round], rate_all: Callable[..., int], rater: Any, rater2: Any) -> Round:
    """All planned grades are in, and ten pairs wait for somebody else."""
    settings = RoundSettings(extra_at=2)
    made = make_round(raters=[rater, rater2], queries=6, documents=5, settings=settings)
    rate_all(made, rater, grade=first)
    rate_all(made, rater2, grade=second)
    return made


@pytest.fixture
def called(planned: Round, rate_all: Callable[..., int], rater3: Any, lead: Any) -> Callable[[], int]:
    """Let a third rater give all that was called in: how many grades that is."""

    def rate() -> int:
        rounds.invite(planned, [rater3], actor=lead)
        return rate_all(planned, rater3, grade=lambda pair: 1)

    return rate


def test_the_report_is_that_of_the_planned_grades(planned: Round, called: Callable[[], int]) -> None:
    before = round_report.exact(planned)
    assert before["called_in"] == 0
    assert called() == 10
    after = round_report.exact(planned)
    assert after["called_in"] == 10
    assert {part: after[part] for part in PARTS} == {part: before[part] for part in PARTS}
    assert after["agreement"]["coefficients"]["fleiss"]["value"] is not None
    assert [after["agreement"][name] for name in ("raters", "pairs", "overlap")] == [2, 30, 30]


def test_raters_of_other_rounds_count_the_planned_grades_too(
    planned: Round, called: Callable[[], int], engineer: Any
) -> None:
    before = agreement_summary.grade_pairs(planned, viewer=engineer)
    called()
    assert agreement_summary.grade_pairs(planned, viewer=engineer) == before
    assert sum(before.values()) == 30


def test_ratings_in_planned_slots_count_afterwards(
    planned: Round,
    called: Callable[[], int],
    rate_all: Callable[..., int],
    make_user: Callable[..., Any],
    lead: Any,
    rater: Any,
    rater3: Any,
) -> None:
    """The places tell: who was set aside is followed in the plan by somebody else, and what was called in stays so."""
    called()
    pausing.requeue(planned.raters.get(user=rater), reason="Too quick.", actor=lead)
    report = round_report.exact(planned)
    assert (report["agreement"]["overlap"], report["called_in"]) == (0, 10)
    # What a called-in rater sends anew is called in still.
    own = Judgment.objects.counted().filter(rater=rater3).first()
    submission.undo(planned, own.client_id, rater=rater3)
    rate_all(planned, rater3, grade=2)
    report = round_report.exact(planned)
    called_in = Judgment.objects.counted().of_round(planned).called_in()
    assert report["called_in"] == called_in.count() > 0
    assert set(called_in.values_list("rater", flat=True)) == {rater3.pk}


def test_page_files_and_api_say_how_many_were_left_out(
    planned: Round, called: Callable[[], int], client_of: Any, api_of: Any, engineer: Any
) -> None:
    address = reverse("round_agreement", args=[planned.uuid])
    assert "not counted, because" not in client_of(engineer).get(address).content.decode()
    called()
    html = " ".join(client_of(engineer).get(address).content.decode().split())
    assert "10 extra ratings are not counted" in html
    assert client_of(engineer).get(f"{address}?format=json").json()["called_in"] == 10
    assert api_of(engineer).get(f"/api/v1/rounds/{planned.uuid}/agreement/").json()["called_in"] == 10


def test_a_report_from_before_is_made_anew(planned: Round) -> None:
    report = round_report.exact(planned)
    old = {name: part for name, part in report.items() if name != "called_in"}
    RoundReport.objects.filter(round=planned).update(report={**old, "agreement": {}})
    for read in (round_report.exact(planned), round_report.look(planned).report):
        assert read["agreement"] == report["agreement"]


def test_checks_ignore_extra_ratings(planned: Round, called: Callable[[], int]) -> None:
    before = checks.record(planned)
    called()
    after = checks.record(planned)
    assert len(after.rater) == 70
    for one, other in zip(before.twos, after.twos, strict=True):
        assert np.array_equal(before.grade[one], after.grade[other])
    assert after.counts.tolist().count(10) == 1


def apart(round_: Round, answer: Callable[..., Any], raters: list[Any]) -> Pair:
    """Two raters three steps apart, so that a third is called in."""
    for user in raters:
        assignment.claim_batch(round_, rater=user)
    pair = round_.pairs.get()
    for user, grade in zip(raters, (0, 3), strict=True):
        answer(round_, user, pair, grade)
    return pair


@pytest.fixture
def one_pair(make_round: Callable[..., Round], rater: Any, rater2: Any, rater3: Any) -> Round:
    return make_round(queries=1, documents=1, raters=[rater, rater2, rater3], settings=RoundSettings(extra_at=2))


def test_resolved_pairs_are_not_assigned_again(
    one_pair: Round, answer: Callable[..., Any], rater: Any, rater2: Any, rater3: Any, lead: Any
) -> None:
    pair = apart(one_pair, answer, [rater, rater2])
    assert assignment.remaining(one_pair, rater3) == 1
    resolutions.resolve(pair, grade=2, reason="Half of it.", actor=lead)
    assert assignment.claim_batch(one_pair, rater=rater3) == []
    assert assignment.remaining(one_pair, rater3) == 0
    counts = progress.progress(Round.objects.get(pk=one_pair.pk))
    assert (counts.wanted, counts.filled, counts.called_in, counts.left) == (2, 2, 0, 0)
    # A change of mind that lets grades lie as far apart as before calls in nobody.
    answer(one_pair, rater, pair, 1)
    answer(one_pair, rater, pair, 0)
    assert (pair.slots.count(), assignment.remaining(one_pair, rater3)) == (2, 0)


def test_an_answer_in_transit_during_resolution_is_stored(
    one_pair: Round, answer: Callable[..., Any], client_of: Any, rater: Any, rater2: Any, rater3: Any, lead: Any
) -> None:
    pair = apart(one_pair, answer, [rater, rater2])
    assert assignment.claim_batch(one_pair, rater=rater3) == [pair]
    before = round_report.exact(one_pair)["agreement"]
    resolutions.resolve(pair, grade=2, reason="Half of it.", actor=lead)
    assert not pair.slots.filter(rater=rater3).exists()
    # The station of who has the document before them says what became of the answer.
    form_data = {"client_id": str(uuid.uuid4()), "pair": str(pair.uuid), "grade": "1"}
    response = client_of(rater3).post(reverse("rate", args=[one_pair.uuid]), form_data, follow=True)
    assert "The pair already had all its ratings." in response.content.decode()
    given = Judgment.objects.get(rater=rater3)
    assert (given.grade, given.surplus) == (1, True)
    assert round_report.exact(one_pair)["agreement"] == before
    (read,) = read_rounds([one_pair])
    assert list(label(read, "median").labels.values()) == [2]


def test_a_planned_slot_stays_when_a_pair_is_resolved_early(
    make_round: Callable[..., Round], answer: Callable[..., Any], rater: Any, rater2: Any, rater3: Any, lead: Any
) -> None:
    settings = RoundSettings(ratings_per_pair=3, extra_at=2)
    made = make_round(queries=1, documents=1, raters=[rater, rater2, rater3], settings=settings)
    pair = apart(made, answer, [rater, rater2])
    resolutions.resolve(pair, grade=2, reason="Half of it.", actor=lead)
    assert assignment.claim_batch(made, rater=rater3) == [pair]
    answer(made, rater3, pair, 0)
    assert pair.slots.count() == 3
