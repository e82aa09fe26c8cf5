"""Tests of freshness: signals against the frozen baseline, scheduled checks, and the pool of each action."""

from __future__ import annotations

import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.files.storage import default_storage
from django.utils import timezone

from assay.core.errors import NotValid
from assay.staleness.actions import overlap
from evaluation.freshness import freshness, refresh, uploads
from evaluation.freshness import job as freshness_job
from evaluation.models import FreshnessCheck, FreshnessReading
from judgments.guidelines import guidelines
from judgments.jobs import jobs
from judgments.members import recorded_changes
from judgments.models import Job, RoundReport
from judgments.rounds import rounds
from pooling.models import Pool
from pooling.runs import runs
from tests.evaluation.stage import by_digit

pytestmark = pytest.mark.django_db
REPLY = Path(__file__).parents[2] / "assay" / "staleness" / "rank_eval.json"


def finding(snapshot, name):
    return freshness.look(snapshot).report[name]


def small(stage, queries=4):
    """A few queries, two runs of four documents, three deep, one rater."""
    stage.systems(queries)
    round_ = stage.round(raters=1)
    stage.graded(round_, by_digit, raters=1)
    return stage.frozen(rounds.close_round(round_, actor=stage.lead))


def test_the_baseline_holds_what_each_signal_needs(stage):
    frozen = small(stage).manifest["baseline"]
    assert sorted(frozen) == ["documents", "runs", "traffic"]
    assert [
        (run["name"], run["holes"], run["returned"]) for run in sorted(frozen["runs"]["runs"], key=lambda r: r["name"])
    ] == [
        ("bm25", 4, 16),
        ("neural", 4, 16),
    ]
    assert frozen["traffic"] == {"reason": "no query log was read"}
    assert frozen["documents"]["count"] == 8


def test_a_lost_run_file_prevents_neither_freezing_nor_viewing(stage, collection):
    round_ = small(stage).rounds.get()
    stage.run("lost", "0123", 4)
    default_storage.delete(collection.runs.get(name="lost").path)
    snapshot = stage.frozen(round_, "second")
    means = {run["name"]: (run["mean"], run["reason"]) for run in snapshot.manifest["baseline"]["runs"]["runs"]}
    assert means == {
        "bm25": (0.25, None),
        "neural": (0.25, None),
        "lost": (None, "its file cannot be read from storage"),
    }
    assert {run.name: run.reason for run in freshness.look(snapshot).report.runs}["lost"] == means["lost"][1]


def test_unjudged_of_a_new_run_and_its_pool(stage, collection):
    snapshot = small(stage)
    assert finding(snapshot, "unjudged").now == 0.25
    stage.run("new", "6017", 4)
    result = finding(snapshot, "unjudged")
    assert (result.state, result.now, result.then) == ("stale", 0.5, 0.25)
    pool = refresh.refresh(snapshot, action="judge-holes", actor=stage.lead)
    pairs = set(pool.entries.values_list("query__query_id", "document__doc_id"))
    assert pairs == {(f"q{n:02d}", doc) for n in range(4) for doc in ("d3", "d5", "d6", "d7")}
    assert pool.parameters["reason"] == "freshness of first: judge unjudged documents"


def test_over_large_runs_the_pool_is_a_job(stage, monkeypatch, client_of, lead, django_capture_on_commit_callbacks):
    small(stage)
    monkeypatch.setattr(refresh, "ROWS_AT_ONCE", 1)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client_of(lead).post("/c/shop/freshness/pool/", {"action": "judge-holes"})
    job = Job.objects.get(kind=refresh.KIND)
    mine = Pool.objects.filter(parameters__reason__startswith="freshness")
    assert answer.url == f"/jobs/{job.uuid}/"
    assert (job.state, job.total, job.result["pairs"]) == ("done", 2, 8)
    assert job.result["page"].endswith(f"?pool={mine.get().uuid}")
    # Worked on once more, as after a death at the wrong moment, it is the same pool.
    Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED, result=None)
    jobs.work_on_job.func(str(job.uuid))
    job.refresh_from_db()
    assert (job.state, mine.count()) == ("done", 1)


