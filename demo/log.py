"""Query log of the shop: 90 days of searches with times and clients, and the need of each query."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

from demo.asks import asks, normalize

SEED = 21
ROWS = 4000
DAYS = 90
CLIENTS = 1050
FIRST_DAY = datetime(2026, 3, 2, tzinfo=UTC)

# Searches by hour of the day: few at night, most in the evening.
HOURS = (2, 1, 1, 1, 1, 2, 4, 7, 9, 10, 11, 12, 14, 12, 10, 10, 11, 13, 16, 21, 24, 22, 14, 6)
WEEKEND = 1.5
# Zipf-Mandelbrot: frequency falls as 1 / (rank + SHIFT) ** STEEPNESS.
SHIFT = 3.0
STEEPNESS = 1.15


def needs() -> dict[str, str]:
    """Return the need behind each query of the log."""
    return {normalize(text): ask.need for ask in asks() for text in ask.texts}


def query_log() -> list[dict[str, str]]:
    """Return the shop's search log."""
    random = Random(SEED)
    clients = [f"c{random.getrandbits(40):010x}" for _ in range(CLIENTS)]
    rows: list[dict[str, str]] = []
    for searches in _by_shelf(random):
        while searches:
            length = random.choice((1, 1, 1, 2, 2, 3, 4))
            session, searches = searches[:length], searches[length:]
            rows += _session(session, _client(clients, random), random)
    return sorted(rows, key=lambda row: (row["timestamp"], row["client_id"], row["query"]))


def _by_shelf(random: Random) -> Iterator[list[str]]:
    """Yield the searches of each shelf, shuffled."""
    counts = _frequencies()
    searches: dict[str, list[str]] = {}
    for ask in asks():
        for text in ask.texts:
            searches.setdefault(ask.shelf, []).extend([text] * counts[text])
    for texts in searches.values():
        random.shuffle(texts)
        yield texts


def _frequencies() -> dict[str, int]:
    """Return the frequency of each spelling: frequent needs first, rarer spellings of a need further down."""
    random = Random(f"{SEED}:spellings")
    weights = {
        text: ask.popular / (1 + place) ** 1.6 * random.uniform(0.7, 1.4)
        for ask in asks()
        for place, text in enumerate(ask.texts)
    }
    ordered = sorted(weights, key=lambda text: (-weights[text], text))
    shares = [1 / (rank + SHIFT) ** STEEPNESS for rank in range(1, len(ordered) + 1)]
    counts = [max(1, round(ROWS * share / sum(shares))) for share in shares]
    counts[0] += ROWS - sum(counts)
    return dict(zip(ordered, counts, strict=True))


def _client(clients: list[str], random: Random) -> str:
    """Return a client id; some visitors come every week, most only once."""
    return clients[int(len(clients) * random.random() ** 1.2)]


def _session(queries: list[str], client: str, random: Random) -> Iterator[dict[str, str]]:
    moment = _start(random)
    for query in queries:
        yield {"query": _typed(query, random), "timestamp": f"{moment:%Y-%m-%dT%H:%M:%SZ}", "client_id": client}
        moment += timedelta(seconds=random.randint(12, 140))


def _start(random: Random) -> datetime:
    days = [FIRST_DAY + timedelta(days=day) for day in range(DAYS)]
    (day,) = random.choices(days, [WEEKEND if day.weekday() >= 5 else 1.0 for day in days])
    (hour,) = random.choices(range(24), HOURS)
    return day + timedelta(hours=hour, minutes=random.randrange(50), seconds=random.randrange(60))


def _typed(query: str, random: Random) -> str:
    """Return a query as users type it, with capitals and typos."""
    chance = random.random()
    if chance < 0.14:
        return query.capitalize()
    if chance < 0.17:
        return query.title()
    if chance < 0.20:
        return query + " "
    if chance < 0.21:
        return query.upper()
    return query
