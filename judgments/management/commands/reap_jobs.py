"""Requeue lost jobs and delete forgotten files where ``serve`` does not run; run it every minute from cron."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from judgments import ingestion, jobs
from judgments.core.amounts import amount


class Command(BaseCommand):
    help = (
        "Queue jobs again whose worker died, give up after three deaths; "
        "forget files that nobody stored in a week, logs in a day."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{jobs.tick()} jobs queued again, {amount(ingestion.sweep(), 'file')} forgotten")