def test_growth_new_documents_and_new_values(stage, collection):
    stage.queries(4)
    lines = [f'{{"doc_id": "d{n}", "title": "T{n}", "fields": {{"category": "tents"}}}}\n' for n in range(8)]
    stage.store("documents", "".join(lines), "documents.jsonl")
    stage.run("bm25", "0123", 4)
    round_ = stage.round(runs=1, raters=1)
    stage.graded(round_, by_digit, raters=1)
    snapshot = stage.frozen(rounds.close_round(round_, actor=stage.lead))
    assert (finding(snapshot, "growth").state, finding(snapshot, "category").state) == ("fresh", "fresh")
    assert finding(snapshot, "language").reason.startswith("no document had a field language")
    new = '{"doc_id": "boat", "title": "B", "fields": {"category": "boats"}}\n{"doc_id": "d9", "title": "N"}\n'
    stage.store("documents", new, "more.jsonl")
    growth, category = finding(snapshot, "growth"), finding(snapshot, "category")
    assert (growth.state, growth.now) == ("stale", 0.25)
    assert (category.state, category.detail) == ("stale", ({"category": "boats", "documents": 1},))
    with pytest.raises(NotValid, match="no run returns a newer document"):
        refresh.refresh(snapshot, action="judge-new", actor=stage.lead)
    rows = "q00 Q0 boat 1 9 n\nq00 Q0 d7 2 8 n\nq01 Q0 d0 1 9 n\n"
    stage.store("runs", rows, "n.run")
    pool = refresh.refresh(snapshot, action="judge-new", actor=stage.lead)
    assert [entry.document.doc_id for entry in pool.entries.all()] == ["boat"]
    recorded_changes.declare(collection, kind="fields", data={"category": "kind"}, actor=stage.lead)
    assert finding(snapshot, "category").state == "unknown"


def test_changed_documents_are_judged_again(stage):
    snapshot = small(stage)
    assert finding(snapshot, "changed").state == "fresh"
    stage.store("documents", '{"doc_id": "d0", "title": "Another thing"}\n', "more.jsonl")
    assert finding(snapshot, "changed").detail == ({"doc_id": "d0"},)
    pool = refresh.refresh(snapshot, action="judge-changed", actor=stage.lead)
    assert {entry.document.doc_id for entry in pool.entries.all()} == {"d0"}
    assert pool.entries.count() == 4


def test_an_upgrade_asks_for_runs_of_the_new_systems(stage, collection):
    snapshot = small(stage)
    recorded_changes.declare(collection, kind="schema", note="stemmer", actor=stage.lead)
    assert finding(snapshot, "schema").state == "stale"
    with pytest.raises(NotValid, match="No run has been added since that change"):
        refresh.refresh(snapshot, action="repool-overlap", actor=stage.lead)
    stage.run("after", "7012", 4)
    pool = refresh.refresh(snapshot, action="repool-overlap", seed=7, actor=stage.lead)
    judged = {(query, doc) for query, grades in refresh.Looked(snapshot).judged.items() for doc in grades}
    again = set(overlap(judged, 7))
    pairs = set(pool.entries.values_list("query__query_id", "document__doc_id"))
    assert pairs - judged == {(f"q{n:02d}", "d7") for n in range(4)}
    assert (pairs & judged, pool.seed) == (again, 7)
    recorded_changes.declare(collection, kind="embedding", actor=stage.lead)
    stage.run("vectors", "7654", 4)
    whole = refresh.refresh(snapshot, action="repool", actor=stage.lead)
    assert [run.name for run in whole.runs.all()] == ["vectors"]
    assert whole.entries.count() == 16
    token = uuid.uuid4()
    twice = [refresh.refresh(snapshot, action="overlap", actor=stage.lead, token=token) for _ in range(2)]
    assert twice[0] == twice[1]


def test_a_reply_of_an_engine_and_a_list_of_ids(stage, collection):
    snapshot = small(stage)
    reply = {
        "details": {
            "q00": {
                "unrated_docs": [{"_id": "d9"}, {"_id": "d0"}],
                "hits": [{"hit": {"_id": "d9"}}, {"hit": {"_id": "d0"}}],
            }
        }
    }
    uploads.feed_unrated(collection, reply=reply, actor=stage.lead, name="live")
    rows = {one["run"]: one for one in finding(snapshot, "unjudged").detail}
    assert (rows["live"]["holes"], rows["live"]["now"]) == (1, 0.5)
    pool = refresh.refresh(snapshot, action="judge-holes", actor=stage.lead)
    assert ("q00", "d9") in set(pool.entries.values_list("query__query_id", "document__doc_id"))
    with pytest.raises(NotValid, match="No query of this response"):
        uploads.feed_unrated(collection, reply=REPLY.read_bytes(), actor=stage.lead)
    with pytest.raises(NotValid, match="is not JSON"):
        uploads.feed_unrated(collection, reply=b"<html>", actor=stage.lead)
    assert finding(snapshot, "gone").reason == "the current documents of the index are unknown"
    uploads.feed_index(collection, doc_ids=uploads.ids_in(b"\xef\xbb\xbfd0\r\nd1\nd4\nd5\n"), actor=stage.lead)
    result = finding(snapshot, "gone")
    assert (result.now, result.detail) == (0.25, ({"doc_id": "d2"},))
    for ids in ([], ["other"]):
        with pytest.raises(NotValid):
            uploads.feed_index(collection, doc_ids=ids, actor=stage.lead)


