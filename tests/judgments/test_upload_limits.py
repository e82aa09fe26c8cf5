"""Tests of upload limits per account: file size, expansion, pending files, concurrent reading."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from judgments import ingestion, jobs
from judgments.models import Document, Job, Upload
from judgments.turns import Turns

pytestmark = pytest.mark.django_db
RUNS = "/api/v1/collections/shop/runs/"
DOCUMENTS = "/api/v1/collections/shop/documents/"
PAGE = "/c/shop/runs/new/"
LINE = b"q1 Q0 d1 1 2.5 x\n"


def file(content: bytes = LINE, name: str = "a.run") -> dict[str, Any]:
    return {"file": SimpleUploadedFile(name, content)}


def run(rows: int) -> bytes:
    return b"".join(b"q%d Q0 d%d 1 2.5 x\n" % (row // 1000, row) for row in range(rows))


def bomb(content: bytes, times: int) -> bytes:
    """A gzip file of the same lines again and again."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as stream:
        for _ in range(times):
            stream.write(content)
    return packed.getvalue()


def stored_files(folder: str) -> list[Path]:
    return [path for path in (Path(folder) / "uploads").glob("*") if path.is_file()]


@pytest.fixture
def done(django_capture_on_commit_callbacks: Any) -> Callable[[Any], Job]:
    """Work the job of an answer; answers the job."""

    def work(answer: Any) -> Job:
        assert answer.status_code == 202, answer.content
        jobs.work_on_job.call(answer.json()["job"])
        return Job.objects.get(uuid=answer.json()["job"])

    return work


def test_a_small_file_is_stored_at_once_and_a_large_one_by_a_job(
    api_of: Any, collection: Any, lead: Any, done: Callable[[Any], Job]
) -> None:
    api = api_of(lead)
    assert api.post(RUNS, file(), format="multipart").status_code == 201
    # Small as it comes, not as it is unpacked; few bytes, but many lines.
    for name, content in enumerate((gzip.compress(run(120_000)), bomb(b"\n" * 1000, 200) + gzip.compress(run(3)))):
        assert len(content) < 2 << 20
        job = done(api.post(RUNS, file(content, f"{name}.run"), format="multipart"))
        assert (job.state, job.error) == ("done", "")
    assert sorted(collection.runs.values_list("rows", flat=True)) == [1, 3, 120_000]


def test_a_job_has_limits_too(
    api_of: Any, client_of: Any, collection: Any, lead: Any, settings: Any, done: Any, storage_folder: str
) -> None:
    before = stored_files(storage_folder)
    settings.JOB_FROM_BYTES = 10
    content = gzip.compress(b"".join(b'{"doc_id": "d%d", "text": "%s"}\n' % (n, b"x" * 50_000) for n in range(3_000)))
    for name, limit in (("READ_LINES", 1_000), ("READ_EXPANDED_MB", 1), ("READ_MEMORY_MB", 16)):
        usual = getattr(settings, name)
        setattr(settings, name, limit)
        job = done(api_of(lead).post(DOCUMENTS, file(content, "d.jsonl"), format="multipart"))
        assert (job.state, job.error.endswith(".")) == ("failed", True), name
        setattr(settings, name, usual)
    assert not Upload.objects.exists()
    assert stored_files(storage_folder) == before


def test_documents_of_a_bomb_are_not_stored(api_of: Any, collection: Any, lead: Any, settings: Any, done: Any) -> None:
    settings.READ_EXPANDED_MB = 8
    content = bomb(b'{"doc_id": "d", "text": "' + b"x" * 1_000_000 + b'"}\n', 50)
    job = done(api_of(lead).post(DOCUMENTS, file(content, "d.jsonl"), format="multipart"))
    assert (job.state, "8 MB" in job.error, Document.objects.count()) == ("failed", True, 0)


def test_without_a_turn_a_small_file_waits_for_a_job_and_nobody_else_does(
    api_of: Any, collection: Any, lead: Any, monkeypatch: pytest.MonkeyPatch, done: Any
) -> None:
    turns = Turns(1, waiting=0, seconds=0.0)
    monkeypatch.setattr(ingestion, "turns", lambda: turns)
    with turns.turn():
        job = done(api_of(lead).post(RUNS, file(), format="multipart"))
    assert (job.state, job.result["rows"]) == ("done", 1)


def test_an_account_has_so_many_files_that_wait(
    api_of: Any, client_of: Any, collection: Any, lead: Any, engineer: Any, settings: Any, storage_folder: str
) -> None:
    settings.JOB_FROM_BYTES, settings.UPLOADS_WAITING = 10, 2
    for rows in (3, 4):
        assert api_of(lead).post(RUNS, file(run(rows)), format="multipart").status_code == 202
    before = stored_files(storage_folder)
    refused = api_of(lead).post(RUNS, file(run(5)), format="multipart")
    assert (refused.status_code, int(refused["Retry-After"]) > 0) == (429, True)
    assert client_of(lead).post(PAGE, file(run(5))).status_code == 429
    assert (Upload.objects.count(), Job.objects.count(), stored_files(storage_folder)) == (2, 2, before)
    assert api_of(engineer).post(RUNS, file(run(5)), format="multipart").status_code == 202
    Job.objects.update(state=Job.State.DONE)
    assert api_of(lead).post(RUNS, file(run(6)), format="multipart").status_code == 202


def test_an_account_has_so_much_that_is_not_stored(
    client_of: Any, collection: Any, lead: Any, engineer: Any, settings: Any
) -> None:
    settings.UPLOAD_QUOTA_MB = 1
    assert client_of(lead).post(PAGE, file(run(60_000))).status_code == 302
    assert client_of(lead).post(PAGE, file()).status_code == 413
    assert client_of(engineer).post(PAGE, file()).status_code == 302
    upload = Upload.objects.get(created_by=lead)
    client_of(lead).post(f"/uploads/{upload.uuid}/throw-away/")
    assert client_of(lead).post(PAGE, file()).status_code == 302
