"""Redaction of query logs that were stored before personal data was removed.

`manage.py redact_logs` calls this once after an upgrade: the logs are rewritten and the old files removed.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from judgments import audit, storage
from judgments.core.redaction import redact
from judgments.models import Upload
from pooling import kept_log
from pooling.models import QueryLog


def as_they_came() -> QuerySet[QueryLog]:
    """Logs that were stored as they came: what is written anew lies in a folder of its own."""
    return QueryLog.objects.exclude(path__startswith=f"{kept_log.FOLDER}/").select_related("collection")


def replace(log: QueryLog) -> None:
    """Write such a log anew in its place, and remove the file that came. What was drawn from it stays as it is."""
    before = log.path
    # Where it is not told how many rows there were, counts are written as counts, which is right for either.
    counted = log.report.get("rows") != log.searches
    path, format = kept_log.write(log, log.name, counted=counted)
    with transaction.atomic():
        mine = QueryLog.objects.filter(pk=log.pk, path=before)
        if not mine.update(path=path, format=format, options=kept_log.OPTIONS[format]):
            storage.forget(path)  # somebody else did it meanwhile
            return
        sentence = f"the server wrote {log} anew without personal data"
        audit.record("old_logs.replace", sentence, actor=None, collection=log.collection, target=log)
        transaction.on_commit(lambda: storage.forget(before))


def redact_reports() -> int:
    """Redact what was shown of the lines of old logs when they were read; answers in how many reports."""
    changed = 0
    for upload in Upload.objects.filter(kind="query-logs").iterator():
        now = {"report": _of_problems(upload.report), "preview": _of_rows(upload.preview)}
        if now != {"report": upload.report, "preview": upload.preview}:
            changed += Upload.objects.filter(pk=upload.pk).update(**now)
    return changed


def _of_problems(report: dict[str, Any]) -> dict[str, Any]:
    told = report.get("problems", ())
    return report | {"problems": [one | {key: redact(one[key])[0] for key in ("raw", "what")} for one in told]}


def _of_rows(preview: dict[str, Any]) -> dict[str, Any]:
    return preview | {"rows": [[redact(cell)[0] for cell in row] for row in preview.get("rows", ())]}
