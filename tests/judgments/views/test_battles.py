"""Can a lead have battles fought from the pages, see their cost first, read who won and why, make grades of them?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.urls import reverse

from judgments.models import Battle, BattleRun, Judge
from tests.judgments.battles_fought import better, with_worth
from tests.judgments.models_asked import provider_at
from tests.model_server import Answer, ModelServer, serving

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.PROVIDER_HOSTS, settings.PROVIDER_NETWORKS = ["127.0.0.1"], ["127.0.0.0/8"]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(better) as found:
        yield found


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
    assert "Add a model provider" in client.get(listed).content.decode()
    assert "Add a model provider" in client.get(new).content.decode()
    provider = provider_at(server.url, round_.collection, lead)
    form = {"models": [f"{provider.uuid}|judge-1"], "cycles": 3, "both": 50, "audit_share": 10}
    form["queries"] = " q1\r\nq2\n\nq3"
    page = client.post(new, {**form, "act": "start"})
    assert (page.status_code, "Give a limit" in page.content.decode()) == (422, True)
    page = client.post(new, {**form, "queries": "q1\nq7", "cap_calls": 9})
    assert (page.status_code, "no query &#x27;q7&#x27;" in page.content.decode()) == (422, True)
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
    assert "The same as a table" in page
    # The best one's battles until another is asked for, each with the model's reason.
    worst = round_.pairs.get(document__doc_id="d1-1")
    told = client.get(f"{place}?document={worst.uuid}").content.decode()
    assert "Battles of d1-1" in told
    assert "reason of" in told
    rows = client.get(f"{place}?document={worst.uuid}&format=csv")
    lines = b"".join(rows.streaming_content).decode().splitlines()
    assert len(lines) - 1 == Battle.objects.filter(a=worst).count() + Battle.objects.filter(b=worst).count()
    assert all(",lost,-" in line for line in lines[1:])
    file = client.get(reverse("battle_export", args=[round_.uuid, run.uuid]))
    assert [json.loads(line)["query_id"] for line in file.content.splitlines()].count("q1") > 0

    # Without people there are no grades; with them a judge with a page of its own.
    page = client.post(reverse("battle_grades", args=[round_.uuid, run.uuid]), {"share": 100}, follow=True)
    assert "People graded 0 of the anchors" in page.content.decode()
    rate_all(round_, rater, lambda pair: int(pair.document.doc_id[-1]) // 2)
    page = client.post(reverse("battle_grades", args=[round_.uuid, run.uuid]), {"share": 60}, follow=True)
    judge = Judge.objects.get(kind="pairwise")
    assert reverse("machine_judge", args=[round_.uuid, judge.uuid]) in page.content.decode()
    assert client.get(reverse("machine_judge", args=[round_.uuid, judge.uuid])).status_code == 200
    assert judge.name in client.get(reverse("judges", args=[round_.uuid])).content.decode()

    before = run.battles
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("battle_further", args=[round_.uuid, run.uuid]), {"number": 9})
    run.refresh_from_db()
    met = {frozenset(row[:2]) for row in run.drawn}
    assert (len(met), run.state, run.battles >= before) == (3 * 6, "done", True)


def test_what_a_model_writes_stays_text(
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
