"""Test of queue cleanup: old finished rows are deleted, all others stay."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from judgments.jobs import jobs
from judgments.models import Job

pytestmark = pytest.mark.django_db


def row(status, days):
    at = timezone.now() - timedelta(days=days)
    return DBTaskResult.objects.create(
        status=status,
        finished_at=at if status in ("SUCCESSFUL", "FAILED") else None,
        enqueued_at=at,
        args_kwargs={"args": [], "kwargs": {}},
        task_path="judgments.jobs.jobs.work_on_job",
        backend_name="default",
        run_after=at,
        exception_class_path="",
        traceback="",
    )


def test_old_finished_rows_are_deleted(collection, lead, monkeypatch):
    remaining = {row(status, 13).pk for status in ("SUCCESSFUL", "FAILED")} | {
        row(status, 400).pk for status in ("READY", "RUNNING")
    }
    for status in ("SUCCESSFUL", "FAILED", "SUCCESSFUL"):
        row(status, 15)
    Job.objects.create(collection=collection, kind="import", title="Old", state="done", created_by=lead)
    monkeypatch.setattr(jobs, "AT_ONCE", 2)
    assert jobs.forget_queue_rows() == 2
    jobs.tick()
    assert set(DBTaskResult.objects.values_list("pk", flat=True)) == remaining
    assert Job.objects.count() == 1
