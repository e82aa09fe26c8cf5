"""Tests of the import pages: preview, mapping of columns, errors, storing or discarding a file."""

from __future__ import annotations

import csv

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.urls import reverse

from judgments.jobs import jobs
from judgments.models import Document, Job, LabelSource, Query, Upload

pytestmark = pytest.mark.django_db
DOCUMENTS = '{"doc_id": "d1", "title": "Fell jacket"}\n{"doc_id": "d2", "title": "Tarn tent"}\n'
QUERIES = "query_id,query\nq1,rain jacket\nq2,tent\n"


def send(client, kind, content, name="file.txt", **fields):
    content = content if isinstance(content, bytes) else content.encode()
    return client.post(f"/c/shop/{kind}/new/", {"file": ContentFile(content, name=name), **fields})


@pytest.fixture
def stored_queries(collection):
    return Query.objects.create(collection=collection, query_id="q1", text="rain jacket")


@pytest.mark.parametrize("kind", ["documents", "queries", "qrels", "runs", "query-logs"])
def test_every_kind_has_its_page(client_of, collection, lead, kind):
    response = client_of(lead).get(f"/c/shop/{kind}/new/")
    assert response.status_code == 200
    assert len(response.context["form"].formats) >= 1


def test_file_is_read_and_nothing_is_stored(client_of, collection, lead):
    response = send(client_of(lead), "documents", DOCUMENTS)
    upload = Upload.objects.get()
    assert response.url == reverse("upload", args=[upload.uuid])
    assert not Document.objects.exists()


def test_check_page_shows_figures_and_first_rows(client_of, collection, lead):
    client = client_of(lead)
    html = client.get(send(client, "documents", DOCUMENTS).url).content.decode()
    assert "Store 2 rows" in html
    assert "Fell jacket" in html
    assert 'id="issues"' not in html


def test_a_log_shows_its_days_and_a_run_only_what_is_odd_about_it(client_of, collection, lead):
    client = client_of(lead)
    log = "query,timestamp\nrain jacket,2026-10-03T08:15:00Z\ntent,2026-11-20T21:00:00Z\n"
    html = client.get(send(client, "query-logs", log).url).content.decode()
    assert "<dd>3 Oct 2026</dd>" in html
    assert "<dd>20 Nov 2026</dd>" in html
    assert "T08:15:00+00:00" not in html
    tied = client.get(send(client, "runs", "q1 Q0 d1 1 2 a\nq1 Q0 d2 2 2 a\n").url).content.decode()
    assert "<dt>Tied rows</dt><dd>2</dd>" in tied
    assert "Infinite scores" not in tied
    assert "<dt>Queries left out</dt>" in tied, "a zero that tells something stays"


def test_storing_leads_to_the_list(client_of, collection, lead):
    client = client_of(lead)
    response = client.post(send(client, "documents", DOCUMENTS).url)
    assert response.url == reverse("documents", args=["shop"])
    assert Document.objects.count() == 2
    assert "Stored 2 rows from file.txt" in client.get(response.url).content.decode()


def test_storing_twice_stores_once(client_of, collection, lead):
    client = client_of(lead)
    url = send(client, "documents", DOCUMENTS).url
    client.post(url)
    assert "is already stored" in client.post(url, follow=True).content.decode()
    assert Document.objects.count() == 2


def test_odd_lines_are_listed_and_must_be_read(client_of, collection, lead, stored_queries):
    client = client_of(lead)
    url = send(client, "qrels", "q1 0 d1 3\nq1 0 d2\nq9 0 d1 1\n").url
    assert "2 errors, 1 warning" in client.get(url).content.decode()
    refused = client.post(url, {"name": "old"})
    assert refused.status_code == 422
    assert "accept_errors" in refused.context["form"].errors
    assert not LabelSource.objects.exists()
    client.post(url, {"name": "old", "accept_errors": "on"})
    assert LabelSource.objects.get().labels.count() == 1


def test_report_can_be_taken_away(client_of, collection, lead, stored_queries):
    client = client_of(lead)
    url = send(client, "qrels", "q1 0 d1 3\nq1 0 d2\n").url
    assert client.get(url + "?format=json").json()["error_count"] == 1
    rows = list(csv.DictReader(client.get(url + "?format=csv").content.decode().splitlines()))
    assert ("2", "error", "q1 0 d2") in [(row["line"], row["severity"], row["raw"]) for row in rows]


@pytest.mark.both_databases
def test_refused_file_brings_the_form_back_with_one_message(client_of, collection, lead):
    response = send(client_of(lead), "documents", "\x00\x01\x02")
    assert response.status_code == 422
    assert "file.txt" in response.context["refusal"]
    assert not Document.objects.exists()


