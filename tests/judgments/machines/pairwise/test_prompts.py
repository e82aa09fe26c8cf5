"""Tests of pairwise comparison prompts: tryouts, stored versions, choice, use in runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from assay.core.errors import NotValid
from assay.llm.judges.pairwise import PAIRWISE
from judgments.machines.pairwise import pair_selection, runs
from judgments.machines.prompts import prompts
from judgments.models import Battle, BattleRun, MachineJudgment, ModelCall, PromptVersion
from tests.judgments.machines.pairwise.example import choice_of, fought, with_worth
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
OURS = "Ours: {query}\n{narrative}{guidelines}\nA: {first}\nB: {second}\nJSON with reason and score."
GRADES = "Grade {query} on {scale}: {document}"


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return with_worth(make_round(queries=2, documents=3, raters=[rater]))


def stored(collection: Any, lead: Any, prompt: str = OURS, name: str = "ours") -> PromptVersion:
    return prompts.add_version(collection, actor=lead, name=name, system="Be fair.", prompt=prompt)


def test_words_are_tried_on_a_page_and_change_nothing_until_they_are_stored(
    round_: Any, provider: Any, server: ModelServer, client_of: Any, lead: Any
) -> None:
    client, place = client_of(lead), reverse("prompt_new", args=[round_.collection.slug])
    assert "The second document:" in client.get(f"{place}?from=pairwise").content.decode()
    words = {"name": "ours", "system": "Be fair.", "prompt": OURS, "note": "shorter"}
    trial = {"act": "try", "round": str(round_.uuid), "model": f"{provider.uuid}|judge-1", "pairs": 2}
    page = client.post(place, {**words, **trial}).content.decode()
    # Two battles, each of two documents of one query, and how the answer is read.
    assert [prompt.startswith("Ours: ") for prompt in server.prompts] == [True, True]
    assert ("d1-1" in page, "from −1 (first document better) to 1 (second document better)" in page) == (True, True)
    assert 'vs. <span class="muted mono">d1-2</span>' in page
    for table in (PromptVersion, BattleRun, Battle, ModelCall, MachineJudgment):
        assert table.objects.count() == 0
    page = client.post(place, {**words, **trial, "prompt": "Only {query} and {first}"})
    assert (page.status_code, "{second}" in page.content.decode(), len(server.requests)) == (422, True, 2)
    made = client.post(place, {**words, "act": "store"})
    version = PromptVersion.objects.get()
    assert (made.status_code, str(version), prompts.asks(prompts.template_of(version))) == (
        302,
        "ours v1",
        "battle",
    )
    listed = client.get(reverse("prompts", args=[round_.collection.slug])).content.decode()
    assert "which of two documents is better" in listed
    assert (
        "None yet. Select the prompt when you create pairwise comparisons"
        in client.get(made.headers["Location"]).content.decode()
    )


def test_battles_keep_the_version_that_they_were_fought_with(
    round_: Any,
    provider: Any,
    server: ModelServer,
    client_of: Any,
    lead: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    first, client = stored(round_.collection, lead), client_of(lead)
    form = {"models": [f"{provider.uuid}|judge-1"], "cycles": 1, "both": 0, "audit_share": 10, "cap_calls": 99}
    form["prompt"] = str(first.uuid)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("battle_new", args=[round_.uuid]), {**form, "act": "start"})
    run = BattleRun.objects.get()
    assert (run.state, run.prompt, run.inputs["template"]) == (
        "done",
        first,
        ["ours", 1, "Be fair.", prompts.template_of(first).prompt],
    )
    assert all(prompt.startswith("Ours: ") for prompt in server.prompts)
    page = client.get(reverse("battle_run", args=[round_.uuid, run.uuid])).content.decode()
    assert reverse("prompt", args=[first.uuid]) in page
    # Other words are another version: what was fought stays as it is, and asks nothing when it goes on.
    second = stored(round_.collection, lead, OURS.replace("Ours:", "Ours too:"))
    before = len(server.requests)
    with django_capture_on_commit_callbacks(execute=True):
        runs.resume(run, actor=lead)
    assert len(server.requests) == before
    named = prompts.find(round_.collection, str(second.uuid), prompts.BATTLE)
    choice = choice_of(provider, cycles=1, both=0.0, prompt=named)
    other = fought(round_, choice, lead, django_capture_on_commit_callbacks)
    assert (other.prompt, len(server.requests)) == (second, before + other.battles)
    assert all(prompt.startswith("Ours too: ") for prompt in server.prompts[before:])
    keys = [pair_selection.judge_of_record(one.inputs).provenance()["template_version"] for one in (run, other)]
    assert keys == [1, 2]
    assert "comparison run 1" in client.get(reverse("prompt", args=[first.uuid])).content.decode()


def test_a_prompt_is_for_grades_or_for_battles(
    round_: Any, provider: Any, server: ModelServer, api_of: Any, lead: Any
) -> None:
    collection = round_.collection
    ours, grades = stored(collection, lead), stored(collection, lead, GRADES, "grades")
    with pytest.raises(NotValid) as refused:
        stored(collection, lead, GRADES, "ours")
    assert "Choose another name" in refused.value.fields["name"]
    with pytest.raises(NotValid):
        stored(collection, lead, OURS, PAIRWISE.name)
    both = [[one.value for one in prompts.named(collection, asking)] for asking in ("grade", "battle")]
    assert both == [[str(grades.uuid), "graded", "binary"], [str(ours.uuid), "pairwise"]]
    api, judge = api_of(lead), {"provider": str(provider.uuid), "model": "judge-1", "cap_calls": 9}
    response = api.post(f"/api/v1/rounds/{round_.uuid}/judges/", {**judge, "prompt": str(ours.uuid)}, format="json")
    assert (response.status_code, "“which of two" in response.content.decode()) == (400, True)
    fight = {"models": [{"provider": str(provider.uuid), "model": "judge-1"}], "cap_calls": 9, "dry_run": True}
    place = f"/api/v1/rounds/{round_.uuid}/battles/"
    response = api.post(place, {**fight, "prompt": "graded"}, format="json")
    assert (response.status_code, "“a grade”" in response.content.decode()) == (400, True)
    response = api.post(place, {**fight, "prompt": str(ours.uuid)}, format="json")
    assert (response.status_code, response.json()["battles"] > 0, server.requests) == (200, True, [])
    listed = api.get(f"/api/v1/collections/{collection.slug}/prompts/").json()["results"]
    assert {one["name"]: one["asks"] for one in listed} == {"ours": "battle", "grades": "grade"}


def test_words_are_tried_by_api_and_never_on_what_the_reader_may_still_grade(
    make_round: Any, round_: Any, provider: Any, server: ModelServer, api_of: Any, lead: Any
) -> None:
    place = f"/api/v1/collections/{round_.collection.slug}/prompts/try/"
    payload = {"version": "pairwise", "round": str(round_.uuid), "provider": str(provider.uuid), "model": "judge-1"}
    body = api_of(lead).post(place, {**payload, "pairs": 2}, format="json").json()
    assert [(one["doc_id"], one["other_doc_id"]) for one in body["pairs"]] == [("d1-1", "d1-2"), ("d2-1", "d2-2")]
    # The second of each is worth one more: a quarter, less a tenth for the place.
    assert [one["preference"] for one in body["pairs"]] == pytest.approx([0.15, 0.15])
    assert [one["grade"] for one in body["pairs"]] == [None, None]
    mine = with_worth(make_round(queries=2, documents=3, raters=[lead], name="Mine"))
    refused = api_of(lead).post(place, {**payload, "round": str(mine.uuid)}, format="json")
    assert (refused.status_code, len(server.requests)) == (400, 2)
    assert "two documents" in refused.content.decode()
