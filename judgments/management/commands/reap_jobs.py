"""Command that requeues lost jobs and deletes forgotten files; run it every minute from cron if ``serve`` does
not run."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from assay.core.text_rules import amount
from judgments.imports import ingestion
from judgments.jobs import jobs


class Command(BaseCommand):
    help = (
        "Requeue jobs whose worker died, at most three times. Delete uploads that were not stored within a week, and "
        "query logs that were not stored within a day."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{jobs.tick()} jobs requeued, {amount(ingestion.sweep(), 'file')} deleted")
