"""Tests of file import: each bad file ends in one clear message and leaves the database unchanged."""

from __future__ import annotations

import gzip
import io
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from assay.core.errors import Conflict, NotFound, NotValid, TooLarge, UnreadableInput
from judgments.hooks import IMPORT_KINDS
from judgments.imports import ingestion
from judgments.jobs import jobs
from judgments.models import AuditRow, Document, ImportedLabel, LabelSource, Query, Upload
from pooling.models import QueryLog, Run

pytestmark = pytest.mark.django_db
GOOD_RUN = "q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\n"


@pytest.fixture
def receive(collection: Any, lead: Any) -> Callable[..., Upload]:
    def read(kind: str, content: bytes | str, filename: str = "given.txt", **options: Any) -> Upload:
        body = content.encode() if isinstance(content, str) else content
        return ingestion.receive(collection, kind=kind, file=io.BytesIO(body), filename=filename, actor=lead, **options)

    return read


def rows() -> list[int]:
    return [model.objects.count() for model in (Document, Query, ImportedLabel, LabelSource, QueryLog, Run, Upload)]


def stored_files() -> list[str]:
    return default_storage.listdir("uploads")[1] if default_storage.exists("uploads") else []


REFUSED = {
    "empty": ("runs", b"", "empty", "F07"),
    "only blank lines": ("runs", b"\n\n  \n", "empty", "F07"),
    "binary": ("documents", b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" * 50, "binary", "F03"),
    "UTF-16": ("queries", "query_id,query\nq1,tent\n".encode("utf-16"), "UTF-16", ""),
    "Latin-1": ("queries", "query_id,query\nq1,Rücken\n".encode("latin-1"), "UTF-8", "F01"),
    "truncated gzip": ("runs", gzip.compress(GOOD_RUN.encode() * 500)[:-20], "gzip", "F02"),
    "a log without a header": ("query-logs", b"tent,12\nrope,3\n", "header", "F04"),
    "queries of BEIR as documents": ("documents", b'{"_id": "1", "text": "rain"}\n', "queries-jsonl", "F03"),
    "a run as documents": ("documents", b'{"query_id": "q1", "doc_id": "d1", "score": 1.5}\n', "run-jsonl", "F03"),
    "a list of queries as a log": ("query-logs", b'{"query_id": "q7", "query": "tent"}\n' * 2, "queries", "F03"),
    "an umbrela request as a log": ("query-logs", b'{"query": "a", "candidates": ["b"]}\n', "umbrela request", "F03"),
    "qrels of BEIR as a run": ("runs", b"query-id\tcorpus-id\tscore\nq1\td1\t1\n", "BEIR's qrels", "F03"),
    "another kind of file": ("runs", b"doc_id,title\n" + b"d1,Tent\n" * 1500, "does not look like", "F03"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_cannot_be_read_is_refused_with_file_and_remedy(receive: Callable[..., Upload], case: str) -> None:
    kind, content, word, code = REFUSED[case]
    files = stored_files()
    with pytest.raises(UnreadableInput) as refused:
        receive(kind, content, "given.file")
    assert str(refused.value).startswith("given.file")
    assert word.lower() in str(refused.value).lower()
    assert refused.value.expected
    assert not code or refused.value.code == code
    assert rows() == [0] * 7
    assert stored_files() == files


BAD_LINES = {
    "a run line with five fields": ("runs", GOOD_RUN + "q1 Q0 d3 3 0.5\n", 3, "E10"),
    "a score that is a word": ("runs", GOOD_RUN + "q1 Q0 d3 3 two bm25\n", 3, "E12"),
    "a document twice in a query": ("runs", GOOD_RUN + "q1 Q0 d1 3 0.5 bm25\n", 3, "E16"),
    "a grade off the scale": ("qrels", "q1 0 d1 3\nq1 0 d2 7\n", 2, "E14"),
    "a grade that is a word": ("qrels", "q1 0 d1 3\nq1 0 d2 good\n", 2, "E12"),
    "a document id with spaces": ("qrels", "q1 0 d1 3\nq1 0 my document 2\n", 2, ""),
    "two grades for one pair": ("qrels", "q1 0 d1 3\nq1 0 d1 2\n", None, "E16"),
    "a label for a query that nobody knows": ("qrels", "q1 0 d1 3\nq9 0 d1 2\n", 2, "E17"),
    "a document that is no JSON": ("documents", '{"doc_id": "d1"}\n{"doc_id": \n', 2, ""),
    "a document without an id": ("documents", '{"doc_id": "d1"}\n{"title": "Tent"}\n', 2, ""),
    "a query without text": ("queries", "query_id,query\nq2,tent\nq3,\n", 3, "E11"),
    "a query id with another text": ("queries", "query_id,query\nq2,tent\nq1,rope\n", 3, "E18"),
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_an_odd_line_is_named_with_its_number_and_nothing_is_stored(
    receive: Callable[..., Upload], store_file: Callable[..., Any], lead: Any, case: str
) -> None:
    kind, content, line, code = BAD_LINES[case]
    store_file("queries", "query_id,query\nq1,tent\n")
    before = rows()
    options = {"options": {"grades": (0, 1, 2, 3)}} if kind == "qrels" else {}
    upload = receive(kind, content, "given.file", **options)
    errors = [problem for problem in upload.report["problems"] if problem["severity"] == "error"]
    assert errors
    assert all(error["what"] and error["fix"] for error in errors)
    assert line is None or line in [error["line"] for error in errors]
    assert not code or code in [error["code"] for error in errors]
    with pytest.raises(UnreadableInput, match=r"given\.file"):
        ingestion.store(upload, actor=lead)
    upload.refresh_from_db()
    assert upload.stored_at is None
    assert rows() == [*before[:6], before[6] + 1]


def test_a_lead_who_has_read_the_errors_can_let_their_lines_stay_out(
    receive: Callable[..., Upload], store_file: Callable[..., Any], lead: Any
) -> None:
    store_file("queries", "query_id,query\nq1,tent\n")
    upload = receive("runs", GOOD_RUN + "q1 Q0 d3 3 0.5\n", "bm25.run")
    stored = ingestion.store(upload, actor=lead, accept_errors=True)
    assert (stored["rows"], stored["left_out"]) == (2, 1)
    from pooling.runs import runs

    assert runs.ranked(Run.objects.get()).to_dict() == {"q1": {"d1": 2.5, "d2": 1.5}}
    assert AuditRow.objects.filter(verb="ingestion.store").first().detail["errors_left_out"] == 1


def test_the_same_documents_twice_store_nothing_and_say_so(store_file: Callable[..., Any]) -> None:
    store_file("documents", '{"doc_id": "d1", "title": "Tent"}\n')
    with pytest.raises(NotValid, match="nothing to store") as refused:
        store_file("documents", '{"doc_id": "d1", "title": "Tent"}\n')
    assert "already contains all rows" in refused.value.fields["file"]
    assert Document.objects.count() == 1


@pytest.mark.parametrize(
    ("kind", "content"),
    [("runs", GOOD_RUN), ("query-logs", "query,count\ntent,3\n"), ("qrels", "q1 0 d1 3\n")],
)
def test_the_same_file_twice_is_refused_by_name(store_file: Callable[..., Any], kind: str, content: str) -> None:
    store_file("queries", "query_id,query\nq1,tent\n")
    store_file(kind, content, "first.txt")
    before = rows()
    with pytest.raises(Conflict, match="already stored"):
        store_file(kind, content, "second.txt")
    assert rows() == before


def test_a_run_name_is_taken_once(store_file: Callable[..., Any]) -> None:
    store_file("runs", GOOD_RUN, "bm25.run")
    with pytest.raises(Conflict, match="bm25-2"):
        store_file("runs", GOOD_RUN.replace("2.5", "2.6"), "bm25.run")
    assert Run.objects.count() == 1


def test_a_changed_document_gets_a_new_hash_and_keeps_its_row(store_file: Callable[..., Any]) -> None:
    store_file("documents", '{"doc_id": "d1", "title": "Tent"}\n')
    before = Document.objects.get()
    store_file("documents", '{"doc_id": "d1", "title": "Tent for two"}\n')
    after = Document.objects.get()
    assert (after.pk, after.title) == (before.pk, "Tent for two")
    assert after.content_sha256 != before.content_sha256
    assert after.changed_at > before.changed_at


def test_a_stub_is_filled_when_its_document_comes(store_file: Callable[..., Any]) -> None:
    store_file("queries", "query_id,query\nq1,tent\n")
    store_file("qrels", "q1 0 d1 3\n")
    assert Document.objects.get().stub
    store_file("documents", '{"doc_id": "d1", "title": "Tent"}\n')
    document = Document.objects.get()
    assert (document.stub, document.title) == (False, "Tent")


def test_a_file_that_was_stored_meanwhile_is_not_thrown_away(receive: Callable[..., Upload], lead: Any) -> None:
    upload = receive("runs", GOOD_RUN)
    ingestion.store(Upload.objects.get(pk=upload.pk), actor=lead)
    ingestion.throw_away(upload)  # as a page that was loaded before
    assert default_storage.exists(Run.objects.get().path)
    assert Upload.objects.filter(pk=upload.pk).exists()


def test_a_file_that_was_thrown_away_meanwhile_is_not_stored(receive: Callable[..., Upload], lead: Any) -> None:
    upload = receive("runs", GOOD_RUN)
    ingestion.throw_away(upload)
    with pytest.raises(Conflict, match="in the meantime"):
        ingestion.store(upload, actor=lead)


def test_a_job_whose_file_was_thrown_away_says_so(receive: Callable[..., Upload], lead: Any) -> None:
    upload = receive("runs", GOOD_RUN)
    job = ingestion.store_later(upload, actor=lead, accept_errors=False, options={})
    ingestion.throw_away(upload)
    with pytest.raises(NotFound, match="discarded"):
        ingestion.work_on_upload(jobs.Work(job))


def test_more_bytes_than_allowed_are_refused(receive: Callable[..., Upload], settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 1024
    with pytest.raises(TooLarge, match="Split the file"):
        receive("runs", GOOD_RUN * 100)
    assert rows() == [0] * 7


def test_a_200_mb_wrong_file_ends_quickly_in_one_message(receive: Callable[..., Upload]) -> None:
    line = b"2026-11-01 12:00:00 INFO request served in 12 ms from cache, status 200, path /search\n"
    body = line * (200 * 1024 * 1024 // len(line))
    with pytest.raises(UnreadableInput, match=r"app\.log.*does not look like"):
        receive("documents", body, "app.log")
    assert rows() == [0] * 7


def test_a_format_of_another_kind_is_refused_with_the_known_ones(receive: Callable[..., Upload]) -> None:
    with pytest.raises(NotValid) as refused:
        receive("runs", GOOD_RUN, format="trec-qrels")
    assert "trec-run" in refused.value.fields["format"]


def test_an_upload_is_stored_once(receive: Callable[..., Upload], lead: Any) -> None:
    upload = receive("documents", '{"doc_id": "d1", "title": "Tent"}\n')
    ingestion.store(upload, actor=lead)
    with pytest.raises(Conflict, match="already stored"):
        ingestion.store(upload, actor=lead)


def test_a_judgment_list_brings_its_queries(store_file: Callable[..., Any]) -> None:
    listed = '[{"query_id": "q7", "query": "rain jacket", "ratings": [{"doc_id": "d1", "rating": 3}]}]'
    store_file("qrels", listed, "judgments.json")
    assert Query.objects.get().text == "rain jacket"
    assert ImportedLabel.objects.get().value == 3


@pytest.mark.django_db(transaction=True)
def test_the_same_file_from_two_people_at_once_is_stored_once(
    receive: Callable[..., Upload], lead: Any, collection: Any
) -> None:
    uploads = [receive("runs", GOOD_RUN, f"{name}.run") for name in ("one", "two")]
    together = threading.Barrier(2)
    ends: list[str] = []

    def store(upload: Upload) -> None:
        try:
            together.wait()
            ingestion.store(upload, actor=lead)
            ends.append("stored")
        except Conflict:
            ends.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=store, args=(upload,)) for upload in uploads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["refused", "stored"]
    assert Run.objects.count() == 1


def test_unstored_files_expire_after_a_week(receive: Callable[..., Upload]) -> None:
    old, new = receive("runs", GOOD_RUN, "old.run"), receive("runs", GOOD_RUN, "new.run")
    Upload.objects.filter(pk=old.pk).update(created_at=timezone.now() - ingestion.UNSTORED_RETENTION)
    assert ingestion.sweep() == 1
    assert list(Upload.objects.all()) == [new]
    assert (default_storage.exists(old.path), default_storage.exists(new.path)) == (False, True)


PERSONAL = "query_id,query\nq1,tent of jo@example.org\nq2,tent\nq3,call +49 30 901820\n"


@pytest.mark.parametrize("wish", [False, True])
def test_personal_data_in_queries_is_reported_and_removed_only_on_demand(
    receive: Callable[..., Upload], collection: Any, lead: Any, wish: bool
) -> None:
    Query.objects.create(collection=collection, query_id="q3", text="call +49 30 901820")
    upload = receive("queries", PERSONAL, "queries.csv")
    assert [(odd["line"], odd["code"]) for odd in upload.report["problems"]] == [(2, "W59"), (4, "W59")]
    assert upload.preview["figures"]["may contain personal data"] == 1
    assert IMPORT_KINDS["queries"].questions(upload).keys() == {"redact"}
    ingestion.store(upload, actor=lead, options={"redact": wish})
    texts = dict(Query.objects.values_list("query_id", "text"))
    new = "tent of [e-mail]" if wish else "tent of jo@example.org"
    assert texts == {"q1": new, "q2": "tent", "q3": "call +49 30 901820"}
    upload.refresh_from_db()
    assert ("jo@example.org" in str((upload.preview, upload.report))) is not wish


def test_a_list_without_personal_data_asks_nothing(receive: Callable[..., Upload]) -> None:
    upload = receive("queries", "query_id,query\nq1,tent\n", "queries.csv")
    assert not upload.report["codes"]
    assert not IMPORT_KINDS["queries"].questions(upload)