def test_a_missing_file_is_reported_at_the_field(client_of, collection, lead):
    response = client_of(lead).post("/c/shop/documents/new/", {})
    assert (response.status_code, list(response.context["form"].errors)) == (422, ["file"])


def test_columns_are_mapped_by_hand(client_of, collection, lead):
    client = client_of(lead)
    content = "suchwort,anzahl\nrain jacket,9\ntent,3\n"
    url = send(client, "query-logs", content, column_query="suchwort", column_count="anzahl").url
    assert Upload.objects.get().preview["figures"]["searches"] == 12
    assert "12" in client.get(url).content.decode()


def test_scale_of_labels_makes_others_errors(client_of, collection, lead, stored_queries):
    send(client_of(lead), "qrels", "q1 0 d1 3\nq1 0 d2 1\n", grades="0:2")
    assert Upload.objects.get().report["error_count"] == 1


@pytest.mark.parametrize("scale", ["3", "3:0", "a:b", "0:1000"])
def test_an_invalid_scale_is_reported(client_of, collection, lead, scale):
    response = send(client_of(lead), "qrels", "q1 0 d1 3\n", grades=scale)
    assert (response.status_code, list(response.context["form"].errors)) == (422, ["grades"])


def test_an_unsupported_option_is_reported(client_of, collection, lead):
    response = send(client_of(lead), "documents", DOCUMENTS, column_title="name", format="documents-jsonl")
    assert response.status_code == 422
    assert "The option columns" in response.content.decode()


def test_run_gets_a_name(client_of, collection, engineer, stored_queries):
    client = client_of(engineer)
    url = send(client, "runs", "q1 Q0 d1 1 2.5 bm25\n", name="bm25.run").url
    assert client.get(url).context["form"]["name"].value() == "bm25"
    client.post(url, {"name": "baseline", "description": "As it was"})
    assert collection.runs.get().name == "baseline"


def test_a_duplicate_name_is_reported_at_the_field(client_of, collection, engineer, stored_queries):
    client = client_of(engineer)
    for score in ("2.5", "2.6"):
        response = client.post(send(client, "runs", f"q1 Q0 d1 1 {score} x\n", name="a.run").url, {"name": "same"})
    assert response.status_code == 409
    assert "same-2" in response.context["form"].errors["name"][0]


def test_large_file_is_read_and_stored_by_jobs(
    client_of, collection, lead, settings, django_capture_on_commit_callbacks
):
    settings.JOB_FROM_BYTES = 10
    client = client_of(lead)
    with django_capture_on_commit_callbacks():
        waiting = send(client, "documents", DOCUMENTS)
    reading = Job.objects.get()
    page = reverse("upload", args=[Upload.objects.get().uuid])
    assert waiting.url == reverse("job", args=[reading.uuid])
    assert client.get(page).url == waiting.url  # nothing to see yet
    jobs.work_on_job.call(str(reading.uuid))
    assert page in client.get(waiting.url).content.decode()
    assert client.get(page).status_code == 200
    with django_capture_on_commit_callbacks(execute=True):
        storing = client.post(page)
    assert storing.url == reverse("job", args=[Job.objects.get(kind="import").uuid])
    assert collection.documents.count() == 2


def test_the_job_reports_a_large_unreadable_file(
    client_of, collection, lead, settings, django_capture_on_commit_callbacks
):
    settings.JOB_FROM_BYTES = 10
    with django_capture_on_commit_callbacks(execute=True):
        response = send(client_of(lead), "documents", b"\xff\xfe" + b"binary" * 10)
    assert "UTF-16" in client_of(lead).get(response.url).content.decode()
    assert not Upload.objects.exists()


def test_file_is_thrown_away(client_of, collection, lead):
    client = client_of(lead)
    send(client, "documents", DOCUMENTS)
    upload = Upload.objects.get()
    client.post(reverse("upload_throw_away", args=[upload.uuid]))
    assert not Upload.objects.exists()
    assert not default_storage.exists(upload.path)


def test_stored_file_cannot_be_thrown_away(client_of, collection, lead):
    client = client_of(lead)
    url = send(client, "documents", DOCUMENTS).url
    client.post(url)
    client.post(url + "throw-away/")
    assert Upload.objects.exists()


def test_nothing_new_has_nothing_to_store(client_of, collection, lead):
    client = client_of(lead)
    client.post(send(client, "documents", DOCUMENTS).url)
    html = client.get(send(client, "documents", DOCUMENTS).url).content.decode()
    assert 'form="store-form"' not in html
    assert "Store 0" not in html


def test_text_of_a_file_is_shown_as_text(client_of, collection, lead):
    client = client_of(lead)
    url = send(client, "documents", '{"doc_id": "d1", "title": "<script>alert(1)</script>"}\n').url
    assert "<script>alert" not in client.get(url).content.decode()


