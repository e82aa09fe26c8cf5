"""Command that rewrites query logs stored before Assay removed personal data from them; run it once."""

from __future__ import annotations

from typing import Any

from django.core.files.storage import default_storage
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import QuerySet

from assay.core.errors import AssayError
from assay.core.redaction import redact
from assay.core.text_rules import amount
from judgments.models import Upload, audit
from pooling.logs import stored_log
from pooling.models import QueryLog


def unredacted_logs() -> QuerySet[QueryLog]:
    """Return the logs that are still stored as uploaded; rewritten logs have their own directory."""
    return QueryLog.objects.exclude(path__startswith=f"{stored_log.FOLDER}/").select_related("collection")


def replace(log: QueryLog) -> None:
    """Rewrite such a log and delete the original file. Queries drawn from it stay unchanged."""
    before = log.path
    # Without a number of rows, counts are written as counts, which is right for both kinds of logs.
    counted = log.report.get("rows") != log.searches
    path, format = stored_log.write(log, log.name, counted=counted)
    with transaction.atomic():
        mine = QueryLog.objects.filter(pk=log.pk, path=before)
        if not mine.update(path=path, format=format, options=stored_log.OPTIONS[format]):
            default_storage.delete(path)  # another process was faster
            return
        sentence = f"The server rewrote {log} without personal data"
        audit.record("old_logs.replace", sentence, actor=None, target=log)
        transaction.on_commit(lambda: default_storage.delete(before))


def redact_reports() -> int:
    """Redact the lines shown in the reports of old logs; return the number of reports."""
    changed = 0
    for upload in Upload.objects.filter(kind="query-logs").iterator():
        now = {"report": _of_problems(upload.report), "preview": _of_rows(upload.preview)}
        if now != {"report": upload.report, "preview": upload.preview}:
            changed += Upload.objects.filter(pk=upload.pk).update(**now)
    return changed


def _of_problems(report: dict[str, Any]) -> dict[str, Any]:
    problems = report.get("problems", ())
    return report | {"problems": [one | {key: redact(one[key])[0] for key in ("raw", "what")} for one in problems]}


def _of_rows(preview: dict[str, Any]) -> dict[str, Any]:
    return preview | {"rows": [[redact(cell)[0] for cell in row] for row in preview.get("rows", ())]}


class Command(BaseCommand):
    help = "Rewrite query logs that were stored with personal data by an earlier version, and delete the old files."

    def handle(self, *args: Any, **options: Any) -> None:
        done, failed = 0, 0
        for log in unredacted_logs():
            try:
                replace(log)
                done += 1
            except (AssayError, OSError) as error:
                failed += 1
                self.stderr.write(f"{log} of {log.collection}: {error}")
        reports = redact_reports()
        self.stdout.write(f"{amount(done, 'log')} rewritten, {amount(reports, 'import report')} redacted")
        if failed:
            raise CommandError(
                f"{amount(failed, 'log')} could not be read and may still contain personal data. Repair the storage "
                "and try again."
            )
