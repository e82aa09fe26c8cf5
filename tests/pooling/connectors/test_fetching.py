"""Tests of fetching runs from a live engine, also when it fails halfway."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from assay.connectors.fetch import Plan
from assay.core.errors import Conflict, NotValid
from judgments.jobs import jobs
from judgments.models import Document, Job, Query, Upload
from pooling.connectors import connections, fetching
from pooling.models import Connector, Fetch, Run
from pooling.runs import runs
from tests.assay.connectors.bad_engine import SECRET, BadEngine

pytestmark = pytest.mark.django_db
QUERIES = 12


@pytest.fixture(autouse=True)
def _quick(engines_allowed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "PART", 2)


@pytest.fixture
def queries(collection: Any) -> None:
    Query.objects.bulk_create(
        Query(collection=collection, query_id=f"q{number:02}", text=f"query {number}") for number in range(QUERIES)
    )


@pytest.fixture
def connect(collection: Any, engineer: Any, bad_engine: BadEngine, queries: None) -> Callable[..., Connector]:
    """``connect("word")``: a connector to an engine that behaves as the word says."""

    def make(word: str, **given: str) -> Connector:
        values = {"address": bad_engine.at(word), **given}
        return connections.add(collection, actor=engineer, name=word, kind="json-http", given=values, concurrency=2)

    return make


@pytest.fixture
def fetch(engineer: Any, django_capture_on_commit_callbacks: Any) -> Callable[..., Fetch]:
    """``fetch(connector)``: the fetch after its job."""

    def make(connector: Connector, run_name: str = "live", depth: int = 3) -> Fetch:
        with django_capture_on_commit_callbacks(execute=True):
            made = fetching.start(connector, actor=engineer, run_name=run_name, depth=depth)
        return Fetch.objects.select_related("job", "run").get(pk=made.pk)

    return make


@pytest.fixture
def go_on(engineer: Any, django_capture_on_commit_callbacks: Any) -> Callable[..., Fetch]:
    def again(row: Fetch, **more: Any) -> Fetch:
        with django_capture_on_commit_callbacks(execute=True):
            fetching.resume(row, actor=engineer, **more)
        return Fetch.objects.select_related("job", "run").get(pk=row.pk)

    return again


def test_a_run_with_documents(connect: Any, fetch: Any, collection: Any) -> None:
    row = fetch(connect("good"))
    assert (row.job.state, row.job.error, row.answered) == ("done", "", QUERIES)
    run = row.run
    assert (run.name, run.rows, run.queries, run.depth) == ("live", QUERIES * 3, QUERIES, 3)
    assert run.description == "Fetched from good, depth 3"
    assert list(runs.ranked(run).ranking("q05")) == ["d1", "d2", "d3"]
    assert Document.objects.get(collection=collection, doc_id="d2").title == "Document 2"
    assert row.job.result["documents stored"] == 3
    # The same document came with another text for every query: that is told.
    assert row.job.result["documents returned with different contents"] == 3
    assert row.job.result["page"] == f"/c/shop/runs/{run.uuid}/"


def test_documents_that_are_here_stay_as_they_are(connect: Any, fetch: Any, collection: Any, store: Any) -> None:
    store(collection, "documents", b'{"doc_id": "d1", "title": "Ours", "text": "as judged"}\n', "docs.jsonl")
    row = fetch(connect("good"))
    assert row.job.result["documents stored"] == 2
    assert Document.objects.get(collection=collection, doc_id="d1").title == "Ours"


def test_an_engine_that_fails_halfway(connect: Any, fetch: Any, go_on: Any, bad_engine: BadEngine) -> None:
    bad_engine.patience = 5
    row = fetch(connect("tired"))
    assert (row.job.state, row.run, row.answered) == ("failed", None, 5)
    # Two are asked at a time, and both may come back before anybody counts.
    assert re.match("[56] queries in a row got no answer", row.job.error)
    assert "The results of 5 of 12 queries are stored" in row.job.error
    assert row.waits
    options = bad_engine.seen["tired"]
    bad_engine.patience = 1000
    row = go_on(row)
    assert (row.job.state, row.run.queries, row.answered) == ("done", QUERIES, QUERIES)
    # Only what had no answer was asked again, and three early ones to see whether the index changed.
    assert bad_engine.seen["tired"] - options == QUERIES - 5 + fetching.REPEATED_QUERIES


def test_each_way_to_fail_has_a_clear_state(
    connect: Any, fetch: Any, go_on: Any, bad_engine: BadEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but fewer hits makes a run; what failed says why, waits, and is gone on with once the engine is well."""
    monkeypatch.setattr(fetching, "Plan", partial(Plan, attempts=1))
    facts = {
        "fails": "status 500: “.*out of memory",
        "html": "status 200 with “<html>.*instead of JSON",
        "hangs": r"did not respond within 0\.2 seconds",
        "elsewhere": "redirects to http://169",
    }
    for word, expected in facts.items():
        connector = connect(word)
        # Who is to answer has time for it.
        Connector.objects.filter(pk=connector.pk).update(timeout=0.2 if word == "hangs" else 20)
        connector.refresh_from_db()
        row = fetch(connector, run_name=word)
        assert (row.job.state, row.run, row.answered, row.waits) == ("failed", None, 0, True), word
        assert re.search(expected, row.job.error), row.job.error
        assert row.job.error.endswith("Resume the fetch on the connector's page."), word
        assert row.job.traceback == "", word
    good = {**connector.settings, "address": bad_engine.at("good")}
    connections.change(connector, actor=row.created_by, name=word, given=good, timeout=5.0, concurrency=2)
    assert go_on(row).run.queries == QUERIES
    few = fetch(connect("few"))
    assert (few.job.state, few.job.result["queries with fewer documents than requested"]) == ("done", QUERIES)


