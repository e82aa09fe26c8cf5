"""Command that rewrites query logs stored before Assay removed personal data from them; run it once."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assay.core.counted_nouns import amount
from assay.core.errors import AssayError
from pooling.logs import redaction


class Command(BaseCommand):
    help = "Rewrite query logs that were stored with personal data by an earlier version, and delete the old files."

    def handle(self, *args: Any, **options: Any) -> None:
        done, failed = 0, 0
        for log in redaction.unredacted_logs():
            try:
                redaction.replace(log)
                done += 1
            except (AssayError, OSError) as error:
                failed += 1
                self.stderr.write(f"{log} of {log.collection}: {error}")
        reports = redaction.redact_reports()
        self.stdout.write(f"{amount(done, 'log')} rewritten, {amount(reports, 'import report')} redacted")
        if failed:
            raise CommandError(
                f"{amount(failed, 'log')} could not be read and may still contain personal data. Repair the storage "
                "and try again."
            )