def test_roles_of_the_kind_hold(client_of, collection, engineer, rater, outsider, lead):
    url = send(client_of(lead), "documents", DOCUMENTS).url
    results = [
        [client_of(user).get(page).status_code for page in ("/c/shop/runs/new/", "/c/shop/documents/new/", url)]
        for user in (engineer, rater, outsider)
    ]
    assert results == [[200, 403, 403], [403, 403, 403], [404, 404, 404]]


def test_label_sources_are_listed(client_of, collection, lead, engineer, stored_queries):
    client = client_of(lead)
    assert "No label sources yet" in client.get("/c/shop/qrels/").content.decode()
    client.post(send(client, "qrels", "q1 0 d1 3\n").url, {"name": "old"})
    assert client_of(engineer).get("/c/shop/qrels/").context["listing"].rows[0].label_count == 1


@pytest.mark.shared
def test_real_run_is_read(client_of, collection, engineer, shared):
    path = shared / "cranfield" / "runs" / "gen_bm25_stem.run.gz"
    with path.open("rb") as file:
        response = client_of(engineer).post("/c/shop/runs/new/", {"file": file})
    assert response.status_code == 302
    assert Upload.objects.get().preview["figures"]["rows"] > 10_000


def test_an_unreadable_file_is_stored_and_read_with_other_columns(client_of, collection, lead):
    client = client_of(lead)
    refused = send(client, "query-logs", "term,searches\ntent,12\nboots,3\n", "log.csv")
    upload = Upload.objects.get()
    assert refused.status_code == 422
    assert refused.context["refusal"]
    page = reverse("upload_read", args=[upload.uuid])
    assert client.get(reverse("upload", args=[upload.uuid])).url == page
    read = client.post(page, {"column_query": "term", "column_count": "searches"})
    assert read.url == reverse("upload", args=[upload.uuid])
    upload.refresh_from_db()
    assert (upload.preview["figures"]["searches"], upload.report["error_count"]) == (15, 0)


def test_a_file_that_was_read_wrongly_is_read_differently_from_the_preview(client_of, collection, lead):
    client = client_of(lead)
    content = "query_id,query,count_generated\nq9,tent,12\nq3,boots,3\n"
    preview = send(client, "queries", content, "queries.csv").url
    upload = Upload.objects.get()
    page = reverse("upload_read", args=[upload.uuid])
    assert f'href="{page}"' in client.get(preview).content.decode()
    assert client.post(page, {"column_frequency": "count_generated"}).url == preview
    client.post(preview)
    assert dict(Query.objects.values_list("query_id", "frequency")) == {"q9": 12, "q3": 3}
    assert client.post(page, {}).url == preview  # stored: nothing is read again


def test_a_failed_second_attempt_leaves_the_first_report(client_of, collection, lead):
    client = client_of(lead)
    preview = send(client, "documents", DOCUMENTS).url
    before = Upload.objects.get().report
    wrong = client.post(reverse("upload_read", args=[Upload.objects.get().uuid]), {"format": "documents-csv"})
    assert wrong.status_code == 422
    assert Upload.objects.get().report == before
    assert client.get(preview).status_code == 200


def test_equal_errors_are_reported_once_with_three_lines_and_a_count(client_of, collection, lead):
    client = client_of(lead)
    content = "query_id,doc_id,grade\n" + "".join(f"q{n},d1,many\n" for n in range(136)) + "q1,d1,3\n"
    Query.objects.create(collection=collection, query_id="q1", text="tent")
    url = send(client, "qrels", content, "labels.csv").url
    (alike,) = client.get(url + "?severity=error").context["listing"].rows
    assert (alike.number, alike.lines) == (136, "2, 3, 4 and 133 more")
    assert [problem.line for problem in alike.shown] == [2, 3, 4]
    # The whole list is in the report.
    problems = client.get(url + "?format=json").json()["problems"]
    assert len([one for one in problems if one["severity"] == "error"]) == 136
    assert client.get(url + "?format=csv").content.decode().count(",E12,") == 136


def test_personal_data_in_queries_is_shown_and_removed_on_request(client_of, collection, lead):
    client = client_of(lead)
    page = send(client, "queries", "query_id,query\nq1,tent\nq2,mail jo@example.org\n").url
    shown = client.get(page)
    assert [question.name for question in shown.context["form"].questions] == ["redact"]
    assert b"W59" in shown.content
    assert shown.context["first_rows"]["columns"] == ["Query id", "Query"]
    client.post(page, {"redact": "on"})
    assert Query.objects.get(query_id="q2").text == "mail [e-mail]"
