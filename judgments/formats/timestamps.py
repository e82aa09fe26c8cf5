"""When was this search made, if the log says so in a form that can be trusted?"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_EPOCH = re.compile(r"\d{9,10}(\.\d+)?|\d{12,13}", re.ASCII)


def time_kind(text: str) -> str | None:
    """Return ``iso``, ``seconds`` or ``milliseconds``, or None for what is no time.

    Examples
    --------
    >>> time_kind("2026-03-02T09:14:07Z"), time_kind("1772442847"), time_kind("1772442847000"), time_kind("yesterday")
    ('iso', 'seconds', 'milliseconds', None)
    """
    if _EPOCH.fullmatch(text):
        return "milliseconds" if len(text.partition(".")[0]) > 10 else "seconds"
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return None
    return "iso"


def instant(text: str) -> datetime:
    """Return the time that a text means; one without zone is taken as UTC.

    Examples
    --------
    >>> instant("1772442847").isoformat(), instant("2026-03-02 09:14:07").isoformat()
    ('2026-03-02T09:14:07+00:00', '2026-03-02T09:14:07+00:00')

    Raises
    ------
    ValueError
        When the text is no time.
    """
    kind = time_kind(text)
    if kind == "iso":
        moment = datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if kind is None:
        raise ValueError(f"{text!r} is no time")
    return datetime.fromtimestamp(float(text) / (1000 if kind == "milliseconds" else 1), UTC)
