"""Upload quota: how many files and bytes of one account may wait, including uploads in progress."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db.models import Sum

from assay.core.counted_nouns import amount
from assay.core.errors import TooLarge, TooMany
from judgments.models import Job, Upload, User

# Seconds after which an account with too many waiting files may try again.
RETRY_AFTER = 60


@contextmanager
def coming(actor: User, size: int) -> Iterator[None]:
    """Count the bytes of an upload in progress toward the account's quota."""
    with _lock:
        before = _coming[actor.pk]
        _coming[actor.pk] += size
    try:
        check_quota(actor, before)
        yield
    finally:
        with _lock:
            _coming[actor.pk] -= size
            if not _coming[actor.pk]:
                del _coming[actor.pk]


_lock = threading.Lock()
_coming: Counter[int] = Counter()


def check_quota(actor: User, others: int = 0) -> None:
    """Refuse an upload beyond the account's quota; ``others`` are the bytes of other uploads in progress."""
    waiting = Job.objects.filter(
        created_by=actor, kind__in=["read", "import"], state__in=[Job.State.QUEUED, Job.State.RUNNING]
    ).count()
    if waiting >= settings.UPLOADS_WAITING:
        waiting_text = (
            f"{amount(waiting, 'of your files is', 'of your files are')} waiting to be read. Import this one later."
        )
        raise TooMany(waiting_text, RETRY_AFTER)
    unstored = Upload.objects.filter(created_by=actor, stored_at__isnull=True).aggregate(bytes=Sum("bytes"))
    if (unstored["bytes"] or 0) + others >= settings.UPLOAD_QUOTA_MB << 20:
        waiting_text = f"Your previewed files that are not stored yet have reached {settings.UPLOAD_QUOTA_MB:,} MB."
        raise TooLarge(f"{waiting_text} This is the limit per account. Store or discard some of them.")
