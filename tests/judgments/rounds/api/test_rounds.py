"""API tests of round changes: allowed changes, fixed settings, draft and closed rounds."""

from __future__ import annotations

from typing import Any

import pytest

from judgments.models import AuditRow
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def patch(world: World, lead: Any, api_of: Any) -> Any:
    api = api_of(lead)
    return lambda changes: api.patch(f"/api/v1/rounds/{world.round.uuid}/", changes, format="json")


def test_a_round_is_renamed_and_that_is_on_record(patch: Any) -> None:
    assert patch({"name": "Autumn"}).json()["name"] == "Autumn"
    assert "renamed round Open to Autumn" in AuditRow.objects.get(verb="rounds.rename").sentence


def test_more_raters_are_invited(patch: Any, rater: Any, rater2: Any, rater3: Any) -> None:
    everybody = sorted(user.username for user in (rater, rater2, rater3))
    assert patch({"raters": [rater3.username]}).json()["raters"] == everybody


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"name": "Draft"}, 409),
        ({"name": " "}, 400),
        ({"scale": None}, 400),
        ({"guidelines": "Other ones."}, 400),
        ({"raters": ["emil"]}, 400),  # an engineer
        ({"raters": ["nobody"]}, 400),
        ({"raters": "rosa"}, 400),
    ],
)
def test_fixed_settings(patch: Any, changes: Any, status: int) -> None:
    response = patch(changes)
    assert response.status_code == status
    assert response.json()["error"]["message"]


def test_nothing_changes_when_one_of_two_changes_is_refused(patch: Any, world: World) -> None:
    assert patch({"name": "Autumn", "raters": ["nobody"]}).status_code == 400
    world.round.refresh_from_db()
    assert world.round.name == "Open"


def test_a_draft_takes_no_answers(world: World, rater: Any, api_of: Any) -> None:
    assert api_of(rater).post(f"/api/v1/rounds/{world.draft.uuid}/batch/").status_code == 410


def test_a_closed_round_stays_closed(world: World, lead: Any, api_of: Any) -> None:
    assert api_of(lead).post(f"/api/v1/rounds/{world.closed.uuid}/open/").status_code == 409
