"""Critics on the server: estimate, caps, resume, the ledger, and the scorecards made of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from assay.core.errors import AssayError, Conflict, NotValid
from assay.llm.providers import question_run
from evaluation.models import RagCriticCall, RagCriticRun, RagSampleSet, RagSystem
from evaluation.rag import critics, people, scorecards
from judgments.jobs import jobs
from judgments.machines.providers import accounts
from judgments.members import grants
from judgments.models import AuditRow, Grant, Job, Provider
from judgments.rounds import rounds
from tests.evaluation.rag.conftest import NEW, OLD, SAMPLES, work
from tests.judgments.machines.model_replies import provider_at
from tests.model_server import Answer, ModelServer, serving

pytestmark = pytest.mark.django_db
FAITHFULNESS = "LLMFaithfulnessScore"


def answer(prompt: str, number: int) -> Answer:
    """Full marks for answers about seals, the lowest for all others."""
    high, low = ("1", "0") if "supported by the evidence" in prompt else ("5", "1")
    text = prompt.split("The answer:")[1]
    return Answer(high if "rubber seals" in text else low)


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setattr(question_run, "FIRST_WAIT", 0.001)
    settings.PROVIDER_HOSTS, settings.PROVIDER_NETWORKS = ["127.0.0.1"], ["127.0.0.0/8"]
    with serving(answer) as running:
        yield running


@pytest.fixture
def provider(server: ModelServer, collection: Any, lead: Any) -> Provider:
    return provider_at(server.url, collection, lead)


def do(run: RagCriticRun) -> Job:
    """Do the job of a critic, as a worker does."""
    run.refresh_from_db()
    jobs.work_on_job.func(str(run.job.uuid))
    run.refresh_from_db()
    run.job.refresh_from_db()
    return run.job


def choice(provider: Provider, *metrics: str) -> critics.CriticSettings:
    return critics.CriticSettings(provider, "judge-1", metrics or (FAITHFULNESS,))


def test_a_critic_scores_the_answers_of_all_systems(
    scored: RagSampleSet, provider: Provider, server: ModelServer, lead: Any
) -> None:
    data = critics.look(scored, choice(provider, FAITHFULNESS, "LLMAnswerQuality(dimensions=[clarity])"))
    assert not server.requests
    assert data.usd is not None
    assert (data.systems, data.samples, data.known, data.looked_at) == (2, 14, 0, 14)
    run = critics.start(
        scored,
        choice(provider, FAITHFULNESS, "LLMAnswerQuality(dimensions=[clarity])"),
        cap_usd=1.0,
        cap_calls=None,
        actor=lead,
    )
    assert not server.requests
    job = do(run)
    assert (job.state, run.state) == (Job.State.DONE, "done")
    assert run.calls == RagCriticCall.objects.count() == len(server.requests) == len(set(server.prompts))
    assert len(server.requests) <= data.calls[0]
    assert 0 < run.spent_usd == pytest.approx(sum(RagCriticCall.objects.values_list("cost_usd", flat=True)))
    work(scored)
    cards = {card.system.name: card for card in scorecards.cards_of(scored)}
    for name, outputs in (("old", OLD), ("new", NEW)):
        good = sum("rubber seals" in one["response"] for one in outputs)
        score = cards[name].metrics[FAITHFULNESS]
        assert score["value"] == pytest.approx(good / len(SAMPLES))
        assert score["details"]["num_samples"] == len(SAMPLES)
        about = cards[name].about[FAITHFULNESS]["critic"]
        assert (about["model"], about["prompt"]["name"], about["prompt"]["version"]) == ("judge-1", "faithfulness", 1)
        assert cards[name].about["TokenF1"]["critic"] is None
    old, new = (scored.systems.get(name=name) for name in ("old", "new"))
    scored.refresh_from_db()
    assert scorecards.in_words(scorecards.comparison(scored, old, new, FAITHFULNESS)) == "better"
    assert AuditRow.objects.filter(verb="rag.critic_start", actor=lead).exists()


def test_the_page_estimates_before_it_starts(
    scored: RagSampleSet, provider: Provider, server: ModelServer, lead: Any, engineer: Any, client_of: Any
) -> None:
    client, at = client_of(lead), reverse("rag_critic", args=["shop", scored.uuid])
    payload = {"model": f"{provider.uuid}|judge-1", "metrics": FAITHFULNESS, "cap_calls": 50}
    page = client.post(at, payload | {"act": "estimate"})
    assert page.context["estimate"].systems == 2
    assert not RagCriticRun.objects.exists()
    assert client.post(at, payload | {"act": "start", "cap_calls": ""}).status_code == 422
    assert client.post(at, payload | {"act": "start"})["Location"] == at
    run = RagCriticRun.objects.get()
    assert client.get(at).context["at_work"]
    assert client.post(reverse("rag_critic_pause", args=["shop", scored.uuid]))["Location"] == at
    assert client.get(at).context["run"].pause_requested
    do(run)
    assert run.state == "paused"
    go_on = reverse("rag_critic_go_on", args=["shop", scored.uuid])
    assert client_of(engineer).post(go_on).status_code == 403
    assert client.post(go_on, {"cap_calls": 60})["Location"] == at
    do(run)
    assert (run.state, run.cap_calls) == ("done", 60)
    assert client.post(go_on, {"cap_calls": 1}).status_code == 422
    work(scored)
    shown = client_of(engineer).get(reverse("rag_set", args=["shop", scored.uuid])).content.decode()
    assert "judge-1, prompt faithfulness v1" in shown
    csv = b"".join(client.get(reverse("rag_file", args=["shop", scored.uuid, "scorecards.csv"])).streaming_content)
    assert b'"judge-1, prompt faithfulness v1"' in csv


def test_a_lead_downloads_the_calls_of_a_critic(
    scored: RagSampleSet, provider: Provider, server: ModelServer, lead: Any, engineer: Any, client_of: Any
) -> None:
    at = reverse("rag_file", args=["shop", scored.uuid, "critic-calls.jsonl"])
    assert b"".join(client_of(lead).get(at).streaming_content) == b""
    run = critics.start(scored, choice(provider), cap_usd=1.0, cap_calls=None, actor=lead)
    do(run)
    calls = [json.loads(line) for line in b"".join(client_of(lead).get(at).streaming_content).splitlines()]
    assert len(calls) == run.calls == len(server.requests)
    assert sum(call["cost_usd"] for call in calls) == pytest.approx(run.spent_usd)
    assert {(call["model"], call["outcome"], call["temperature"]) for call in calls} == {("judge-1", "graded", 0.0)}
    assert {call["raw"] for call in calls} == {"0", "1"}
    assert client_of(engineer).get(at).status_code == 403
    (made,) = people.start(
        scored, name="A", systems=list(scored.systems.all()), dimensions=["faithful"], raters=[lead], actor=lead
    )
    rounds.open_round(made, actor=lead)
    assert client_of(lead).get(at).status_code == 403
    page = client_of(lead).get(reverse("rag_critic", args=["shop", scored.uuid]))
    assert at not in page.content.decode()


def test_the_api_estimates_starts_pauses_and_resumes(
    scored: RagSampleSet, provider: Provider, server: ModelServer, lead: Any, engineer: Any, api_of: Any
) -> None:
    api, at = api_of(lead), f"/api/v1/collections/shop/rag/samples/{scored.uuid}/critic/"
    payload = {"provider": str(provider.uuid), "model": "judge-1", "metrics": [FAITHFULNESS]}
    assert api.get(at).status_code == 404
    estimate = api.post(at, payload | {"dry_run": True}, format="json")
    assert (estimate.status_code, estimate.json()["samples"]) == (200, 14)
    assert api.post(at, payload, format="json").status_code == 400
    assert api_of(engineer).post(at, payload | {"cap_calls": 50}, format="json").status_code == 403
    made = api.post(at, payload | {"cap_calls": 50}, format="json")
    run = RagCriticRun.objects.get()
    assert (made.status_code, made.json()["id"]) == (202, str(run.uuid))
    assert api.post(f"{at}pause/").json()["state"] == "waiting"
    do(run)
    assert api.post(f"{at}pause/").status_code == 409
    assert api.post(f"{at}go-on/", {"cap_usd": 1.0}, format="json").status_code == 202
    do(run)
    body = api_of(engineer).get(at).json()
    assert (body["state"], body["calls"], body["cap_usd"]) == ("done", len(server.requests), 1.0)
    assert body["prompts"][FAITHFULNESS]["version"] == 1
    work(scored)
    cards = api_of(engineer).get(at.replace("critic", "scorecards")).json()
    assert cards["metrics"][FAITHFULNESS]["critic"]["model"] == "judge-1"


def test_critic_scores_of_answers_a_reader_may_still_grade_are_hidden(
    scored: RagSampleSet, provider: Provider, lead: Any, engineer: Any, api_of: Any, client_of: Any
) -> None:
    run = critics.start(scored, choice(provider), cap_usd=None, cap_calls=100, actor=lead)
    do(run)
    work(scored)
    new = RagSystem.objects.get(name="new")
    (made,) = people.start(scored, name="A", systems=[new], dimensions=["faithful"], raters=[lead], actor=lead)
    rounds.open_round(made, actor=lead)
    at = f"/api/v1/collections/shop/rag/samples/{scored.uuid}/scorecards/?per_sample=true"
    assert FAITHFULNESS in api_of(engineer).get(at).content.decode()
    pages = [
        reverse("rag_set", args=["shop", scored.uuid]),
        reverse("rag_compare", args=["shop", scored.uuid]) + f"?metric={FAITHFULNESS}",
        reverse("rag_sample", args=["shop", scored.uuid, scored.samples.all()[0].uuid]),
        *(
            reverse("rag_file", args=["shop", scored.uuid, name])
            for name in ("scorecards.json", "scorecards.csv", "per-sample.csv")
        ),
    ]
    client = client_of(lead)
    for page in pages:
        response = client.get(page)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        assert FAITHFULNESS.encode() not in content, page
        seen = client_of(engineer).get(page)
        assert FAITHFULNESS.encode() in (b"".join(seen.streaming_content) if seen.streaming else seen.content), page
    assert FAITHFULNESS not in api_of(lead).get(at).content.decode()


def test_no_model_call_without_a_cap_a_price_or_a_grant(
    scored: RagSampleSet, provider: Provider, server: ModelServer, lead: Any, collection: Any
) -> None:
    with pytest.raises(NotValid) as error:
        critics.start(scored, choice(provider), cap_usd=None, cap_calls=None, actor=lead)
    assert "cap_usd" in error.value.fields
    with pytest.raises(NotValid) as error:
        critics.start(scored, critics.CriticSettings(provider, "judge-2"), cap_usd=1.0, cap_calls=None, actor=lead)
    assert "cap_usd" in error.value.fields
    with pytest.raises(NotValid) as error:
        critics.look(scored, critics.CriticSettings(provider, "nobody"))
    assert "model" in error.value.fields
    for wrong in ("TokenF1", "Nonsense", ""):
        with pytest.raises(NotValid):
            critics.look(scored, choice(provider, wrong))
    run = critics.start(scored, choice(provider), cap_usd=None, cap_calls=9, actor=lead)
    for row in Grant.objects.filter(collection=collection, kind="provider-host"):
        grants.revoke(row)
    job = do(run)
    assert job.state == Job.State.FAILED
    assert not server.requests


def test_the_cap_holds_and_no_question_is_repeated(
    scored: RagSampleSet, provider: Provider, server: ModelServer, lead: Any, client_of: Any
) -> None:
    run = critics.start(scored, choice(provider), cap_usd=None, cap_calls=5, actor=lead)
    do(run)
    assert (run.state, run.calls, len(server.requests)) == ("budget", 5, 5)
    work(scored)
    card = scorecards.cards_of(scored)[0]
    details = card.metrics[FAITHFULNESS]["details"]
    assert details["num_samples"] + details["skipped"]["critic_not_asked"] == len(SAMPLES)
    page = reverse("rag_set", args=["shop", scored.uuid])
    assert any(FAITHFULNESS in note for note in client_of(lead).get(page).context["notes"])
    with pytest.raises(NotValid):
        critics.go_on(run, cap_calls=5, actor=lead)
    critics.go_on(run, cap_calls=100, actor=lead)
    do(run)
    assert run.state == "done"
    work(scored)
    assert not any(FAITHFULNESS in note for note in client_of(lead).get(page).context["notes"])
    assert set(Counter(server.prompts).values()) == {1}
    requests = len(server.requests)
    # Another run over the same answers finds them in the ledger.
    again = critics.start(scored, choice(provider), cap_usd=None, cap_calls=5, actor=lead)
    do(again)
    assert (again.state, again.calls, len(server.requests)) == ("done", 0, requests)


def test_a_later_system_is_judged_when_the_lead_continues(
    sample_set: RagSampleSet, store: Any, provider: Provider, server: ModelServer, lead: Any
) -> None:
    store("outputs", OLD, "old.jsonl", samples=str(sample_set.uuid))
    run = critics.start(sample_set, choice(provider), cap_usd=None, cap_calls=100, actor=lead)
    do(run)
    requests = len(server.requests)
    store("outputs", NEW, "new.jsonl", samples=str(sample_set.uuid))
    work(sample_set)
    assert len(server.requests) == requests
    critics.go_on(run, actor=lead)
    do(run)
    work(sample_set)
    assert len(server.requests) > requests
    for card in scorecards.cards_of(sample_set):
        assert card.metrics[FAITHFULNESS]["details"]["num_samples"] == len(SAMPLES)


def test_a_job_that_was_cancelled_keeps_its_answers(
    scored: RagSampleSet, provider: Provider, server: ModelServer, lead: Any
) -> None:
    run = critics.start(scored, choice(provider), cap_usd=None, cap_calls=100, actor=lead)
    run.refresh_from_db()

    def cancel(prompt: str, number: int) -> Answer:
        return Answer("1", wait=0.5)

    server.answer = cancel
    Job.objects.filter(pk=run.job.pk).update(cancel_requested=True)
    job = do(run)
    assert (job.state, run.state) == (Job.State.CANCELLED, "stopped")
    before = len(server.requests)
    assert before == RagCriticCall.objects.count()
    critics.go_on(run, actor=lead)
    do(run)
    assert run.state == "done"
    assert set(Counter(server.prompts).values()) == {1}


def test_replies_that_cannot_be_used_are_skipped(
    scored: RagSampleSet, provider: Provider, server: ModelServer, lead: Any
) -> None:
    server.answer = lambda prompt, number: Answer("7" if "rubber seals" in prompt.split("The answer:")[1] else "bad")
    run = critics.start(scored, choice(provider), cap_usd=None, cap_calls=100, actor=lead)
    do(run)
    work(scored)
    card = scorecards.cards_of(scored)[0]
    assert card.value(FAITHFULNESS) is None
    skipped = card.metrics[FAITHFULNESS]["details"]["skipped"]
    assert set(skipped) == {"critic_off_scale", "critic_unparseable"}
    assert sum(skipped.values()) == len(SAMPLES)


def test_a_provider_that_refuses_the_key_fails_the_job(
    scored: RagSampleSet, provider: Provider, server: ModelServer, lead: Any
) -> None:
    server.answer = lambda prompt, number: Answer(status=401)
    run = critics.start(scored, choice(provider), cap_usd=None, cap_calls=100, actor=lead)
    job = do(run)
    assert (job.state, run.state) == (Job.State.FAILED, "refused")


def test_one_critic_works_at_a_time(scored: RagSampleSet, provider: Provider, lead: Any) -> None:
    run = critics.start(scored, choice(provider), cap_usd=None, cap_calls=100, actor=lead)
    with pytest.raises(Conflict):
        critics.start(scored, choice(provider), cap_usd=None, cap_calls=100, actor=lead)
    with pytest.raises(Conflict):
        critics.go_on(run, actor=lead)
    with pytest.raises(Conflict):
        accounts.remove(provider, actor=lead)
    critics.pause(run, actor=lead)
    do(run)
    assert run.state == "paused"
    newer = critics.start(scored, choice(provider, "LLMAnswerQuality"), cap_usd=None, cap_calls=100, actor=lead)
    do(newer)
    with pytest.raises(Conflict):
        critics.go_on(run, actor=lead)
    accounts.remove(provider, actor=lead)
    newer.refresh_from_db()
    with pytest.raises(AssayError):
        critics.go_on(newer, actor=lead)
    work(scored)  # the ledger still has the answers
    assert scorecards.cards_of(scored)[0].value("LLMAnswerQuality") is not None


def test_without_answers_there_is_nothing_to_ask(
    sample_set: RagSampleSet, store: Any, provider: Provider, lead: Any
) -> None:
    rows = [{"sample_id": row["sample_id"], "retrieved": ["d1"]} for row in SAMPLES]
    store("outputs", rows, "bm25.jsonl", samples=str(sample_set.uuid))
    with pytest.raises(Conflict):
        critics.start(sample_set, choice(provider), cap_usd=None, cap_calls=1, actor=lead)
    assert not RagCriticRun.objects.exists()
    assert RagSystem.objects.count() == 1