def test_deeper_than_a_page(connect: Any, fetch: Any, engineer: Any) -> None:
    template = '{"query": "{query}", "size": "{depth}"}'
    flat = connect("paged", template=template, page="250")
    with pytest.raises(NotValid) as caught:
        fetching.start(flat, actor=engineer, run_name="x", depth=300)
    assert caught.value.fields["depth"].startswith(
        "This engine supports depths from 1 to 250. One request returns 250. For more"
    )
    given = {**flat.settings, "template": template[:-1] + ', "offset": "{offset}"}'}
    connections.change(flat, actor=engineer, name="paged", given=given, timeout=5.0, concurrency=2)
    row = fetch(flat, depth=300)
    assert (row.job.state, row.run.depth, row.run.rows) == ("done", 300, 300 * QUERIES)


def test_a_wrong_secret(connect: Any, fetch: Any, go_on: Any, engineer: Any) -> None:
    connector = connect("locked", secret="wrong-" + SECRET)
    row = fetch(connector)
    assert (row.job.state, row.answered) == ("failed", 0)
    assert "rejected the secret" in row.job.error
    assert SECRET not in repr(Job.objects.values().get()) + repr(Fetch.objects.values().get())
    given = {**connector.settings, "secret": SECRET}
    connections.change(connector, actor=engineer, name="locked", given=given, timeout=5.0, concurrency=2)
    assert go_on(row).run.queries == QUERIES


def test_some_queries_fail(connect: Any, fetch: Any, go_on: Any, collection: Any) -> None:
    Query.objects.filter(collection=collection, query_id__in=["q03", "q07"]).update(text="bad words")
    row = fetch(connect("some"))
    assert (row.job.state, row.answered, sorted(row.failed)) == ("failed", QUERIES - 2, ["q03", "q07"])
    assert row.job.error.startswith("2 queries failed; the first is q0")
    assert "unknown field [titel]" in row.failed["q03"]
    assert not Run.objects.exists()
    row = go_on(row, without_failed=True)
    assert (row.job.state, row.run.queries) == ("done", QUERIES - 2)
    assert row.job.result["queries left out"] == 2


def test_an_index_that_changes_is_reported(connect: Any, fetch: Any) -> None:
    row = fetch(connect("moves"))
    assert row.job.result["index changed during the fetch"] == "yes"
    assert "the index changed during the fetch" in row.run.description
    assert row.job.result["queries with fewer documents than requested"] == QUERIES


def test_repeated_documents(connect: Any, fetch: Any) -> None:
    row = fetch(connect("repeats"), depth=5)
    assert row.job.result["duplicate documents left out"] == 2 * QUERIES
    assert row.run.rows == 3 * QUERIES


