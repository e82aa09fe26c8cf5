"""What becomes of the queue's own rows once their work is over?

The queue in the database keeps a row for each time that it was told of a job. What happened stands in `Job`, which is
kept; so these go after a while. Redis forgets its own.
"""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from django_tasks_db.models import DBTaskResult

# As long as the queue's own command for it (prune_db_task_results) keeps them.
KEPT = timedelta(days=14)
# So many at a look, that nobody else waits for the database.
AT_ONCE = 5_000


def forget() -> int:
    """Remove rows of the queue that were finished long ago; answers how many.

    Rows that wait or run stay, however old.
    """
    old = DBTaskResult.objects.finished().filter(finished_at__lt=timezone.now() - KEPT)
    some = list(old.order_by().values_list("pk", flat=True)[:AT_ONCE])
    removed, _ = DBTaskResult.objects.filter(pk__in=some).delete()
    return int(removed)