def test_traffic_is_compared_with_the_log_that_queries_were_drawn_from(stage, collection):
    stage.drawn(head=2, torso=2, tail=2)
    given = [(query.query_id, "d0") for query in collection.queries.all()]
    round_ = stage.round(pairs=given, raters=1)
    stage.graded(round_, lambda pair, place: 1, raters=1)
    snapshot = stage.frozen(rounds.close_round(round_, actor=stage.lead))
    assert finding(snapshot, "curve").reason.startswith("no query log was imported since")
    drawn = {query.text: query.frequency for query in collection.queries.all()}
    whole = collection.query_samples.get().frame["searches"]
    assert snapshot.manifest["baseline"]["traffic"]["covered"] == sum(drawn.values()) / whole
    log = "query,count\n" + "".join(f"{text},1\n" for text in drawn) + "something else,500\n"
    stage.store("query-logs", log, "later.csv")
    now = len(drawn) / (500 + len(drawn))
    report = freshness.look(snapshot).report
    assert report["coverage"].now == pytest.approx(sum(drawn.values()) / whole - now)
    assert (report["curve"].state, report["tiers"].state) == ("stale", "stale")
    assert {one["to"] for one in report["tiers"].detail} == {"tail"}


def test_an_old_snapshot_without_a_baseline_says_so(stage):
    snapshot = small(stage)
    del snapshot.manifest["baseline"]
    snapshot.manifest["files"] = [one for one in snapshot.manifest["files"] if one["path"] != "document-hashes.csv"]
    report = freshness.read_signals(freshness.facts_of(freshness.Looked(snapshot)))
    assert "frozen without a baseline" in report["growth"].reason
    assert report["category"].state == report["curve"].state == "unknown"
    # What raters saw is kept with each judgment, and how much is unjudged needs the labels alone.
    assert (report["changed"].now, report["unjudged"].now) == (0.0, 0.25)


def test_a_check_reads_more_than_a_page_and_is_stored(
    stage, collection, monkeypatch, django_capture_on_commit_callbacks
):
    snapshot = small(stage)
    monkeypatch.setattr("evaluation.freshness.facts.ROWS_AT_ONCE", 1)
    stage.run("new", "6017", 4)
    cache.clear()
    assert {run.name: run.mean for run in freshness.look(snapshot).report.runs} == {
        "bm25": 0.25,
        "neural": 0.25,
        "new": None,
    }
    with django_capture_on_commit_callbacks(execute=True):
        job = freshness_job.check_later(snapshot, actor=stage.lead)
        assert freshness_job.check_later(snapshot, actor=stage.lead) == job
    job.refresh_from_db()
    check = FreshnessCheck.objects.get()
    assert (job.state, job.result["state"], check.state) == ("done", "stale", "stale")
    cache.clear()
    result = freshness.look(snapshot)
    assert (result.unjudged, result.checked_at) == (0.5, check.created_at)
    # So is what was counted of very many documents.
    for limit in ("JUDGED_AT_ONCE", "DOCUMENTS_AT_ONCE"):
        monkeypatch.setattr(f"evaluation.freshness.facts.{limit}", 1)
    cache.clear()
    assert (finding(snapshot, "changed").state, finding(snapshot, "changed").words) == (
        "fresh",
        "0 of 4 judged documents changed",
    )
    assert finding(snapshot, "category").reason.startswith("no document had a field category")
    # A run that changed its name is the same file, and need not be read again.
    runs.rename(collection.runs.get(name="new"), name="renamed", actor=stage.lead)
    assert {run.name for run in freshness.look(snapshot).report.runs} == {"bm25", "neural", "renamed"}


