"""Tests of SQLite locks: they hold while the same process opens another connection."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from config.sqlite3.base import DatabaseWrapper

OTHER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("INSERT INTO t VALUES (2)")
connection.commit()
connection.close()
"""


def opened(path: Path) -> Any:
    """A connection of ours to a file, in WAL mode as the server's are."""
    wrapper = DatabaseWrapper(
        {"NAME": str(path), "OPTIONS": {"init_command": "PRAGMA journal_mode=WAL"}}, alias="locks"
    )
    return wrapper.get_new_connection(wrapper.get_connection_params())


def test_a_second_connection_does_not_end_the_locks_of_the_first(tmp_path: Path) -> None:
    """POSIX drops all locks of a process on a file when it closes any handle of it.

    Then another process that ends takes the log away from under those that still read and write.
    """
    path = tmp_path / "a.sqlite3"
    first = opened(path)
    first.execute("CREATE TABLE t (x)")
    first.execute("INSERT INTO t VALUES (1)")
    first.commit()
    second = opened(path)
    subprocess.run([sys.executable, "-c", OTHER, str(path)], check=True, timeout=60)
    assert Path(f"{path}-wal").exists()
    assert first.execute("SELECT x FROM t ORDER BY x").fetchall() == [(1,), (2,)]
    second.execute("INSERT INTO t VALUES (3)")
    second.commit()
    assert len(first.execute("SELECT x FROM t").fetchall()) == 3
