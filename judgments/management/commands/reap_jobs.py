"""Requeue lost jobs and delete forgotten files where ``serve`` does not run; run it every minute from cron."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from assay.core.counted_nouns import amount
from judgments.imports import ingestion
from judgments.jobs import jobs


class Command(BaseCommand):
    help = (
        "Queue jobs again whose worker died, at most three times. "
        "Delete uploads not stored within a week and query logs after a day."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{jobs.tick()} jobs queued again, {amount(ingestion.sweep(), 'file')} deleted")
