"""How do jobs of dead workers come back into the queue where ``serve`` does not run? From cron, every minute."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from judgments import jobs


class Command(BaseCommand):
    help = "Queue jobs again whose worker died; give up on those that died three times."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{jobs.reap()} jobs queued again")
