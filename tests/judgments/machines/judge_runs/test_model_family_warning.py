"""Tests of the model family warning: before pairwise comparisons and ensembles, and on judge pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgments.machines.judge_runs import judge_settings
from judgments.machines.providers.forms import APART
from judgments.models import BattleRun, Judge, MachineJudgment, Provider
from tests.judgments.machines.model_replies import provider_at
from tests.judgments.machines.pairwise.example import with_worth

pytestmark = pytest.mark.django_db
# Nobody is asked here: what would be asked stands in the estimate.
NOBODY = "http://127.0.0.1:9"
OFFERED = [{"name": "gpt-4.1", "price_in": 1.0, "price_out": 4.0}, {"name": "claude-haiku-4"}, {"name": "our-own"}]


@pytest.fixture
def provider(collection: Any, lead: Any, settings: Any) -> Provider:
    settings.PROVIDER_HOSTS, settings.PROVIDER_NETWORKS = ["127.0.0.1"], ["127.0.0.0/8"]
    return provider_at(NOBODY, collection, lead, models_offered=OFFERED)


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return with_worth(make_round(queries=2, documents=3, raters=[rater]))


@pytest.fixture(autouse=True)
def _systems(collection: Any, engineer: Any, api_of: Any) -> None:
    """One run whose family was declared, one whose name tells it, and one of which nothing is known."""
    api, rows = api_of(engineer), [{"query_id": "q1", "doc_id": "d1", "score": 2}]
    for at, model_query in enumerate(("ours&generator_family=GPT", "claude-rerank", "bm25")):
        rows[0]["score"] = at
        path = f"/api/v1/collections/{collection.slug}/runs/?name={model_query}"
        assert api.post(path, rows, format="json").status_code == 201


@pytest.fixture
def judges(collection: Any, round_: Any) -> list[Judge]:
    """Three that were in the round, the last of them without a model."""
    judges_ = [
        Judge.objects.create(collection=collection, name=f"j{at}", kind=kind, model=model)
        for at, (kind, model) in enumerate([("graded", "gpt-4.1"), ("graded", "claude-haiku-4"), ("token_overlap", "")])
    ]
    pairs = list(round_.pairs.all())
    rows = [MachineJudgment(judge=one, pair=pair, outcome="graded", grade=1) for one in judges_ for pair in pairs]
    MachineJudgment.objects.bulk_create(rows)
    return judges_


@pytest.mark.parametrize(
    ("models", "kin"),
    [
        (["our-own"], []),
        (["our-own", "claude-haiku-4"], ["claude-rerank"]),
        (["gpt-4.1", "claude-haiku-4"], ["ours", "claude-rerank"]),
    ],
)
def test_before_battles(
    round_: Any, provider: Provider, lead: Any, client_of: Any, api_of: Any, models: list[str], kin: list[str]
) -> None:
    payload = {"models": [{"provider": str(provider.uuid), "model": model} for model in models]}
    estimate = api_of(lead).post(
        f"/api/v1/rounds/{round_.uuid}/battles/", {**payload, "cap_calls": 9, "dry_run": True}, format="json"
    )
    assert [one["name"] for one in estimate.json()["kin"]] == kin
    chosen = [f"{provider.uuid}{APART}{model}" for model in models]
    form = {
        "models": chosen,
        "cycles": "1",
        "both": "20",
        "canaries": "0",
        "prompt": "pairwise",
        "cap_calls": "9",
        "audit_share": "10",
    }
    page = client_of(lead).post(f"/rounds/{round_.uuid}/battles/new/", {**form, "act": "estimate"})
    content = page.content.decode()
    assert (page.status_code, "Estimated from" in content) == (200, True)
    assert [f"{name} (" in content for name in ("ours", "claude-rerank")] == [
        name in kin for name in ("ours", "claude-rerank")
    ]
    assert not BattleRun.objects.exists()


def test_before_an_ensemble_of_which_one_member_is_kin(
    round_: Any, judges: list[Judge], lead: Any, client_of: Any, api_of: Any
) -> None:
    payload: dict[str, Any] = {"kind": "ensemble", "parameters": {"rule": "median", "least": 2}, "dry_run": True}
    for chosen, kin in ((judges[:2], ["ours", "claude-rerank"]), (judges[1:], ["claude-rerank"])):
        payload["judges"] = [str(one.uuid) for one in chosen]
        estimate = api_of(lead).post(f"/api/v1/rounds/{round_.uuid}/judges/", payload, format="json").json()
        assert [one["name"] for one in estimate["kin"]] == kin
    form = {"kind": "ensemble", "judges": payload["judges"], "rule": "median", "least": "2", "audit_share": "10"}
    page = client_of(lead).post(f"/rounds/{round_.uuid}/judges/new/", {**form, "act": "estimate"}).content.decode()
    assert "claude-rerank (Claude, by its name) is from the same model family as a judge of it." in page


def test_on_the_page_of_an_ensemble_and_of_a_judge_of_battles(
    round_: Any, collection: Any, judges: list[Judge], lead: Any, client_of: Any, api_of: Any
) -> None:
    run = BattleRun.objects.create(
        round=round_, number=1, ensemble=[{"name": "OpenAI", "model": "our-own"}, {"name": "x", "model": "gpt-4.1"}],
        inputs={"template": ["pairwise", 1, "", ""]}, cycles=1, both=0, seed=1, drawn=[], battles=0, cap_calls=1,
        state="done",
    )  # fmt: skip
    together = {"rule": "median", "judges": [str(one.uuid) for one in judges[1:]]}
    made = [
        Judge.objects.create(collection=collection, name="several", kind="ensemble", inputs=together),
        Judge.objects.create(
            collection=collection, name="fought", kind="pairwise", model="our-own", parameters={"run": str(run.uuid)}
        ),
    ]
    assert [judge_settings.models_of(one) for one in made] == [["claude-haiku-4"], ["our-own", "gpt-4.1"]]
    for judge, kin in zip(made, ("claude-rerank", "ours"), strict=True):
        MachineJudgment.objects.create(judge=judge, pair=round_.pairs.all()[0], outcome="graded", grade=1)
        page = client_of(lead).get(f"/rounds/{round_.uuid}/judges/{judge.uuid}/").content.decode()
        assert f"{kin} (" in page
        effect = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/judges/{judge.uuid}/effect/").json()
        assert [one["name"] for one in effect["kin"]] == [kin]
