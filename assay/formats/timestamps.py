"""Parse the time of a search, in forms that are unambiguous."""

from __future__ import annotations

import re
from datetime import UTC, datetime

# Number of digits of whole seconds, milliseconds and microseconds since 1970, and units per second.
EPOCHS = {"seconds": ("9,10", 1), "milliseconds": ("12,13", 1_000), "microseconds": ("15,16", 1_000_000)}
# Report text for each kind; a date with a time zone needs none.
IN_WORDS = {
    "local": "dates without a time zone, read as UTC",
    "database": "dates in the style of databases and web servers",
    "seconds": "seconds since 1970",
    "milliseconds": "milliseconds since 1970",
    "microseconds": "microseconds since 1970",
}
EXPECTED = "expected ISO 8601 such as 2026-03-02T09:14:07Z, or seconds, milliseconds or microseconds since 1970"

_EPOCH = re.compile(r"(?:\d{9,10}(?:\.\d+)?|\d{12,13}|\d{15,16})", re.ASCII)
_DATE = r"\d{4}(?P<sep>[-/])\d\d(?P=sep)\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?"
_DATABASE = re.compile(rf"(?P<moment>{_DATE}) ?(?P<zone>UTC|GMT|Z|[+-]\d\d(?::?\d\d)?|)", re.ASCII)
_WEB_SERVER = re.compile(r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}", re.ASCII)


def time_kind(text: str) -> str | None:
    """Return ``iso``, ``local``, ``database`` or a key of `EPOCHS`, or None for an invalid time.

    Examples
    --------
    >>> time_kind("2026-03-02T09:14:07Z"), time_kind("1772442847"), time_kind("1772442847000"), time_kind("yesterday")
    ('iso', 'seconds', 'milliseconds', None)
    >>> time_kind("2026-03-02 09:14:07"), time_kind("2026-03-02 09:14:07 UTC"), time_kind("02/Mar/2026:09:14:07 +0100")
    ('local', 'database', 'database')
    """
    if _EPOCH.fullmatch(text):
        digits = len(text.partition(".")[0])
        return "seconds" if digits < 11 else "milliseconds" if digits < 14 else "microseconds"
    try:
        return "iso" if datetime.fromisoformat(text).tzinfo else "local"
    except ValueError:
        return "database" if _database_time(text) else None


def family(kind: str) -> str:
    """Return the family that all times of a log must share: dates in any form, or numbers in one unit."""
    return kind if kind in EPOCHS else "date"


def instant(text: str) -> datetime:
    """Parse a time; without a time zone, UTC is assumed.

    Examples
    --------
    >>> instant("1772442847").isoformat(), instant("2026-03-02 09:14:07").isoformat()
    ('2026-03-02T09:14:07+00:00', '2026-03-02T09:14:07+00:00')
    """
    kind = time_kind(text)
    moment = _database_time(text) if kind == "database" else None
    if kind in ("iso", "local"):
        moment = datetime.fromisoformat(text)
    elif kind in EPOCHS:
        moment = datetime.fromtimestamp(float(text) / EPOCHS[kind][1], UTC)
    if moment is None:
        raise ValueError(f"{text!r} is not a time")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _database_time(text: str) -> datetime | None:
    """Parse a date with slashes, with a blank before the time zone, or in web server style."""
    try:
        if _WEB_SERVER.fullmatch(text):
            return datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z")
        if match := _DATABASE.fullmatch(text):
            zone = match["zone"].replace("UTC", "Z").replace("GMT", "Z")
            return datetime.fromisoformat(match["moment"].replace("/", "-") + zone)
    except ValueError:
        pass
    return None