def test_a_job_that_is_cancelled_keeps_what_it_has(
    connect: Any, fetch: Any, go_on: Any, monkeypatch: pytest.MonkeyPatch, bad_engine: BadEngine
) -> None:
    summary = jobs.Work.progress

    def progress(self: jobs.Work, done: int, total: int | None = None) -> None:
        if done >= 4:
            Job.objects.filter(pk=self.job.pk).update(cancel_requested=True)
        summary(self, done, total)

    monkeypatch.setattr(jobs.Work, "progress", progress)
    row = fetch(connect("good"))
    assert (row.job.state, row.answered) == ("cancelled", 4)
    assert len(fetching.stored_answers(row)) == 4
    assert len(row.parts) == 2  # each answer once
    monkeypatch.setattr(jobs.Work, "progress", summary)
    assert go_on(row).run.queries == QUERIES


def test_a_killed_worker_loses_nothing_that_was_stored(connect: Any, fetch: Any, bad_engine: BadEngine) -> None:
    """A second attempt at the same job asks only what has no answer."""
    bad_engine.patience = 6
    row = fetch(connect("tired"))
    bad_engine.patience = 1000
    Job.objects.filter(pk=row.job.pk).update(state="queued", result=None)
    jobs.work_on_job.enqueue(str(row.job.uuid))
    row = Fetch.objects.select_related("run", "job").get(pk=row.pk)
    assert (row.job.state, row.run.queries) == ("done", QUERIES)
    Job.objects.filter(pk=row.job.pk).update(state="queued")
    jobs.work_on_job.enqueue(str(row.job.uuid))
    assert Run.objects.count() == 1


def test_the_same_answers_are_one_run(connect: Any, fetch: Any, api_of: Any, engineer: Any) -> None:
    connector = connect("good")
    run = fetch(connector).run
    Document.objects.all().delete()
    again = fetch(connector, run_name="again")
    assert (again.job.state, again.job.error, again.run) == ("done", "", run)
    result = again.job.result
    assert (result["run"], result["unchanged"], result["page"]) == ("live", "yes", f"/c/shop/runs/{run.uuid}/")
    assert (Run.objects.count(), result["documents stored"], again.waits) == (1, 3, False)
    assert not Upload.objects.filter(stored_at__isnull=True).exists()
    fetches = api_of(engineer).get(f"/api/v1/collections/shop/connectors/{connector.uuid}/fetches/").json()["results"]
    assert [row["run"] for row in fetches] == [fetches[1]["run"]] * 2


def test_an_engine_that_finds_nothing(connect: Any, fetch: Any, bad_engine: BadEngine) -> None:
    bad_engine.replies["/none"] = {"hits": []}
    row = fetch(connect("none"))
    assert "returned no documents for any query" in row.job.error


def test_hostile_content(connect: Any, fetch: Any, collection: Any, bad_engine: BadEngine) -> None:
    hits = [
        {"id": 'a b"c,', "score": 2.0, "title": "NUL \0 and \ud800", "text": "<script>alert(1)</script>"},
        {"id": "=cmd()", "score": 1.0, "title": "x" * 5000, "url": "javascript:alert(1)"},
    ]
    bad_engine.replies["/odd"] = {"hits": hits}
    row = fetch(connect("odd"))
    assert row.job.state == "done", row.job.error or row.job.traceback
    assert row.run.rows == 2 * QUERIES


def test_refused_fetches(connect: Any, engineer: Any, collection: Any) -> None:
    connector = connect("good")
    for depth in (0, 1_001):
        with pytest.raises(NotValid) as caught:
            fetching.start(connector, actor=engineer, run_name="x", depth=depth)
        assert "depth" in caught.value.fields
    Query.objects.all().delete()
    with pytest.raises(NotValid, match="has no queries"):
        fetching.start(connector, actor=engineer, run_name="x", depth=3)


def test_finished_fetches_cannot_resume(connect: Any, fetch: Any, engineer: Any) -> None:
    row = fetch(connect("good"))
    with pytest.raises(Conflict, match="Its run is live"):
        fetching.resume(row, actor=engineer)
    running = fetching.start(row.connector, actor=engineer, run_name="other", depth=2)
    with pytest.raises(Conflict, match="is running"):
        fetching.resume(running, actor=engineer)
    with pytest.raises(Conflict, match="is running"):
        connections.remove(row.connector, actor=engineer)