def test_the_navigation_shows_what_is_stored_and_computes_nothing(stage, collection, client_of, lead):
    snapshot = small(stage)
    RoundReport.objects.all().delete()
    FreshnessReading.objects.all().delete()
    client = client_of(lead)
    for page in ("members/", "queries/", "documents/", "jobs/"):
        cache.clear()
        assert client.get(f"/c/shop/{page}").status_code == 200, page
    assert not FreshnessReading.objects.exists()
    assert not RoundReport.objects.exists()
    assert client.get("/c/shop/freshness/").status_code == 200
    assert FreshnessReading.objects.get(snapshot=snapshot)
    assert freshness.glance(snapshot).unjudged == 0.25


def test_only_an_act_that_changes_a_signal_makes_it_be_read_again(stage, collection):
    snapshot = small(stage)
    freshness.look(snapshot)
    read = FreshnessReading.objects.get().read_at
    guidelines.add_version(collection, markdown="Other words.", actor=stage.lead)
    freshness.look(snapshot)
    assert FreshnessReading.objects.get().read_at == read
    stage.run("new", "6017", 4)
    assert freshness.look(snapshot).unjudged == 0.5
    assert FreshnessReading.objects.get().read_at > read


def test_no_page_waits_until_a_large_snapshot_is_read(
    stage, collection, monkeypatch, client_of, lead, django_capture_on_commit_callbacks
):
    snapshot = small(stage)
    for module in ("freshness", "facts"):
        monkeypatch.setattr(f"evaluation.freshness.{module}.JUDGED_AT_ONCE", 1)
    cache.clear()
    unread = freshness.glance(snapshot)
    assert (unread.report.state, unread.report["unjudged"].reason) == ("unknown", freshness.UNREAD)
    for page in ("", "runs/", "scores/"):
        assert client_of(lead).get(f"/c/shop/{page}").status_code == 200, page
    assert freshness.glance(snapshot) == unread
    # Whoever looks reads it for the other pages; what comes afterwards waits for the next one who does.
    assert freshness.glance(snapshot).report != freshness.look(snapshot).report == freshness.glance(snapshot).report
    stage.run("new", "6017", 4)
    assert freshness.glance(snapshot).unjudged == 0.25
    # The server reads it unasked, once; what it found outlives the cache.
    with django_capture_on_commit_callbacks(execute=True):
        freshness_job.start_due()
        freshness_job.start_due()
    assert FreshnessCheck.objects.count() == 1
    cache.clear()
    result = freshness.glance(snapshot)
    assert (result.unjudged, result.checked_at) == (0.5, FreshnessCheck.objects.get().created_at)
    assert result.report.as_json() == FreshnessCheck.objects.get().report
    Job.objects.update(created_at=timezone.now() - timedelta(days=2))
    freshness_job.start_due()
    assert Job.objects.filter(kind=freshness_job.KIND).count() == 1


def test_the_server_checks_a_snapshot_every_month_once(
    stage, collection, settings, monkeypatch, django_capture_on_commit_callbacks
):
    snapshot = small(stage)
    jobs.tick()
    assert not Job.objects.filter(kind=freshness_job.KIND).exists()  # it was frozen today
    later = timezone.now() + timedelta(days=31)
    monkeypatch.setattr(freshness_job.timezone, "now", lambda: later)
    settings.FRESHNESS_DAYS = 0
    jobs.tick()
    assert not Job.objects.filter(kind=freshness_job.KIND).exists()
    settings.FRESHNESS_DAYS = 30
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            freshness_job.start_due()
    (job,) = Job.objects.filter(kind=freshness_job.KIND)
    job.refresh_from_db()
    assert (job.state, job.created_by) == ("done", None)
    assert [check.snapshot for check in FreshnessCheck.objects.all()] == [snapshot]


def test_raters_see_no_grades_in_freshness(stage, collection):
    """Two snapshots of the same pairs with other grades say the same, word for word."""
    snapshot = small(stage)
    data = freshness.look(snapshot).report.as_json()
    labels = refresh.Looked(snapshot).judged
    looked = freshness.Looked(snapshot)
    looked.__dict__["judged"] = {query: dict.fromkeys(one, 0.0) for query, one in labels.items()}
    cache.clear()
    other = freshness.read_signals(freshness.facts_of(looked)).as_json()
    for report in (data, other):
        for one in report["signals"]:
            one.pop("words") if one["signal"] == "age" else None
            one.pop("now") if one["signal"] == "age" else None
    assert data == other
