"""Fresh databases for the server benchmarks: creation and removal.

SQLite is a file in a temporary folder. PostgreSQL is a separate database on the server that ``ASSAY_BENCH_POSTGRES``
names, for example ``postgres://postgres@127.0.0.1:5432/postgres``; without this variable PostgreSQL is skipped.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .processes import ROOT, CouldNotRun

SERVER = "ASSAY_BENCH_POSTGRES"


def there(name: str) -> bool:
    """Whether this database can be measured here."""
    return name == "sqlite" or bool(os.environ.get(SERVER))


@contextmanager
def fresh(name: str) -> Iterator[dict[str, str]]:
    """An empty database for as long as the block lasts: the environment in which the server runs on it."""
    folder = Path(tempfile.mkdtemp(prefix="assay-bench-"))
    environment = {
        **os.environ,
        "ASSAY_VAR": str(folder),
        "STORAGE_URL": str(folder / "files"),
        "PYTHONPATH": str(ROOT),
        "API_RATE": "off",
    }
    for unwanted in ("DATABASE_URL", "REDIS_URL", "DEBUG"):
        environment.pop(unwanted, None)
    try:
        if name == "sqlite":
            yield environment | {"DATABASE_URL": f"sqlite:///{folder / 'bench.sqlite3'}"}
        else:
            with _postgresql() as url:
                yield environment | {"DATABASE_URL": url}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _postgresql() -> Iterator[str]:
    import psycopg

    server = os.environ.get(SERVER, "")
    if not server:
        raise CouldNotRun(f"set {SERVER} to a PostgreSQL server where databases may be made")
    name = f"assay_bench_{os.getpid()}"
    url = server.replace("postgres://", "postgresql://", 1)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
