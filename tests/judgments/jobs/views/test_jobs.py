"""Tests of the job pages: polling, cancellation, running jobs in the navigation bar."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from judgments.jobs.views import time_left
from judgments.models import AuditRow, Job

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(collection, lead):
    return Job.objects.create(
        collection=collection,
        kind="import",
        title="Import documents",
        state="running",
        done=25,
        total=100,
        started_at=timezone.now() - timedelta(hours=10),
        created_by=lead,
    )


def page(client, job, **headers):
    return client.get(reverse("job", args=[job.uuid]), headers=headers).content.decode()


def test_running_job_asks_for_itself_again(client_of, job, engineer):
    html = page(client_of(engineer), job)
    assert 'hx-trigger="every 2s"' in html
    assert "25 of 100, about 1 day 6 h left" in html


def test_job_that_is_over_does_not(client_of, job, engineer):
    Job.objects.update(state="failed", error="bm25.run:17: 5 fields where 6 are expected", finished_at=timezone.now())
    html = page(client_of(engineer), job)
    assert "hx-trigger" not in html.split("<main")[1]
    assert "bm25.run:17" in html


def test_poll_gets_the_fragment_alone(client_of, job, engineer):
    html = page(client_of(engineer), job, **{"HX-Request": "true", "HX-Target": "job"})
    assert html.lstrip().startswith('<section id="job"')


def test_cancel_asks_the_worker_to_stop(client_of, job, lead):
    client_of(lead).post(reverse("job_cancel", args=[job.uuid]))
    job.refresh_from_db()
    assert job.cancel_requested
    assert AuditRow.objects.get().verb == "jobs.cancel"


def test_cancel_of_a_job_that_is_over_changes_nothing(client_of, job, lead):
    Job.objects.update(state="done")
    client_of(lead).post(reverse("job_cancel", args=[job.uuid]))
    assert not AuditRow.objects.exists()


def test_running_jobs_are_shown_in_the_bar(client_of, job, lead):
    html = client_of(lead).get(reverse("jobs", args=["shop"])).content.decode()
    assert "1 job running" in html
    assert "25 of 100" in html


def test_the_bar_asks_again_while_a_job_runs_and_not_after(client_of, job, lead, rater):
    """A page that is left open must not say for hours that something runs; nor ask for hours."""
    client, address = client_of(lead), reverse("jobs", args=["shop"])
    bar = client.get("/c/shop/").content.decode().split("<main")[0]
    assert f'hx-get="{address}" hx-trigger="every 15s"' in bar
    polled = {"HX-Request": "true", "HX-Target": "jobs-running"}
    html = client.get(address, headers=polled).content.decode()
    assert html.lstrip().startswith("<a")
    assert ("1 job running" in html, "hx-get" in html) == (True, True)
    Job.objects.update(state="done")
    over = client.get(address, headers=polled).content.decode()
    assert ("no jobs running" in over, "hx-get" in over, f'href="{address}"' in over) == (True, False, True)
    assert "no jobs running" not in client.get("/c/shop/").content.decode()
    assert client_of(rater).get(address, headers=polled).status_code == 403


@pytest.mark.parametrize("change", [{"done": 0}, {"total": None}, {"started_at": None}, {"state": "done"}])
def test_time_left_is_not_guessed(job, change):
    for name, value in change.items():
        setattr(job, name, value)
    assert time_left(job) is None
