"""Tests of the judge pages: setup, cost estimate, results, prompts, visibility for leads who rate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.urls import reverse

from judgments.models import JudgeRun, MachineJudgment, ModelCall, PromptVersion, Provider
from tests.judgments.machines.model_replies import KEY, choice_of, grade, provider_at, started, with_texts
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda prompt, number: grade(3 if "d1-1" in prompt else 0)) as running:
        yield running


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any, rater2: Any) -> Any:
    return with_texts(make_round(queries=2, documents=3, raters=[rater, rater2], ratings_per_pair=1))


def test_the_whole_way_by_pages(
    round_: Any,
    server: ModelServer,
    client_of: Any,
    lead: Any,
    rater: Any,
    rate_all: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    client, slug = client_of(lead), round_.collection.slug
    judges, new = reverse("judges", args=[round_.uuid]), reverse("judge_new", args=[round_.uuid])
    assert "Add model provider" in client.get(judges).content.decode()
    form = {
        "name": "local", "protocol": "openai", "base_url": server.url, "key": KEY,
        "models": "judge-1, 1, 4\njudge-2", "concurrency": 4, "timeout": 10,
    }  # fmt: skip
    page = client.post(reverse("provider_new", args=[slug]), {**form, "base_url": "https://elsewhere.example.com"})
    assert (page.status_code, "PROVIDER_HOSTS" in page.content.decode()) == (422, True)
    assert client.post(reverse("provider_new", args=[slug]), form).status_code == 302
    provider = Provider.objects.get()
    here = reverse("provider_change", args=[slug, provider.uuid])
    assert KEY not in provider.sealed + client.get(here).content.decode()
    client.post(reverse("provider_try", args=[slug, provider.uuid]), {"model": "judge-1"})
    assert (len(server.requests), "answered in" in client.get(here).content.decode()) == (1, True)
    # Another address does not get the key.
    moved = client.post(here, {**form, "key": "", "base_url": f"{server.url}/elsewhere"})
    assert (moved.status_code, "Enter the key again" in moved.content.decode()) == (422, True)

    request = {
        "model": f"{provider.uuid}|judge-1", "prompt": "graded", "cap_usd": "1", "audit_share": "50",
        "canaries": "1", "examples": "0",
    }  # fmt: skip
    html = client.post(new, {**request, "act": "estimate"}).content.decode()
    assert "with these caps" in html
    # There are not more documents to plant text in than the round has pairs, each for both traps.
    most = client.post(new, {**request, "canaries": "30", "act": "estimate"}).content.decode()
    assert "at most 12 more documents" in most
    assert (len(server.requests), JudgeRun.objects.count()) == (1, 0)
    # Without a cap it does not start, and what it would take stands there all the same.
    capless = client.post(new, {**request, "cap_usd": "", "act": "start"})
    assert (capless.status_code, "with these caps" in capless.content.decode()) == (422, True)
    with django_capture_on_commit_callbacks(execute=True):
        begun = client.post(new, {**request, "act": "start"})
    run = JudgeRun.objects.get()
    assert begun.headers["Location"] == reverse("machine_judge", args=[round_.uuid, run.judge.uuid])
    assert MachineJudgment.objects.count() == 6
    routed = reverse("routing", args=[round_.uuid])
    assert "audit slice" in client.get(routed).content.decode()
    draft = client.post(routed)
    assert draft.status_code == 302
    made = round_.collection.rounds.get(name="Round 1, for people")
    assert 0 < made.pairs.count() <= 6
    assert all("machine" not in str(pair.origin) and "audit" not in str(pair.origin) for pair in made.pairs.all())
    rate_all(round_, rater, lambda pair: 3 if pair.document.doc_id == "d1-1" else 0)
    page = client.get(begun.headers["Location"] + "?over=all").content.decode()
    assert "1.000" in page  # kappa: the machine says what people say
    assert KEY not in page
    for name in ("judge_answers", "judge_ledger"):
        assert "d1-1" in client.get(reverse(name, args=[round_.uuid, run.judge.uuid])).content.decode()
    client.post(routed)
    assert "People have already judged all of these pairs" in client.get(routed).content.decode()


def test_words_are_tried_and_stored(provider: Any, round_: Any, server: ModelServer, client_of: Any, lead: Any) -> None:
    client, here = client_of(lead), reverse("prompt_new", args=[round_.collection.slug])
    words = {"name": "ours", "system": "Grade.", "prompt": "Asked: {query}\n{scale}\n{document}"}
    trial = {"act": "try", "round": str(round_.uuid), "model": f"{provider.uuid}|judge-1", "pairs": 2}
    # Words that are only tried need no name yet; the browser does not ask for one either.
    assert re.search(r"<button[^>]*formnovalidate[^>]*>Run trial", client.get(here).content.decode())
    page = client.post(here, {**words, "name": "", **trial})
    assert (page.status_code, len(server.requests)) == (200, 2)
    assert any("Asked: query 1" in prompt for prompt in server.prompts)
    assert "Raw answer and prompt" in page.content.decode()
    assert [model.objects.count() for model in (ModelCall, MachineJudgment, PromptVersion)] == [0, 0, 0]
    # An answer that is none says why, and stands there as it came.
    failures = {
        "not on the scale": grade(7),
        "refused to answer": Answer("I cannot.", stop="refused"),
        "cut off": Answer('{"reason": "The', stop="length"),
        "answer could not be parsed": Answer("Quite a good one."),
    }
    usual = server.answer
    for text, failed in failures.items():
        server.answer = lambda prompt, number, failed=failed: failed  # type: ignore[misc]
        html = client.post(here, {**words, **trial}).content.decode()
        assert text in html
        assert '<details class="stack stack--s" open>' in html
    server.answer = usual
    wrong = client.post(here, {**words, "prompt": "{query} {scale} {document} {rank}", "act": "store"})
    assert (wrong.status_code, "{rank}" in wrong.content.decode()) == (422, True)
    nameless = client.post(here, {**words, "name": "", "act": "store"})
    assert (nameless.status_code, "Enter a value" in nameless.content.decode()) == (422, True)
    assert client.post(here, {**words, "act": "store"}).status_code == 302
    again = client.post(here, {**words, "prompt": words["prompt"] + " Think.", "act": "store"})
    page = client.get(again.headers["Location"]).content.decode()
    assert [row.number for row in PromptVersion.objects.order_by("number")] == [1, 2]
    assert "Changes since version 1" in page


def test_leads_who_still_rate_see_nothing(
    make_round: Any,
    server: ModelServer,
    collection: Any,
    client_of: Any,
    lead: Any,
    rater: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    """Every page of the judge, read by a lead who may still be handed the pairs."""
    round_ = make_round(queries=1, documents=3, raters=[lead, rater])
    server.answer = lambda prompt, number: grade(1)
    choice = choice_of(provider_at(server.url, collection, lead))
    run = started(round_, choice, lead, django_capture_on_commit_callbacks, canaries=2)
    client = client_of(lead)
    pages = [reverse(name, args=[round_.uuid, run.judge.uuid]) for name in ("judge_answers", "judge_ledger")]
    pages += [reverse("machine_judge", args=[round_.uuid, run.judge.uuid]) + "?over=all"]
    pages += [reverse(name, args=[round_.uuid]) for name in ("routing", "judges")]
    for page in pages:
        for more in ("", "&format=csv" if "?" in page else "?format=csv"):
            response = client.get(page + more)
            text = b"".join(response.streaming_content) if response.streaming else response.content
            assert b"reasons-of-a-machine" not in text, page
            # Not within a UUID, which may have the same characters.
            assert not re.search(rb"\bd1-1\b", text), page


def test_a_judge_without_a_grade_says_what_to_do(
    provider: Any, round_: Any, server: ModelServer, client_of: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    """Nothing it answered is a grade; or nobody let it answer."""
    mend = reverse("provider_change", args=[round_.collection.slug, provider.uuid])
    server.answer = lambda prompt, number: grade(7)
    run = started(round_, choice_of(provider), lead, django_capture_on_commit_callbacks)
    page = client_of(lead).get(reverse("machine_judge", args=[round_.uuid, run.judge.uuid])).content.decode()
    assert "answers are grades." in page
    assert "6 out of scale" in page
    assert "The judge has given no grades yet" in page
    assert reverse("judge_accept", args=[round_.uuid, run.judge.uuid]) not in page
    assert f'href="{mend}">Fix' not in page
    server.answer = lambda prompt, number: Answer("no such key", status=401)
    run = started(round_, choice_of(provider, model="judge-2"), lead, django_capture_on_commit_callbacks)
    page = client_of(lead).get(reverse("machine_judge", args=[round_.uuid, run.judge.uuid])).content.decode()
    assert (run.state, f'href="{mend}">Fix local' in page) == ("refused", True)
