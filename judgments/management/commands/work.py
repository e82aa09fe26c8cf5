"""Command that starts a worker, after a check that it can read the web server's files."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from judgments.jobs import limited_process
from judgments.models import Snapshot, Upload


class Command(BaseCommand):
    help = "Run background jobs until stopped, from Redis if REDIS_URL is set, otherwise from the database."

    def handle(self, *args: Any, **options: Any) -> None:
        missing = lost_file()
        if missing:
            raise CommandError(
                f"This worker cannot read {missing}, which the server stored. Use the same STORAGE_URL for both."
            )
        if settings.REDIS_URL:
            json = settings.RQ_QUEUES["default"]["SERIALIZER"]
            job = "django_tasks_rq.Job"
            call_command("rqworker", "default", job_class=job, serializer=json, verbosity=options["verbosity"])
        else:
            limited_process.warm()
            # With DEBUG the worker would watch every file of the checkout, and a changed file would end the running
            # job.
            call_command("db_worker", interval=0.5, reload=False, verbosity=options["verbosity"])


def lost_file() -> str | None:
    """Return the path of a stored file that this worker cannot read, because without the files every job would fail."""
    snapshot = Snapshot.objects.order_by("-pk").first()
    upload = Upload.objects.filter(stored_at__isnull=True).order_by("-pk").first()
    paths = [f"{snapshot.folder}/manifest.json"] if snapshot else []
    paths += [upload.path] if upload else []
    return next((path for path in paths if not default_storage.exists(path)), None)
