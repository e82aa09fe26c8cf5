"""Tests of prompts for expected answers and usefulness: stored versions, tryouts, use by judges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.urls import reverse

from judgments.machines.judge_runs import judge_runs
from judgments.machines.prompts import prompts
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall, PromptVersion
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
SAYS = "Ours. {query}\nExpected: {expected}\n{document}\nYES or NO?"
ANSWER = "Our system. {document}\n{query}"
EXPECTED = {"q1": ["a blue bag"]}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda prompt, number: Answer("YES, a blue bag" if "xpected" in prompt else "A blue bag")) as running:
        yield running


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return make_round(queries=2, documents=2, raters=[rater])


def stored(collection: Any, lead: Any, prompt: str, name: str, asking: str = "") -> PromptVersion:
    words = {"name": name, "system": "Be fair.", "prompt": prompt, "asking": asking}
    return prompts.add_version(collection, actor=lead, **words)


@pytest.mark.parametrize(("kind", "words"), [("expected_answer", SAYS), ("downstream", ANSWER)])
def test_a_judge_keeps_its_prompt_version(
    kind: str,
    words: str,
    round_: Any,
    provider: Any,
    server: ModelServer,
    api_of: Any,
    lead: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    api, here = api_of(lead), f"/api/v1/rounds/{round_.uuid}/judges/"
    place = f"/api/v1/collections/{round_.collection.slug}/prompts/"
    made = api.post(place, {"name": "ours", "system": "Be fair.", "prompt": words, "asks": kind}, format="json")
    assert (made.status_code, made.json()["asks"]) == (201, kind)
    payload = {"kind": kind, "provider": str(provider.uuid), "model": "judge-1", "expected": EXPECTED, "cap_calls": 99}
    payload |= {"text_metric": "token_f1"} if kind == "downstream" else {}
    with django_capture_on_commit_callbacks(execute=True):
        begun = api.post(here, {**payload, "prompt": made.json()["id"]}, format="json")
    assert begun.status_code == 202
    judge, version = Judge.objects.get(), PromptVersion.objects.get()
    assert (judge.prompt, judge.prompt_sha256, judge.name.startswith("ours-v1 ")) == (version, version.sha256, True)
    assert [prompt.startswith("Our") for prompt in server.prompts] == [True, True]
    assert MachineJudgment.objects.filter(judge=judge, outcome="graded").count() == 2
    # What was answered is known by these words: going on asks nothing, and no other words are used for it.
    with django_capture_on_commit_callbacks(execute=True):
        judge_runs.resume(JudgeRun.objects.get(), actor=lead)
    assert len(server.requests) == 2
    with django_capture_on_commit_callbacks(execute=True):
        api.post(here, payload, format="json")
    usual = Judge.objects.exclude(pk=judge.pk).get()
    assert (usual.prompt, usual.name.startswith(f"{kind}-v1 "), "template" in usual.inputs) == (None, True, False)
    assert [prompt.startswith("Our") for prompt in server.prompts] == [True, True, False, False]


def test_a_prompt_is_for_one_thing(round_: Any, provider: Any, server: ModelServer, api_of: Any, lead: Any) -> None:
    api, collection = api_of(lead), round_.collection
    says, answer = stored(collection, lead, SAYS, "says"), stored(collection, lead, ANSWER, "answers", "downstream")
    place = f"/api/v1/collections/{collection.slug}/prompts/"
    # A prompt for grades that forgets the scale is no prompt for answers, unless somebody says that it is.
    refused = api.post(place, {"name": "new", "prompt": ANSWER}, format="json")
    assert (refused.status_code, "{scale}" in refused.content.decode()) == (400, True)
    for words, asks in ((SAYS, "downstream"), (ANSWER, "expected_answer"), (SAYS, "battle"), (SAYS, "rhyme")):
        assert api.post(place, {"name": "new", "prompt": words, "asks": asks}, format="json").status_code == 400
    refused = api.post(place, {"name": "says", "prompt": ANSWER, "asks": "downstream"}, format="json")
    assert (refused.status_code, "Choose another name" in refused.content.decode()) == (400, True)
    named = [[one.value for one in prompts.named(collection, asking)] for asking in prompts.ASKS]
    assert named == [
        ["graded", "binary"],
        ["pairwise"],
        [str(says.uuid), "expected_answer"],
        [str(answer.uuid), "downstream"],
    ]
    payload = {"provider": str(provider.uuid), "model": "judge-1", "cap_calls": 9, "expected": EXPECTED}
    here = f"/api/v1/rounds/{round_.uuid}/judges/"
    for kind, prompt in (("expected_answer", answer), ("downstream", says), ("expected_answer", None)):
        other = {"kind": kind, "prompt": "graded" if prompt is None else str(prompt.uuid)}
        refused = api.post(here, {**payload, **other}, format="json")
        assert (refused.status_code, "prompt" in refused.json()["error"]["fields"]) == (400, True)
    words = {"kind": "token_overlap", "expected": EXPECTED, "prompt": str(says.uuid)}
    refused = api.post(here, words, format="json")
    assert (refused.status_code, "prompt" in refused.json()["error"]["fields"]) == (400, True)
    assert server.requests == []


def test_words_are_tried_stored_and_chosen_on_pages(
    round_: Any, provider: Any, server: ModelServer, client_of: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    client, place = client_of(lead), reverse("prompt_new", args=[round_.collection.slug])
    begin = client.get(f"{place}?from=downstream").content.decode()
    assert '<option value="downstream" selected>' in begin
    words = {"name": "system", "system": "", "prompt": ANSWER, "asks": "downstream", "note": ""}
    trial = {"act": "try", "round": str(round_.uuid), "model": f"{provider.uuid}|judge-1", "pairs": 5}
    page = client.post(place, {**words, **trial})
    assert (page.status_code, "Enter some by query_id" in page.content.decode(), server.requests) == (422, True, [])
    page = client.post(place, {**words, **trial, "expected": "not readable"})
    assert (page.status_code, server.requests) == (422, [])
    page = client.post(place, {**words, **trial, "expected": '{"q1": ["a blue bag"]}'}).content.decode()
    assert ("Usefulness <b>1.00</b>" in page, len(server.prompts)) == (True, 2)
    says = {**words, "prompt": SAYS, "asks": ""}
    page = client.post(place, {**says, **trial, "expected": "query_id,expected\r\nq1,a blue bag"}).content.decode()
    assert ("<b>Yes</b>" in page, len(server.prompts)) == (True, 4)
    for table in (PromptVersion, Judge, ModelCall, MachineJudgment):
        assert table.objects.count() == 0
    client.post(place, {**words, "act": "store"})
    version = PromptVersion.objects.get()
    new = reverse("judge_new", args=[round_.uuid])
    page = client.get(f"{new}?kind=downstream").content.decode()
    assert (f'value="{version.uuid}"' in page, "graded v1, built in" in page) == (True, False)
    form = {"kind": "downstream", "model": f"{provider.uuid}|judge-1", "prompt": str(version.uuid), "audit_share": 10}
    form |= {"text_metric": "token_f1", "expected": '{"q1": ["a blue bag"]}', "cap_calls": 99, "temperature": 0}
    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"{new}?kind=downstream", {**form, "act": "start"})
    judge = Judge.objects.get()
    assert (judge.kind, judge.prompt, server.prompts[-1].startswith("Our system.")) == ("downstream", version, True)
    page = client.get(reverse("prompt", args=[version.uuid])).content.decode()
    assert (judge.name in page, "an answer from the document" in page) == (True, True)


def test_words_are_tried_by_api(round_: Any, provider: Any, server: ModelServer, api_of: Any, lead: Any) -> None:
    place = f"/api/v1/collections/{round_.collection.slug}/prompts/try/"
    payload = {"round": str(round_.uuid), "provider": str(provider.uuid), "model": "judge-1", "expected": EXPECTED}
    body = api_of(lead).post(place, {**payload, "prompt": ANSWER, "asks": "downstream"}, format="json").json()
    assert [(one["query_id"], one["usefulness"], one["relevant"]) for one in body["pairs"]] == [("q1", 1.0, None)] * 2
    body = api_of(lead).post(place, {**payload, "version": "expected_answer"}, format="json").json()
    assert [(one["relevant"], one["usefulness"]) for one in body["pairs"]] == [(True, None)] * 2
    refused = api_of(lead).post(place, {**payload, "version": "expected_answer", "expected": {}}, format="json")
    assert (refused.status_code, "expected" in refused.json()["error"]["fields"]) == (400, True)
    assert len(server.requests) == 4
