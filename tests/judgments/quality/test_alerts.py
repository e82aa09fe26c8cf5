"""Tests of reviewed alerts: silent after a lead's note, raised again when the numbers grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid
from assay.quality.check import Numbers, Side, grown
from judgments.models import AuditRow, Round
from judgments.quality import checks
from judgments.rating import assignment
from tests.cached_rows import cached_fixture
from tests.world import pseudonym

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


@pytest.fixture
@cached_fixture
def round_(make_round: Make, rater: Any, rater2: Any, rate_all: Make, answer: Make) -> Round:
    """Rosa grades by the document; Rudi gave 3 to all of the first 40 pairs, and 80 more wait for him."""
    made = make_round(queries=24, documents=5, raters=[rater, rater2])
    rate_all(made, rater, lambda pair: pair.position % 3)
    go_on(made, rater2, answer, 40)
    return made


def go_on(round_: Round, rater: Any, answer: Make, number: int, grade: Any = lambda pair: 3) -> None:
    while number:
        batch = assignment.claim_batch(round_, rater=rater, size=min(number, 20))
        for pair in batch:
            answer(round_, rater, pair, grade(pair))
        number -= len(batch)


def report(round_: Round, rater: Any, lead: Any) -> Any:
    return next(one for one in checks.look(round_, viewer=lead).reports if one.round_rater.user_id == rater.pk)


def look(round_: Round, rater: Any, lead: Any, check: str = "same-grade", note: str = "All tents.") -> None:
    result = report(round_, rater, lead)
    checks.acknowledge(result.round_rater, result.findings[check], graded=result.graded, note=note, actor=lead)


def rings(round_: Round, rater: Any, lead: Any) -> bool:
    return "same-grade" in [one.check for one in report(round_, rater, lead).alarms]


def test_it_is_quiet_until_as_much_again_is_graded(round_: Round, rater2: Any, lead: Any, answer: Make) -> None:
    assert rings(round_, rater2, lead)
    look(round_, rater2, lead)
    assert not rings(round_, rater2, lead)
    assert [one.check for one in report(round_, rater2, lead).quieted if one.check == "same-grade"]
    go_on(round_, rater2, answer, 39)
    assert not rings(round_, rater2, lead)
    go_on(round_, rater2, answer, 1)
    assert rings(round_, rater2, lead)
    look(round_, rater2, lead, note="Still tents.")
    assert not rings(round_, rater2, lead), "the newest look counts"


def test_an_alert_note_is_audited_and_can_be_withdrawn(round_: Round, rater2: Any, lead: Any) -> None:
    look(round_, rater2, lead)
    row = AuditRow.objects.get(verb="alarms.look_at")
    assert (row.actor, row.target_uuid, row.detail["note"]) == (lead, round_.uuid, "All tents.")
    assert (row.detail["numbers"]["graded"], row.detail["numbers"]["value"]) == (40, 1.0)
    assert "tents" not in row.sentence
    checks.undo_acknowledgment(report(round_, rater2, lead).round_rater, "same-grade", actor=lead)
    assert rings(round_, rater2, lead)
    with pytest.raises(Conflict):
        checks.undo_acknowledgment(report(round_, rater2, lead).round_rater, "same-grade", actor=lead)


def test_inactive_alerts_and_empty_notes_are_refused(round_: Round, rater: Any, rater2: Any, lead: Any) -> None:
    with pytest.raises(Conflict):
        look(round_, rater, lead)
    for note in (" ", "x" * 501):
        with pytest.raises(NotValid):
            look(round_, rater2, lead, note=note)
    assert not AuditRow.objects.filter(verb="alarms.look_at").exists()


FIRST = Numbers(100, 0.30, 0.22, 0.39, 0.20)


@pytest.mark.parametrize(
    ("side", "then", "now", "comes_back"),
    [
        ("above", FIRST, Numbers(150, 0.38, 0.30, 0.46, 0.20), False),  # within what was likely then
        ("above", FIRST, Numbers(150, 0.45, 0.37, 0.53, 0.20), True),
        ("above", FIRST, Numbers(100, 0.45, 0.37, 0.53, 0.20), False),  # nothing was graded since
        ("above", FIRST, Numbers(150, 0.10, 0.05, 0.19, 0.20), False),
        ("below", Numbers(400, 0.60, 0.50, 0.70, 0.75), Numbers(500, 0.45, 0.40, 0.50, 0.75), True),
        ("below", Numbers(400, 0.60, 0.50, 0.70, 0.75), Numbers(500, 0.74, 0.71, 0.78, 0.75), False),
        ("either", Numbers(90, -0.5, -0.6, -0.4, 0.4), Numbers(120, -0.8, -0.9, -0.7, 0.4), True),
        ("either", Numbers(90, 0.5, 0.4, 0.6, 0.4), Numbers(120, 0.45, 0.4, 0.6, 0.4), False),
        ("above", Numbers(60, None, None, None, 0.8), Numbers(119, None, None, None, 0.8), False),
        ("above", Numbers(60, None, None, None, 0.8), Numbers(120, None, None, None, 0.8), True),
    ],
)
def test_only_markedly_higher_numbers_raise_a_new_alert(
    side: Side, then: Numbers, now: Numbers, comes_back: bool
) -> None:
    assert grown(then, now, side) is comes_back


def test_on_the_page_and_by_api(client_of: Make, api_of: Make, round_: Round, rater2: Any, lead: Any) -> None:
    client, one = client_of(lead), pseudonym(round_, rater2)
    path, api = f"/rounds/{round_.uuid}/quality/{one}/", f"/api/v1/rounds/{round_.uuid}/raters/{one}/alarms/same-grade/"
    without = client.post(f"{path}alarms/same-grade/", {"note": ""}, follow=True).content.decode()
    assert "needs a note" in without
    looked = client.post(f"{path}alarms/same-grade/", {"note": "Only <b>tents</b>."}, follow=True).content.decode()
    assert "Only &lt;b&gt;tents&lt;/b&gt;." in looked
    assert "Reviewed by lena" in looked
    assert "reviewed" in client.get(f"/rounds/{round_.uuid}/quality/").content.decode()
    body = client.get(f"/rounds/{round_.uuid}/quality/?format=json").json()
    assert body == api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/quality/").json()
    [row] = [row for row in body["raters"] if row["rater"] == one]
    [check] = [check for check in row["checks"] if check["check"] == "same-grade"]
    assert "same-grade" not in row["alarms"]
    assert (check["looked_at"]["by"], check["looked_at"]["quiet"]) == ("lena", True)
    assert api_of(lead).delete(api).status_code == 204
    assert rings(round_, rater2, lead)
    assert api_of(lead).delete(api).status_code == 409
    again = api_of(lead).post(api, {"note": "Seen."}, format="json")
    assert (again.status_code, again.json()["note"]) == (200, "Seen.")
    missing = api_of(lead).post(api.replace("same-grade", "no-such"), {"note": "Seen."}, format="json")
    assert missing.status_code == 404
    client.post(f"{path}alarms/same-grade/", {"again": "1"})
    assert rings(round_, rater2, lead)


def test_leads_who_may_still_grade_see_no_notes(
    client_of: Make,
    make_round: Make,
    rater: Any,
    rater2: Any,
    lead: Any,
    lead2: Any,
    rate_all: Make,
    answer: Make,
) -> None:
    made = make_round(queries=20, documents=5, raters=[rater, rater2, lead], ratings_per_pair=3)
    rate_all(made, rater, lambda pair: pair.position % 3)
    rate_all(made, rater2, 3)
    go_on(made, lead, answer, 60, lambda pair: pair.position % 3)
    look(made, rater2, lead2, note="3 for document d20-5.")
    of_rater = f"/rounds/{made.uuid}/quality/{pseudonym(made, rater2)}/"
    page = client_of(lead).get(of_rater).content.decode()
    assert "Reviewed by lars" in page
    assert "document d20-5" not in page
    assert "document d20-5" not in str(client_of(lead).get(f"/rounds/{made.uuid}/quality/?format=json").json())
    assert "document d20-5" in client_of(lead2).get(of_rater).content.decode()
