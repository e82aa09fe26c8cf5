"""Tests of the pairwise comparison pages: cost estimate, runs, results, grades."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.urls import reverse

from judgments.machines.judge_runs.views.judges import dollars
from judgments.machines.pairwise import file_import, runs
from judgments.models import Battle, BattleRun, Judge
from tests.judgments.machines.model_replies import provider_at
from tests.judgments.machines.pairwise.example import better, choice_of, fought, with_worth
from tests.model_server import Answer, ModelServer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return with_worth(make_round(queries=3, documents=4, raters=[rater], ratings_per_pair=1))


def test_the_whole_way_by_pages(
    round_: Any,
    server: ModelServer,
    client_of: Any,
    lead: Any,
    rater: Any,
    rate_all: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    client = client_of(lead)
    listed, new = reverse("battles", args=[round_.uuid]), reverse("battle_new", args=[round_.uuid])
    assert "Add model provider" in client.get(listed).content.decode()
    assert "Add model provider" in client.get(new).content.decode()
    provider = provider_at(server.url, round_.collection, lead)
    form = {"models": [f"{provider.uuid}|judge-1"], "cycles": 3, "both": 50, "audit_share": 10}
    form["queries"] = " q1\r\nq2\n\nq3"
    page = client.post(new, {**form, "act": "start"})
    assert (page.status_code, "Enter a cap" in page.content.decode()) == (422, True)
    # What it would take stands there all the same: the cap that is wanted hangs on it.
    assert re.search(r"<b>\$0\.\d+ to \$0\.\d+</b>", page.content.decode())
    page = client.post(new, {**form, "queries": "q1\nq7", "cap_calls": 9})
    assert (page.status_code, "&#x27;q7&#x27;." in page.content.decode()) == (422, True)
    page = client.post(new, {**form, "cap_usd": 5, "act": "estimate"})
    assert (page.status_code, server.requests, BattleRun.objects.count()) == (200, [], 0)
    assert re.search(r"\$0\.\d+ to \$0\.\d+", page.content.decode())
    with django_capture_on_commit_callbacks(execute=True):
        page = client.post(new, {**form, "cap_usd": 5, "act": "start"})
    run = BattleRun.objects.get()
    here = reverse("battle_run", args=[round_.uuid, run.uuid])
    assert (page.status_code, page.headers["Location"], run.state) == (302, here, "done")
    assert here in client.get(listed).content.decode()

    query = round_.pairs.get(document__doc_id="d1-4").query
    place = reverse("battle_query", args=[round_.uuid, run.uuid, query.uuid])
    assert place in client.get(here).content.decode()
    page = client.get(place).content.decode()
    assert page.index(">d1-4<") < page.index(">d1-3<") < page.index(">d1-1<")
    assert 'role="img"' in page
    assert "View as table" in page
    # The best one's battles until another is asked for, each with the model's reason.
    worst = round_.pairs.get(document__doc_id="d1-1")
    html = client.get(f"{place}?document={worst.uuid}").content.decode()
    assert "Comparisons of d1-1" in html
    assert "reason of" in html
    rows = client.get(f"{place}?document={worst.uuid}&format=csv")
    lines = b"".join(rows.streaming_content).decode().splitlines()
    assert len(lines) - 1 == Battle.objects.filter(a=worst).count() + Battle.objects.filter(b=worst).count()
    assert all(",lost,-" in line for line in lines[1:])
    file = client.get(reverse("battle_export", args=[round_.uuid, run.uuid]))
    assert [json.loads(line)["query_id"] for line in file.content.splitlines()].count("q1") > 0

    # Without people there are no grades; with them a judge with a page of its own.
    page = client.post(reverse("battle_grades", args=[round_.uuid, run.uuid]), {"share": 100}, follow=True)
    assert "There are 0 anchors" in page.content.decode()
    rate_all(round_, rater, lambda pair: int(pair.document.doc_id[-1]) // 2)
    page = client.post(reverse("battle_grades", args=[round_.uuid, run.uuid]), {"share": 60}, follow=True)
    judge = Judge.objects.get(kind="pairwise")
    assert reverse("machine_judge", args=[round_.uuid, judge.uuid]) in page.content.decode()
    assert client.get(reverse("machine_judge", args=[round_.uuid, judge.uuid])).status_code == 200
    assert judge.name in client.get(reverse("judges", args=[round_.uuid])).content.decode()

    before, requests = run.battles, len(server.requests)
    assert "Estimate cost" in client.get(here).content.decode()
    estimate = runs.estimate_further(run, 9)
    page = client.get(f"{here}?number=9").content.decode()
    assert re.search(rf"{estimate.battles}, each by 1 model\b.*<b>\$0\.\d+ to \$0\.\d+</b>", page, re.DOTALL)
    assert "needs attention" in client.get(f"{here}?number=0").content.decode()
    run.refresh_from_db()
    assert (len(server.requests), run.battles) == (requests, before)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("battle_further", args=[round_.uuid, run.uuid]), {"number": 9})
    run.refresh_from_db()
    assert (run.battles, len(server.requests)) == (before + estimate.battles, requests + estimate.calls[0])
    assert "no comparison is left" in client.get(f"{here}?number=9").content.decode()
    met = {frozenset(row[:2]) for row in run.drawn}
    assert (len(met), run.state, run.battles >= before) == (3 * 6, "done", True)


def test_a_run_tells_what_it_took_and_what_is_to_come(
    provider: Any,
    round_: Any,
    server: ModelServer,
    client_of: Any,
    api_of: Any,
    lead: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    """Beside what was told before: tokens, what nobody counted, and what going on costs at most."""
    server.answer = lambda prompt, number: replace(better(prompt, number), read=1_000, written=500)
    choice = choice_of(provider, cycles=2, both=0.0)
    data = runs.estimate_run(round_, choice)
    assert data.usd is not None
    run = fought(round_, choice, lead, django_capture_on_commit_callbacks, cap_calls=5)
    left = run.battles - 5
    assert (run.state, runs.unanswered(run), left > 1) == ("budget", left, True)
    page = client_of(lead).get(reverse("battle_run", args=[round_.uuid, run.uuid])).content.decode()
    assert f"<dd>{dollars(data.usd[0])} to {dollars(data.usd[1])}, for {run.battles} comparisons</dd>" in page
    assert "5,000 in, 2,500 out" in page
    at_most = dollars(data.usd[1] * left / run.battles)
    assert f"{left} answers are left, for at most {at_most} more (estimate)." in page
    assert "Upper bound" not in page
    body = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/battles/{run.uuid}/").json()
    assert (body["unanswered"], body["tokens_in"], body["tokens_out"]) == (left, 5_000, 2_500)
    assert (body["estimated_usd"], body["left_out"], body["estimate"]["calls"][0]) == (0.0, [], run.battles)
    # An answer of which nobody said what it cost is booked as the most that it can have been.
    Battle.objects.bulk_create([uncounted(Battle.objects.filter(run=run).first())])
    page = client_of(lead).get(reverse("battle_run", args=[round_.uuid, run.uuid])).content.decode()
    assert "<dt>Upper bound</dt><dd>$0.2500 of this cost" in page
    assert "<dt>Parameters not sent</dt><dd>seed: not supported by a model" in page
    body = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/battles/{run.uuid}/").json()
    assert (body["estimated_usd"], body["left_out"]) == (0.25, ["seed"])


def uncounted(row: Any) -> Battle:
    """The same answer as it is kept where the reply had no numbers."""
    row.pk, row.uuid, row.key, row.tokens_in, row.tokens_out = None, uuid.uuid4(), "0" * 64, None, None
    row.cost_usd, row.cost_estimated, row.left_out = 0.25, True, ["seed"]
    return row  # type: ignore[no-any-return]


def test_a_refused_model_leads_to_its_provider(
    provider: Any, round_: Any, server: ModelServer, client_of: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    server.answer = lambda prompt, number: Answer("no such key", status=401)
    run = fought(round_, choice_of(provider), lead, django_capture_on_commit_callbacks)
    page = client_of(lead).get(reverse("battle_run", args=[round_.uuid, run.uuid])).content.decode()
    mend = reverse("provider_change", args=[round_.collection.slug, provider.uuid])
    assert (run.state, f'href="{mend}">Fix local' in page) == ("refused", True)


def test_model_output_is_escaped(
    round_: Any, client_of: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    answer = Answer(json.dumps({"reason": "<script>alert(1)</script>", "score": 0.5}))
    pair = round_.pairs.get(document__doc_id="d1-1")
    with serving(lambda prompt, number: answer) as server:
        provider = provider_at(server.url, round_.collection, lead)
        form = {"models": [f"{provider.uuid}|judge-1"], "cycles": 1, "both": 0, "audit_share": 10, "cap_calls": 99}
        with django_capture_on_commit_callbacks(execute=True):
            client_of(lead).post(reverse("battle_new", args=[round_.uuid]), {**form, "act": "start"})
    place = reverse("battle_query", args=[round_.uuid, BattleRun.objects.get().uuid, pair.query.uuid])
    page = client_of(lead).get(place).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_squares_of_many_documents_say_what_they_are(make_round: Any, rater: Any, client_of: Any, lead: Any) -> None:
    round_ = make_round(queries=1, documents=120, raters=[rater])
    rows = [
        {"query_id": "q1", "a": f"d1-{at}", "b": f"d1-{at + 1}", "score": 0.5, "model": "m"} for at in range(1, 120)
    ]
    content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    run = file_import.import_battles(round_, content, filename="battles.jsonl", actor=lead)
    query = round_.pairs.first().query
    page = client_of(lead).get(reverse("battle_query", args=[round_.uuid, run.uuid, query.uuid])).content.decode()
    assert "Each square is the mean of about 1.2 by 1.2 documents." in page
    assert reverse("battle_export", args=[round_.uuid, run.uuid]) in page
