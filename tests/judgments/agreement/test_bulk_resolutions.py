"""Tests of many resolutions: the label rule over all one-step conflicts, its undo, and resolutions sent twice."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from assay.core.errors import Conflict, NotAllowed, NotFound
from judgments.agreement import bulk_resolutions, conflicts, resolutions
from judgments.guidelines import examples
from judgments.models import Adjudication, AuditRow, Example, Round
from judgments.rating import pair_state, submission
from judgments.snapshots import snapshots

pytestmark = pytest.mark.django_db


@pytest.fixture
def differing(make_round: Any, rater: Any, rater2: Any, rate_all: Any) -> Round:
    """A round of six pairs: one conflict of three steps, four of one step, one agreement."""
    round_ = make_round(raters=[rater, rater2])
    rate_all(round_, rater, grade=lambda pair: {0: 0, 5: 2}.get(pair.position, 1))
    rate_all(round_, rater2, grade=lambda pair: {0: 3, 4: 0}.get(pair.position, 2))
    return round_


def resolved(round_: Round) -> dict[int, int | None]:
    rows = Adjudication.objects.current().filter(pair__round=round_)
    return dict(rows.values_list("pair__position", "grade"))


def is_counted(round_: Round) -> bool:
    """The counters are those that the events give."""
    counted = [tally.graded for tally in pair_state.recount(round_).values() if tally.graded]
    return sorted(counted) == sorted(round_.tallies.exclude(graded=0).values_list("graded", flat=True))


def test_one_act_resolves_the_one_step_conflicts(differing: Round, lead: Any) -> None:
    preview = bulk_resolutions.preview(differing, rule="median", viewer=lead)
    assert (preview.by_grade, preview.undecided, preview.remaining) == ({0: 1, 1: 3}, 0, 0)
    assert not Adjudication.objects.exists()
    act = bulk_resolutions.resolve_by_rule(differing, rule="median", actor=lead)
    assert (act.resolved, act.skipped_resolved, act.skipped_changed) == (4, 0, 0)
    assert resolved(differing) == {1: 1, 2: 1, 3: 1, 4: 0}
    row = AuditRow.objects.get(verb=bulk_resolutions.ACT)
    assert (row.detail["resolved"], row.target_uuid, row.resolutions.count()) == (4, differing.uuid, 4)
    assert conflicts.count_open(differing, viewer=lead).number == 1
    assert is_counted(differing)


def test_an_act_sent_twice_is_done_once(differing: Round, lead: Any) -> None:
    client_id = uuid.uuid4()
    first, second = (
        bulk_resolutions.resolve_by_rule(differing, rule="max", actor=lead, client_id=client_id) for _ in range(2)
    )
    assert first == second
    assert Adjudication.objects.count() == 4
    # Without the id nothing is left to do, and no second act is recorded.
    with pytest.raises(Conflict):
        bulk_resolutions.resolve_by_rule(differing, rule="max", actor=lead)
    assert AuditRow.objects.filter(verb=bulk_resolutions.ACT).count() == 1


def test_what_changed_after_the_preview_is_skipped_and_counted(
    differing: Round, lead: Any, lead2: Any, rater: Any, answer: Any
) -> None:
    at = bulk_resolutions.preview(differing, rule="median", viewer=lead).previewed_at
    by_hand = resolutions.resolve(differing.pairs.get(position=1), grade=3, actor=lead2, reason="Both read half.")
    mine = differing.pairs.get(position=2).judgments.get(rater=rater)
    submission.undo(differing, mine.client_id, rater=rater)
    answer(differing, rater, differing.pairs.get(position=2), 3)
    act = bulk_resolutions.resolve_by_rule(differing, rule="median", actor=lead, previewed_at=at)
    assert (act.resolved, act.skipped_resolved, act.skipped_changed) == (2, 1, 1)
    assert resolved(differing) == {1: 3, 3: 1, 4: 0}
    assert Adjudication.objects.current().get(pair__position=1) == by_hand


def test_ties_of_the_rule_stay_open(differing: Round, lead: Any) -> None:
    preview = bulk_resolutions.preview(differing, rule="majority", viewer=lead)
    assert (preview.count, preview.undecided) == (0, 4)
    with pytest.raises(Conflict):
        bulk_resolutions.resolve_by_rule(differing, rule="majority", actor=lead)
    assert not AuditRow.objects.filter(verb=bulk_resolutions.ACT).exists()


def test_an_act_is_undone_as_one_act_without_what_changed_by_hand(differing: Round, lead: Any, lead2: Any) -> None:
    act = bulk_resolutions.resolve_by_rule(differing, rule="median", actor=lead)
    resolutions.resolve(differing.pairs.get(position=1), grade=3, actor=lead, reason="Half of it.")
    first, second = (bulk_resolutions.undo(differing, act.row.uuid, actor=lead2) for _ in range(2))
    assert first == second
    assert (first.detail["undone"], first.detail["kept"]) == (3, 1)
    assert resolved(differing) == {1: 3}
    assert first.resolutions.count() == 3
    # Events stay: four resolutions, one by hand, three that undo.
    assert Adjudication.objects.count() == 8
    assert [pair.position for pair in differing.pairs.filter(resolved=True)] == [1]
    assert is_counted(differing)
    again = bulk_resolutions.resolve_by_rule(differing, rule="max", actor=lead)
    assert again.resolved == 3
    assert resolved(differing) == {1: 3, 2: 2, 3: 2, 4: 1}


def test_frozen_labels_are_not_undone(differing: Round, lead: Any) -> None:
    act = bulk_resolutions.resolve_by_rule(differing, rule="median", actor=lead)
    alone = resolutions.resolve(differing.pairs.get(position=0), grade=1, actor=lead, reason="So.")
    Round.objects.filter(pk=differing.pk).update(state=Round.State.CLOSED)
    differing.refresh_from_db()
    snapshots.freeze(differing.collection, name="one", rounds=[differing], actor=lead, override_reason="A test.")
    with pytest.raises(Conflict, match="frozen"):
        bulk_resolutions.undo(differing, act.row.uuid, actor=lead)
    with pytest.raises(Conflict, match="frozen"):
        resolutions.undo(differing, alone.uuid, actor=lead)
    assert len(resolved(differing)) == 5


def test_an_undone_resolution_is_no_label(differing: Round, lead: Any) -> None:
    pair = differing.pairs.get(position=0)
    settled = resolutions.resolve(pair, grade=1, actor=lead, reason="So.")
    examples.propose(settled, actor=lead)
    first, second = (resolutions.undo(differing, settled.uuid, actor=lead) for _ in range(2))
    assert first == second
    assert (first.supersedes, first.grade) == (settled, None)
    assert resolved(differing) == {}
    assert not Example.objects.exists()
    assert conflicts.settled_as(conflicts.with_details(differing.pairs.filter(pk=pair.pk)).get()) is None
    assert conflicts.count_open(differing, viewer=lead).number == 5
    assert resolutions.resolve(pair, grade=2, actor=lead, reason="Or so.", replace=False).supersedes == first


def test_only_the_own_newest_resolution_is_undone(differing: Round, lead: Any, lead2: Any) -> None:
    pair = differing.pairs.get(position=0)
    settled = resolutions.resolve(pair, grade=1, actor=lead, reason="So.")
    with pytest.raises(NotFound):
        resolutions.undo(differing, settled.uuid, actor=lead2)
    resolutions.resolve(pair, grade=2, actor=lead2, reason="No.")
    with pytest.raises(Conflict):
        resolutions.undo(differing, settled.uuid, actor=lead)
    assert resolved(differing) == {0: 2}


def test_a_rule_over_all_pairs_is_refused_to_leads_who_may_still_grade(
    make_round: Any, rater: Any, rater2: Any, lead: Any, rate_all: Any
) -> None:
    round_ = make_round(raters=[lead, rater, rater2], ratings_per_pair=3)
    rate_all(round_, rater, grade=1)
    rate_all(round_, rater2, grade=2)
    with pytest.raises(NotAllowed):
        bulk_resolutions.preview(round_, rule="dawid-skene", viewer=lead)
    assert bulk_resolutions.preview(round_, rule="median", viewer=lead).count == 0


# --- The API.


def post(api_of: Any, user: Any, path: str, body: Any = None) -> Any:
    return api_of(user).post(path, body or {}, format="json")


def test_resolutions_are_recorded_once_and_replace_nothing(
    api_of: Any, differing: Round, lead: Any, lead2: Any
) -> None:
    path = f"/api/v1/rounds/{differing.uuid}/resolutions/"
    pairs = {pair.position: str(pair.uuid) for pair in differing.pairs.all()}
    one = {"client_id": str(uuid.uuid4()), "pair": pairs[0], "grade": 1, "cause": "slip"}
    bad = {"client_id": str(uuid.uuid4()), "pair": pairs[1], "grade": 9, "reason": "x"}
    for _ in range(2):
        results = post(api_of, lead, path, [one, bad]).json()["results"]
        assert [row["status"] for row in results] == [201, 400]
    assert Adjudication.objects.get().reason == "A rater made a mistake"
    late = {"client_id": str(uuid.uuid4()), "pair": pairs[0], "grade": 2, "reason": "x"}
    assert [row["status"] for row in post(api_of, lead2, path, [late, "?"]).json()["results"]] == [409, 400]
    stolen = {**one, "pair": pairs[1]}
    assert post(api_of, lead, path, [stolen]).json()["results"][0]["status"] == 409
    assert post(api_of, lead2, path, [{**late, "replace": True}]).json()["results"][0]["status"] == 201
    assert resolved(differing) == {0: 2}
    undo = f"{path}{late['client_id']}/undo/"
    assert [post(api_of, lead2, undo).status_code for _ in range(2)] == [200, 200]
    assert post(api_of, lead, f"{path}{one['client_id']}/undo/").status_code == 409
    assert post(api_of, lead, f"{path}{uuid.uuid4()}/undo/").status_code == 404


def test_api_resolves_by_rule_and_undoes_it(api_of: Any, differing: Round, lead: Any) -> None:
    path = f"/api/v1/rounds/{differing.uuid}/conflicts/by-rule/"
    shown = api_of(lead).get(f"{path}?rule=max").json()
    assert (shown["count"], shown["by_grade"]) == (4, {"1": 1, "2": 3})
    sent = {"rule": "max", "previewed_at": shown["previewed_at"], "reason": "The better grade."}
    act = post(api_of, lead, path, sent)
    assert (act.status_code, act.json()["resolved_pairs"], act.json()["reason"]) == (201, 4, "The better grade.")
    assert post(api_of, lead, path, sent).status_code == 409
    undone = post(api_of, lead, f"{path}{act.json()['id']}/undo/").json()
    assert undone == {"id": act.json()["id"], "undone": 4, "kept": 0}
    assert api_of(lead).get(f"{path}?rule=mood").status_code == 400


def test_stored_rows_of_another_user_are_refused(api_of: Any, differing: Round, lead: Any, lead2: Any) -> None:
    path = f"/api/v1/rounds/{differing.uuid}/resolutions/"
    answer = api_of(lead).post(path, [], format="json", headers={"X-Assay-Rater": str(lead2.uuid)})
    assert answer.status_code == 401


def test_a_preview_from_the_future_is_a_preview_of_now(differing: Round, lead: Any) -> None:
    at = timezone.now() + timedelta(days=1)
    assert bulk_resolutions.resolve_by_rule(differing, rule="median", actor=lead, previewed_at=at).resolved == 4
