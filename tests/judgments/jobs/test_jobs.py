"""Tests of background jobs: one worker per job, cancellation, and recovery when a worker dies."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.utils import timezone
from django.utils.module_loading import import_string

from assay.core.errors import NotValid
from assay.core.registry import Family
from judgments.hooks import JOBS
from judgments.imports import ingestion
from judgments.jobs import jobs
from judgments.management.commands.work import lost_file
from judgments.models import Job
from tests.threads import at_once

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def kind() -> Iterator[Callable[[Callable[[jobs.Work], dict[str, Any]]], str]]:
    """Register a handler for one test."""

    def register(handler: Callable[[jobs.Work], dict[str, Any]]) -> str:
        JOBS._members["test"] = handler
        return "test"

    yield register
    JOBS._members.pop("test", None)


def start(name: str, collection: Any, lead: Any, run: Callable[..., Any]) -> Job:
    with run(execute=True):
        job = jobs.start(name, title="Count to three", parameters={}, collection=collection, actor=lead)
    job.refresh_from_db()
    return job


def test_a_look_that_fails_keeps_no_other_from_being_taken(monkeypatch, caplog):
    taken = []

    def fails() -> None:
        raise OSError("the disk is full")

    looks = Family("tick", {})
    looks.register("first", fails)
    looks.register("second", lambda: taken.append("second"))
    monkeypatch.setattr(jobs, "PERIODIC_WORK", looks)
    assert jobs.tick() == 0
    assert taken == ["second"]
    assert "the disk is full" in caplog.text
    assert "The periodic check first failed" in caplog.text


def test_a_job_ends_as_done_with_its_result(
    kind: Any, collection: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    def count(work: jobs.Work) -> dict[str, Any]:
        for number in range(1, 4):
            work.progress(number, 3)
        work.say("counted")
        return {"counted": 3}

    job = start(kind(count), collection, lead, django_capture_on_commit_callbacks)
    assert (job.state, job.result, job.done, job.total) == (Job.State.DONE, {"counted": 3}, 3, 3)
    assert "counted" in job.log


def test_expected_errors_fail_the_job_with_a_message(
    kind: Any, collection: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    def refuse(work: jobs.Work) -> dict[str, Any]:
        raise NotValid("The file has no header. Add one.")

    job = start(kind(refuse), collection, lead, django_capture_on_commit_callbacks)
    assert (job.state, job.error, job.traceback) == (Job.State.FAILED, "The file has no header. Add one.", "")


def test_our_mistake_ends_as_crashed_with_the_traceback(
    kind: Any, collection: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    def stumble(work: jobs.Work) -> dict[str, Any]:
        return {"one": 1 // 0}

    job = start(kind(stumble), collection, lead, django_capture_on_commit_callbacks)
    assert job.state == Job.State.CRASHED
    assert "Unexpected error" in job.error
    assert "ZeroDivisionError" in job.traceback


def test_a_running_job_stops_at_its_next_step_when_cancelled(
    kind: Any, collection: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    def cancelled_half_way(work: jobs.Work) -> dict[str, Any]:
        work.progress(1, 3)
        jobs.cancel(work.job, actor=lead)
        work.progress(2, 3)
        raise AssertionError("it went on")

    job = start(kind(cancelled_half_way), collection, lead, django_capture_on_commit_callbacks)
    assert (job.state, job.done) == (Job.State.CANCELLED, 1)


def test_an_unknown_kind_is_refused_with_the_known_ones(collection: Any, lead: Any) -> None:
    with pytest.raises(NotValid, match="import"):
        jobs.start("nonsense", title="", parameters={}, collection=collection, actor=lead)


def test_a_dead_workers_job_is_taken_again_and_given_up_after_three_deaths(collection: Any) -> None:
    past = timezone.now() - timedelta(seconds=1)
    job = Job.objects.create(
        collection=collection, kind="nobody", title="", state=Job.State.RUNNING, lease_until=past, attempts=1
    )
    assert jobs.claim(job)
    Job.objects.filter(pk=job.pk).update(lease_until=past, attempts=jobs.MOST_ATTEMPTS)
    assert jobs.reap() == 0
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "3 times" in job.error


def test_a_job_that_the_queue_lost_is_queued_again(kind: Any, collection: Any, lead: Any) -> None:
    name = kind(lambda work: {"counted": 3})
    job = jobs.start(name, title="", parameters={}, collection=collection, actor=lead)  # never committed: not queued
    assert jobs.reap() == 0
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert jobs.reap() == 1
    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.DONE, {"counted": 3})
    assert jobs.reap() == 0


def test_a_living_workers_job_is_left_alone(collection: Any) -> None:
    future = timezone.now() + timedelta(minutes=1)
    job = Job.objects.create(
        collection=collection, kind="nobody", title="", state=Job.State.RUNNING, lease_until=future
    )
    assert not jobs.claim(job)
    assert jobs.reap() == 0


def taken_by_another(job: Job) -> None:
    """What happens to a worker that is so slow that it is taken for dead."""
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert jobs.claim(job)


def test_a_worker_that_was_taken_for_dead_stops_and_says_nothing(
    kind: Any, collection: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    def slow(work: jobs.Work) -> dict[str, Any]:
        taken_by_another(work.job)
        work.progress(1)
        raise AssertionError("it went on")

    job = start(kind(slow), collection, lead, django_capture_on_commit_callbacks)
    assert (job.state, job.attempts, job.done, job.error) == (Job.State.RUNNING, 2, 0, "")


def test_the_result_of_two_concurrent_workers_is_stored_once(
    kind: Any, collection: Any, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    def second(work: jobs.Work) -> dict[str, Any]:
        jobs.Work(Job.objects.get(pk=work.job.pk)).keep({"by": "the first"})
        return work.keep({"by": "the second"})

    job = start(kind(second), collection, lead, django_capture_on_commit_callbacks)
    assert (job.state, job.result) == (Job.State.DONE, {"by": "the first"})


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_exactly_one_gets_a_job(collection: Any) -> None:
    job = Job.objects.create(collection=collection, kind="nobody", title="")
    assert sorted(at_once(*[lambda: jobs.claim(job)] * 16)) == [False] * 15 + [True]


@pytest.mark.slow
@pytest.mark.parametrize("queue", ["database", "redis"])
def test_a_real_worker_does_the_job(queue: str, request: pytest.FixtureRequest, own_var: Path) -> None:
    """The real thing: a server's database, a worker process of its own, a file large enough to be a job."""
    environment = {
        **os.environ,
        "ASSAY_VAR": str(own_var),
        "DATABASE_URL": "",
        "STORAGE_URL": "",
        "DEBUG": "1",
        "REDIS_URL": request.getfixturevalue("redis_url") if queue == "redis" else "",
    }

    begun = """
import io
from django.core.management import call_command
from judgments.imports import ingestion
from judgments.members.collections import create_collection
from judgments.models import User
call_command("migrate", verbosity=0)
lead = User.objects.create_user("lead")
shop = create_collection(slug="shop", name="Shop", actor=lead)
file = io.BytesIO(b'{"doc_id": "d1", "title": "Tent"}\\n')
upload = ingestion.receive(shop, kind="documents", file=file, filename="d.jsonl", actor=lead)
print(ingestion.store_later(upload, actor=lead, accept_errors=False, options={}).uuid)
"""
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", begun]
    done = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, check=True)
    uuid = done.stdout.strip().splitlines()[-1]
    worker = subprocess.Popen([sys.executable, "manage.py", "work", "--verbosity", "0"], cwd=ROOT, env=environment)
    try:
        # Asked of the file itself: a process for each question would take longer than the job.
        ask = "SELECT state, (SELECT count(*) FROM judgments_document) FROM judgments_job WHERE uuid = ?"
        deadline = time.monotonic() + 600
        output = ""
        with contextlib.closing(sqlite3.connect(own_var / "assay.sqlite3", timeout=20)) as database:
            while time.monotonic() < deadline and worker.poll() is None and not output.startswith("done"):
                time.sleep(0.05)
                output = "{} {}".format(*database.execute(ask, [uuid.replace("-", "")]).fetchone())
        assert output == "done 1"
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.wait(timeout=600)


def test_a_worker_without_the_servers_files_refuses_to_start(collection: Any, lead: Any) -> None:
    file = io.BytesIO(b'{"doc_id": "d1"}\n')
    upload = ingestion.receive(collection, kind="documents", file=file, filename="d.jsonl", actor=lead)
    assert lost_file() is None
    default_storage.delete(upload.path)
    with pytest.raises(CommandError, match="STORAGE_URL"):
        call_command("work")


def test_jobs_queued_by_earlier_versions_find_their_function() -> None:
    assert import_string("judgments.jobs.work_on_job") is jobs.work_on_job
