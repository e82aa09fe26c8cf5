"""Cleanup of the task queue's finished rows.

The queue in the database stores a row for each job that it receives. `Job` keeps the outcome, so these rows are deleted
after a while. Redis removes its own entries.
"""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from django_tasks_db.models import DBTaskResult

# The default of the queue's own command (prune_db_task_results).
RETENTION = timedelta(days=14)
# Maximum rows per run, so that other requests do not wait for the database.
AT_ONCE = 5_000


def forget() -> int:
    """Delete rows of the queue that finished long ago; return their number."""
    old = DBTaskResult.objects.finished().filter(finished_at__lt=timezone.now() - RETENTION)
    some = list(old.order_by().values_list("pk", flat=True)[:AT_ONCE])
    removed, _ = DBTaskResult.objects.filter(pk__in=some).delete()
    return int(removed)
