"""API tests of provider accounts: model settings are stored, unknown keys are refused."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from judgments.models import Judge, Provider

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
OURS = {
    "name": "ours", "price_in": 1.0, "price_out": 4.0, "thinks": True, "leave_out": ["schema"], "most_tokens": 4_000,
}  # fmt: skip


@pytest.fixture
def place(collection: Any) -> str:
    return f"/api/v1/collections/{collection.slug}/providers/"


def provider_data(**more: Any) -> dict[str, Any]:
    return {"name": "local", "protocol": "openai", "base_url": "http://127.0.0.1:9/v1", "models": [OURS], **more}


def test_model_settings_are_created_read_and_changed(place: str, lead: Any, api_of: Any) -> None:
    api = api_of(lead)
    made = api.post(place, provider_data(models=[OURS, {"name": "plain"}]), format="json").json()
    assert made["models"][0] == OURS
    plain = {"price_in": None, "price_out": None, "thinks": None, "leave_out": [], "most_tokens": None}
    assert made["models"][1] == {"name": "plain", **plain}
    here = f"{place}{made['id']}/"
    # What is told can be sent back as it is.
    assert api.patch(here, {"models": made["models"]}, format="json").json()["models"] == made["models"]
    changed = api.patch(here, {"models": [{"name": "ours", "thinks": False}]}, format="json").json()
    assert changed["models"][0] == {**plain, "name": "ours", "thinks": False}
    # What was not said is not kept, so that judges of before it could be said are the same judges.
    assert Provider.objects.get().models_offered == [
        {"name": "ours", "price_in": None, "price_out": None, "thinks": False}
    ]


@pytest.mark.parametrize(
    "model", [{"leave_out": ["prompt"]}, {"most_tokens": 0}, {"thinks": "perhaps"}, {"price": 3}, {"max_tokens": 5}]
)
def test_a_setting_that_no_model_has_is_refused(model: dict[str, Any], place: str, lead: Any, api_of: Any) -> None:
    refused = api_of(lead).post(place, provider_data(models=[{"name": "ours", **model}]), format="json")
    assert (refused.status_code, "models" in refused.json()["error"]["fields"]) == (400, True)
    assert not Provider.objects.exists()


@pytest.mark.parametrize(
    ("where", "body", "key"),
    [
        ("providers/", provider_data(), "timeout_s"),
        ("providers/", provider_data(), "prices"),
        ("prompts/", {"name": "ours", "prompt": "{query} {scale} {document}"}, "versoin"),
    ],
)
def test_an_unknown_key_stores_nothing(
    where: str, body: dict[str, Any], key: str, collection: Any, lead: Any, api_of: Any
) -> None:
    refused = api_of(lead).post(f"/api/v1/collections/{collection.slug}/{where}", {**body, key: 1}, format="json")
    assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, [key])
    assert not collection.providers.exists()


def test_a_change_with_an_unknown_key_changes_nothing(place: str, lead: Any, api_of: Any) -> None:
    api = api_of(lead)
    made = api.post(place, provider_data(), format="json").json()
    refused = api.patch(f"{place}{made['id']}/", {"name": "other", "concurency": 2}, format="json")
    assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, ["concurency"])
    assert Provider.objects.get().name == "local"


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"kind": "graded", "cap_call": 5}, "cap_call"),
        ({"kind": "token_overlap", "expected": {"q1": "an answer"}, "min_tokens": 3}, "min_tokens"),
        ({"cap_calls": 5, "dry_run": True, "most_tokens": 900}, "most_tokens"),
    ],
)
def test_a_body_with_an_unknown_key_starts_no_judge(
    body: dict[str, Any], key: str, make_round: Any, rater: Any, lead: Any, api_of: Any
) -> None:
    round_ = make_round(queries=1, documents=2, raters=[rater])
    refused = api_of(lead).post(f"/api/v1/rounds/{round_.uuid}/judges/", body, format="json")
    assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, [key])
    assert not Judge.objects.exists()


@pytest.mark.parametrize("models", [[{"provider": str(uuid.UUID(int=1)), "model": "m", "price_in": 3}], []])
def test_a_battle_with_unsupported_model_settings_is_refused(
    models: list[dict[str, Any]], make_round: Any, rater: Any, lead: Any, api_of: Any
) -> None:
    round_ = make_round(queries=1, documents=3, raters=[rater])
    body = {"models": models, "cap_calls": 5}
    refused = api_of(lead).post(f"/api/v1/rounds/{round_.uuid}/battles/", body, format="json")
    assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, ["models"])
