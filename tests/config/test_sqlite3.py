"""Is nothing lost when several processes and threads use one SQLite file?"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from config.sqlite3.base import DatabaseWrapper

# Another process that opens the file and closes it: the last one to leave removes the write-ahead log.
VISIT = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT count(*) FROM t').fetchall(); c.close()"
)


@pytest.fixture
def wrapper(tmp_path: Path, db: None) -> Any:
    """Make connections to a file, as threads of a server have them."""
    made: list[DatabaseWrapper] = []

    def connect() -> DatabaseWrapper:
        settings_dict = {**connection.settings_dict, "NAME": str(tmp_path / "a.sqlite3")}
        settings_dict["OPTIONS"] = settings.SQLITE_OPTIONS
        made.append(DatabaseWrapper(settings_dict, alias="other"))
        return made[-1]

    yield connect
    for one in made:
        one.close()


def test_a_new_connection_ends_no_lock_of_another_one(wrapper: Any, tmp_path: Path) -> None:
    first, path = wrapper(), tmp_path / "a.sqlite3"
    with first.cursor() as cursor:
        cursor.execute("CREATE TABLE t (n INTEGER)")
        cursor.execute("INSERT INTO t VALUES (1)")
    with wrapper().cursor() as cursor:  # as another thread of the same process
        cursor.execute("SELECT n FROM t")
    log = path.with_name("a.sqlite3-wal").stat().st_ino
    subprocess.run([sys.executable, "-c", VISIT, str(path)], check=True)
    assert path.with_name("a.sqlite3-wal").stat().st_ino == log
    with first.cursor() as cursor:
        cursor.execute("INSERT INTO t VALUES (2)")
    with closing(sqlite3.connect(path)) as another:
        assert another.execute("SELECT count(*) FROM t").fetchone() == (2,)


def test_the_file_is_its_owners_alone(wrapper: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    for mode in (0o600, 0o644):
        with wrapper().cursor() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER)")
        assert path.stat().st_mode & 0o777 == 0o600
        path.chmod(mode)
    wrapper().connect()
    assert path.stat().st_mode & 0o777 == 0o600
