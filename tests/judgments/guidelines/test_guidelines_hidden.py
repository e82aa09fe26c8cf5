"""Tests of guidelines visibility: a version with a pair's grade is hidden from raters of that pair."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.urls import reverse

from assay.core.errors import Conflict, NotAllowed, NotValid
from judgments.agreement import resolutions
from judgments.guidelines import examples, guidelines
from judgments.machines.judge_runs import judge_runs
from judgments.members import collections, round_raters
from judgments.models import Document, Membership, Role
from judgments.rounds import rounds
from judgments.rounds.settings import RoundSettings
from tests.addresses import routes
from tests.judgments.machines.model_replies import choice_of, grade, provider_at
from tests.model_server import serving

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]
SECRET = "Tarps shelter, so this one is good."


@pytest.fixture
def shown(make_round: Make, lead: Any, engineer: Any, rater: Any, rater2: Any, rate_all: Make) -> Any:
    """A round under version 1 that `rater` and `lead2` still rate, and version 2 with the grade of one of its pairs."""
    lead2 = engineer
    member = Membership.objects.get(user=engineer)
    collections.change_role(member, actor=lead, role=Role.LEAD)
    round_ = make_round(queries=1, documents=2, raters=[rater, lead2], settings=RoundSettings(walk_in=True))
    settled = resolutions.resolve(round_.pairs.all()[0], grade=2, reason=SECRET, actor=lead)
    example = examples.propose(settled, actor=lead)
    text = f"{round_.guidelines.markdown}\n- **Tarp** is 2. {SECRET}\n"
    new = guidelines.add_version(round_.collection, actor=lead, markdown=text, written=[example])
    return SimpleNamespace(round=round_, old=round_.guidelines, new=new, lead2=lead2, collection=round_.collection)


def text(version: Any) -> str:
    return reverse("guidelines_version", args=[version.uuid])


def test_a_rater_reads_no_version_newer_than_their_rounds(shown: Any, rater: Any, client_of: Make) -> None:
    browser = client_of(rater)
    for query in ("", "?against=2", "?against=02", "?against=2&against=1", "?against=1&against=2"):
        page = browser.get(f"{text(shown.old)}{query}")
        assert page.status_code == 200
        assert SECRET not in page.content.decode()
        assert 'value="2"' not in page.content.decode()
    for query in ("", "?against=1"):
        assert browser.get(f"{text(shown.new)}{query}").status_code == 403
    assert browser.get(reverse("guidelines_file", args=[shown.new.uuid])).status_code == 403


def test_staff_who_do_not_rate_read_every_version(shown: Any, lead: Any, client_of: Make) -> None:
    assert SECRET in client_of(lead).get(f"{text(shown.old)}?against=2").content.decode()
    assert client_of(lead).get(text(shown.new)).status_code == 200


def test_leads_who_rate_see_guidelines_after_grading(
    shown: Any, lead: Any, client_of: Make, api_of: Make, rate_all: Make
) -> None:
    lead2, slug = shown.lead2, shown.collection.slug
    browser, api = client_of(lead2), api_of(lead2)
    address = f"/api/v1/collections/{slug}/guidelines/"
    new = {"markdown": "Other", "dry_run": True}
    assert SECRET not in browser.get(f"{text(shown.old)}?against=2").content.decode()
    assert browser.get(text(shown.new)).status_code == 403
    assert browser.get(reverse("guidelines_file", args=[shown.new.uuid])).status_code == 403
    assert browser.get(reverse("guidelines_new", args=[slug])).status_code == 403
    assert browser.post(reverse("guidelines_new", args=[slug]), {"markdown": "x", "act": "preview"}).status_code == 403
    listed = browser.get(reverse("guidelines", args=[slug]), {"q": "Tarps"})
    assert text(shown.new) not in listed.content.decode()
    assert [one["number"] for one in api.get(address).json()["results"]] == [1]
    assert api.get(f"{address}2/").status_code == 404
    assert api.get(f"{address}1/?against=2").status_code == 404
    assert api.get(f"{address}examples/").json()["results"] == []
    assert api.post(address, new, format="json").status_code == 403
    rate_all(shown.round, lead2)
    assert browser.get(text(shown.new)).status_code == 200
    assert api.get(f"{address}1/?against=2").status_code == 200
    assert api.post(address, new, format="json").status_code == 200


def second(shown: Any, lead: Any, **options: Any) -> Any:
    pairs = shown.round.pairs.select_related("query", "document")
    options.setdefault("candidates", [rounds.Candidate(one.query, one.document, {}) for one in pairs])
    return rounds.create_round(
        shown.collection,
        name="Second",
        provenance={},
        guidelines=shown.new,
        actor=lead,
        **options,
    )


def test_joining_a_round_reveals_no_hidden_guidelines(
    shown: Any, lead: Any, rater: Any, rater2: Any, rate_all: Make
) -> None:
    newer = rounds.open_round(second(shown, lead, raters=[rater2], settings=RoundSettings(walk_in=True)), actor=lead)
    assert newer not in round_raters.joinable(rater)
    with pytest.raises(Conflict, match="guidelines"):
        round_raters.join(newer, rater=rater)
    with pytest.raises(NotValid, match="guidelines"):
        round_raters.invite(newer, [rater], actor=lead)
    # The other way around: who has read the newer ones is not asked for the pairs that they show.
    with pytest.raises(Conflict, match="guidelines"):
        round_raters.join(shown.round, rater=rater2)
    rate_all(shown.round, rater)
    round_raters.join(newer, rater=rater)


def test_a_draft_opens_once_its_raters_may_read_its_guidelines(
    shown: Any, lead: Any, rater: Any, client_of: Make
) -> None:
    draft = second(shown, lead, raters=[rater])
    assert client_of(rater).get(text(shown.new)).status_code == 403
    with pytest.raises(NotValid, match="guidelines"):
        rounds.open_round(draft, actor=lead)
    rounds.close_round(shown.round, actor=lead)
    rounds.open_round(draft, actor=lead)
    assert client_of(rater).get(text(shown.new)).status_code == 200


@pytest.mark.usefixtures("models_allowed")
def test_model_prompts_hide_them_from_leads_who_rate(shown: Any, lead: Any, client_of: Make, api_of: Make) -> None:
    """The words of a prompt can hold the guidelines, and a try shows the prompt."""
    lead2, collection = shown.lead2, shown.collection
    query = shown.round.pairs.first().query
    texts = [Document.objects.create(collection=collection, doc_id=f"new{at}", text=f"New {at}") for at in (1, 2)]
    newer = second(shown, lead, candidates=[rounds.Candidate(query, one, {}) for one in texts])
    with serving(lambda prompt, number: grade(1)) as server:
        provider = provider_at(server.url, collection, lead)
        place = f"/api/v1/collections/{collection.slug}/prompts/try/"
        body = {"round": str(newer.uuid), "provider": str(provider.uuid), "model": "judge-1", "pairs": 1}
        for words in (
            {"prompt": "{guidelines} {query} {scale} {document}"},
            {"version": "graded"},
            {"version": "pairwise"},
        ):
            answer = api_of(lead2).post(place, {**body, **words}, format="json")
            assert (answer.status_code, SECRET in answer.content.decode()) == (403, False), words
        form = {"act": "try", "asks": "grade", "system": "", "prompt": "{guidelines} {query} {scale} {document}"}
        form |= {"round": newer.uuid, "model": f"{provider.uuid} judge-1", "pairs": 1}
        page = client_of(lead2).post(f"/c/{collection.slug}/prompts/new/", form)
        assert SECRET not in page.content.decode()
        with pytest.raises(NotAllowed):
            judge_runs.start(newer, choice_of(provider), actor=lead2, cap_usd=None, cap_calls=10)
        assert server.requests == []
        # Whoever rates nothing here tries it.
        assert (
            SECRET in api_of(lead).post(place, {**body, "version": "graded"}, format="json").json()["pairs"][0]["asked"]
        )


@pytest.mark.slow
def test_no_address_tells_a_hidden_version(shown: Any, lead: Any, rater: Any, client_of: Make, api_of: Make) -> None:
    newer = second(shown, lead)
    for person in (rater, shown.lead2):
        browser, api = client_of(person), api_of(person)
        for route, _ in routes():
            for round_ in (newer, shown.round):
                path = route.replace("<slug:slug>", shown.collection.slug).replace("<uuid:uuid>", str(round_.uuid))
                if "<" in path or not path.startswith(("c/", "rounds/", "api/v1/collections/", "api/v1/rounds/")):
                    continue
                client = api if path.startswith("api/") else browser
                answer = client.get(f"/{path}", {"q": "Tarps", "against": "2", "guidelines": str(shown.new.uuid)})
                content = b"".join(answer.streaming_content) if answer.streaming else answer.content
                assert b"Tarps shelter" not in content.replace(b"&#x27;", b"'"), path
