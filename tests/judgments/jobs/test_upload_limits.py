"""Tests of upload limits per account: file size, expansion, pending files, concurrent reading."""

from __future__ import annotations

import gzip
import io
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from judgments.imports import ingestion
from judgments.jobs import jobs, limited_process
from judgments.jobs.limited_process import largest
from judgments.models import Document, Job, Upload
from judgments.web.middleware import Turns

pytestmark = pytest.mark.django_db
RUNS = "/api/v1/collections/shop/runs/"
DOCUMENTS = "/api/v1/collections/shop/documents/"
LOGS = "/api/v1/collections/shop/query-logs/"
CLICKS = "/api/v1/collections/shop/clicks/"
PAGE = "/c/shop/runs/new/"
LINE = b"q1 Q0 d1 1 2.5 x\n"


def file(content: bytes = LINE, name: str = "a.run") -> dict[str, Any]:
    return {"file": SimpleUploadedFile(name, content)}


def run(rows: int) -> bytes:
    return b"".join(b"q%d Q0 d%d 1 2.5 x\n" % (row // 1000, row) for row in range(rows))


def log(rows: int) -> bytes:
    return b"query,timestamp\n" + b"".join(b"query %d,2026-05-01T00:00:00\n" % (row // 2) for row in range(rows))


def clicks(rows: int) -> bytes:
    head = b"query,doc_id,position,clicked,timestamp,client_id\n"
    line = b"query %d,d%d,%d,%d,2026-05-01T00:00:00,c%d\n"
    return head + b"".join(line % (row // 9, row % 9, row % 9 + 1, row % 2, row // 9) for row in range(rows))


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


@pytest.mark.slow
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


def test_without_a_free_slot_a_small_file_becomes_a_job(
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


@contextmanager
def first_reader_killed() -> Iterator[list[int]]:
    """Kill the first process that reads a file while this lasts; yield the list for its id."""
    limited_process.call(os.getpid, limits=largest())  # the helper has started
    helper = limited_process._started[os.getpid()][0].pid
    forks, killed, over = Path(f"/proc/{helper}/task/{helper}/children"), list[int](), threading.Event()
    while forks.read_text().split():
        time.sleep(0.002)  # the process of that call ends

    def kill() -> None:
        while not killed and not over.is_set():
            for fork in map(int, forks.read_text().split()):
                os.kill(fork, signal.SIGKILL)
                killed.append(fork)
                return
            time.sleep(0.002)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def temporary() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob("*"))


@pytest.fixture
def own_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the reader in /proc, which Linux has")
@pytest.mark.usefixtures("own_temporary")
def test_a_reader_that_is_killed_leaves_nothing_half_done(
    api_of: Any, client_of: Any, collection: Any, lead: Any, settings: Any, done: Any, storage_folder: str
) -> None:
    before = stored_files(storage_folder)
    content = gzip.compress(run(60_000))
    with first_reader_killed() as killed:
        answer = api_of(lead).post(RUNS, file(content), format="multipart")
    assert killed
    # The request goes on: the file is read again, by a job where that takes long.
    assert answer.status_code == 201 or done(answer).state == "done"
    assert collection.runs.get().rows == 60_000

    settings.JOB_FROM_BYTES = 10
    kinds = {
        RUNS: ("b.run", gzip.compress(run(60_001))),
        LOGS: ("log.csv", gzip.compress(log(60_000))),
        CLICKS: ("clicks.csv", gzip.compress(clicks(30_000))),
    }
    for address, (name, more) in kinds.items():
        answer = api_of(lead).post(address, file(more, name), format="multipart")
        assert answer.status_code == 202, answer.content
        with first_reader_killed() as killed:
            job = done(answer)
        assert killed, name
        assert (job.state, job.traceback, bool(job.error)) == ("failed", "", True), name
    assert collection.runs.count() == 1
    assert not collection.query_logs.exists()
    assert not Upload.objects.filter(stored_at__isnull=True).exists()
    assert stored_files(storage_folder) == before
    assert temporary() == []
    # The next file is read as usual.
    job = done(api_of(lead).post(RUNS, file(run(7), "c.run"), format="multipart"))
    assert (job.state, job.error) == ("done", "")
