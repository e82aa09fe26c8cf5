"""Tests of archiving, restoring, deleting and reopening, with derived data preserved."""

from __future__ import annotations

import pytest
from django.core.files.storage import default_storage

from assay.core.errors import Closed, Conflict, NotValid
from evaluation.models import Scoring
from evaluation.scoring import scoring
from judgments.archive import archive
from judgments.guidelines import guidelines
from judgments.models import AuditRow, Document, Pair, Round, Slot
from judgments.rating import assignment
from judgments.rounds import rounds
from pooling.models import Pool, Run
from pooling.pools import pools

pytestmark = pytest.mark.django_db
API = "/api/v1/collections/shop"


def payload(kind, row, **more):
    return {"kind": kind, "id": str(row.uuid), **more}


def test_archived_objects_are_hidden_until_restored(stage, collection, client_of, api_of, lead):
    stage.whole_way()
    things = {
        "run": (collection.runs.get(name="bm25"), "runs"),
        "pool": (collection.pools.get(), "pools"),
        "round": (collection.rounds.get(), "rounds"),
        "document": (collection.documents.get(doc_id="d0"), "documents"),
    }
    for kind, (row, page) in things.items():
        if kind == "round" and row.state == Round.State.OPEN:
            rounds.close_round(row, actor=lead)
        for act, listed in (("archive", False), ("restore", True)):
            answer = api_of(lead).post(f"{API}/{act}/", payload(kind, row), format="json")
            assert (answer.status_code, answer.json()["archived_at"] is None) == (200, listed), kind
            ids = {str(one["id"]) for one in api_of(lead).get(f"{API}/{page}/").json()["results"] if "id" in one}
            body = {str(one["id"]) for one in api_of(lead).get(f"{API}/{page}/?archived=true").json()["results"]}
            assert (str(row.uuid) in ids, str(row.uuid) in body) == (listed, not listed), kind
            html = client_of(lead).get(f"/c/shop/{page}/").content.decode()
            assert (f"{row.uuid}" in html) is listed, (kind, act)
            archived = client_of(lead).get("/c/shop/archive/").content.decode()
            assert (f"/archive/{kind}/{row.uuid}/" in archived) is not listed
    verbs = list(AuditRow.objects.filter(verb__startswith="archive.").values_list("verb", flat=True))
    assert (verbs.count("archive.archive"), verbs.count("archive.restore")) == (4, 4)


def test_an_archived_run_is_no_longer_compared_and_its_scores_stay(stage, collection, client_of, lead):
    snapshot = stage.whole_way()
    scoring.score_runs(snapshot, list(collection.runs.all()), actor=lead)
    archive.archive("run", collection.runs.get(name="bm25"), actor=lead)
    names = [line.row.name for line in client_of(lead).get("/c/shop/scores/").context["lines"]]
    assert names == ["neural"]
    assert Scoring.objects.filter(run__name="bm25").exists()
    archive.restore("run", collection.runs.get(name="bm25"), actor=lead)
    assert len(client_of(lead).get("/c/shop/scores/").context["lines"]) == 2


def test_an_archived_collection_is_not_on_the_home_page(stage, collection, client_of, api_of, lead):
    round_ = stage.whole_way().rounds.get()
    if round_.state == Round.State.OPEN:
        with pytest.raises(Conflict):
            archive.archive("collection", collection, actor=lead)
        rounds.close_round(round_, actor=lead)
    archive.archive("collection", collection, actor=lead)
    assert "/c/shop/" not in client_of(lead).get("/").content.decode()
    assert client_of(lead).get("/c/shop/").status_code == 200
    assert api_of(lead).get("/api/v1/collections/").json()["count"] == 0
    assert api_of(lead).get("/api/v1/collections/?archived=true").json()["count"] == 1


def test_an_open_round_cannot_be_archived(stage, lead):
    with pytest.raises(Conflict):
        archive.archive("round", stage.listed(), actor=lead)


def test_a_run_that_nothing_depends_on_is_deleted_with_its_scores_and_its_file(
    stage, collection, api_of, lead, django_capture_on_commit_callbacks
):
    snapshot = stage.whole_way()
    stage.run("extra", "3210")
    run = collection.runs.get(name="extra")
    scoring.score_runs(snapshot, [run], actor=lead, metrics=["AP"])
    preview = api_of(lead).post(f"{API}/delete/", payload("run", run, preview=True), format="json").json()
    assert (preview["possible"], preview["deleted"], preview["goes"]) == (True, False, {"scorings": 1, "scores": 1})
    assert Run.objects.filter(pk=run.pk).exists()
    with django_capture_on_commit_callbacks(execute=True):
        assert api_of(lead).post(f"{API}/delete/", payload("run", run), format="json").json()["deleted"] is True
    assert not Run.objects.filter(pk=run.pk).exists()
    assert not default_storage.exists(run.path)
    assert AuditRow.objects.get(verb="archive.delete").detail["name"] == "extra"


