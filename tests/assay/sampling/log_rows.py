"""Rows of a log for the sampling tests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

DAY_0 = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Row:
    query: str
    timestamp: datetime | str | None = None
    client_id: str | None = None
    count: int | None = None
    clients: int | None = None


def on_day(query: str, day: float, client: str | None = None) -> Row:
    return Row(query, DAY_0 + timedelta(days=day), client)


def counted(frequencies: dict[str, int]) -> list[Row]:
    return [Row(query, count=count) for query, count in frequencies.items()]
