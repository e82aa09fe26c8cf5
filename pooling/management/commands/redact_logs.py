"""Command that rewrites query logs stored before personal data was removed from them; run it once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judgments.core.amounts import amount
from judgments.core.errors import AssayError
from pooling import old_logs


class Command(BaseCommand):
    help = (
        "Write query logs anew that were stored before personal data was taken out of them, and remove the old files."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        done, failed = 0, 0
        for log in old_logs.as_they_came():
            try:
                old_logs.replace(log)
                done += 1
            except (AssayError, OSError) as error:
                failed += 1
                self.stderr.write(f"{log} of {log.collection}: {error}")
        reports = old_logs.redact_reports()
        self.stdout.write(f"{amount(done, 'log')} written anew, {amount(reports, 'report')} of imports redacted")
        if failed:
            raise CommandError(
                f"{amount(failed, 'log')} could not be read: what lies there is as it came. Mend storage and try again."
            )