def test_objects_in_use_cannot_be_deleted(stage, collection, api_of, client_of, lead):
    stage.whole_way()
    rows = {
        "run": collection.runs.get(name="bm25"),
        "pool": collection.pools.get(),
        "round": collection.rounds.get(),
        "document": collection.documents.get(doc_id="d0"),
        "collection": collection,
    }
    for kind, row in rows.items():
        assert api_of(lead).post(f"{API}/delete/", payload(kind, row), format="json").status_code == 409, kind
        assert type(row).objects.filter(pk=row.pk).exists()
        page = f"/c/shop/archive/{kind}/{row.uuid}/"
        assert client_of(lead).get(page).context["deletion"].possible is False
        assert client_of(lead).post(page, {"act": "delete"}).status_code == 302
        assert type(row).objects.filter(pk=row.pk).exists()


def test_a_draft_with_its_pairs_its_pool_and_a_lone_document_are_deleted(stage, collection, lead, client_of):
    stage.queries(2)
    stage.documents()
    stage.run("bm25", "0123", 2)
    pool = pools.draw_pool(
        collection, strategy="depth", runs=list(collection.runs.all()), parameters={"depth": 2}, actor=lead
    )
    version = guidelines.add_version(collection, markdown="Grade what helps.", actor=lead)
    draft = pools.make_round(pool, name="Draft", guidelines=version, actor=lead)
    assert archive.deletion("pool", pool).possible is False
    result = archive.deletion("round", draft)
    assert result.goes["pairs"] == 4
    archive.delete("round", draft, actor=lead)
    assert not Pair.objects.exists()
    assert not Slot.objects.exists()
    archive.delete("pool", pool, actor=lead)
    assert not Pool.objects.exists()
    lone = collection.documents.get(doc_id="d7")
    assert client_of(lead).post(f"/c/shop/archive/document/{lone.uuid}/", {"act": "delete"}).status_code == 302
    assert not Document.objects.filter(pk=lone.pk).exists()


def test_an_unknown_kind_and_another_collection_give_404(stage, collection, api_of, lead):
    stage.queries(1)
    answer = api_of(lead).post(f"{API}/archive/", payload("query", collection.queries.get()), format="json")
    assert answer.status_code == 404


def test_a_closed_round_is_reopened_with_a_reason_until_a_snapshot_holds_it(stage, collection, lead, api_of):
    round_ = rounds.close_round(stage.listed(), actor=lead)
    with pytest.raises(NotValid):
        rounds.reopen_round(round_, reason=" ", actor=lead)
    with pytest.raises(Closed):
        assignment.claim_batch(round_, rater=stage.raters[0], size=1)
    body = api_of(lead).post(f"/api/v1/rounds/{round_.uuid}/reopen/", {"reason": "closed by mistake"}, format="json")
    assert (body.status_code, body.json()["state"]) == (200, "open")
    round_.refresh_from_db()
    assert assignment.claim_batch(round_, rater=stage.raters[0], size=1)
    row = AuditRow.objects.get(verb="rounds.reopen_round")
    assert (row.detail["before"]["state"], row.detail["after"]["state"]) == ("closed", "open")
    assert row.detail["reason"] == "closed by mistake"
    with pytest.raises(Conflict):
        rounds.reopen_round(round_, reason="again", actor=lead)


def test_a_round_in_a_snapshot_stays_closed(stage, lead):
    round_ = stage.whole_way().rounds.get()
    if round_.state == Round.State.OPEN:
        rounds.close_round(round_, actor=lead)
    with pytest.raises(Conflict):
        rounds.reopen_round(round_, reason="one more", actor=lead)


def test_a_lead_who_could_read_the_grades_of_a_closed_round_does_not_rate_in_it_again(stage, lead):
    round_ = stage.listed()
    rounds.invite(round_, [lead], actor=lead)
    stage.graded(round_, lambda pair, place: 1)
    rounds.close_round(round_, actor=lead)
    rounds.reopen_round(round_, reason="more raters", actor=lead)
    assert not rounds.is_rater(lead, round_)
    assert rounds.is_rater(stage.raters[0], round_)
