"""SQLite database backend in which waiting writers of all threads and processes have equal chances.

SQLite makes a waiting writer sleep for longer and longer intervals, up to a tenth of a second. Under load, new writers
overtake those that have waited, and some wait until their timeout and fail with "database is locked". In this backend
every waiting writer retries at the same short interval, so each has the same chance at every turn.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from django.db.backends.sqlite3 import base
from django.db.utils import OperationalError

# Bounds of the random interval in seconds between two attempts, so that writers do not synchronize, and the time after
# which a writer gives up.
SHORTEST, LONGEST = 0.001, 0.006
PATIENCE = 60.0
WRITING = ("INSERT", "UPDATE", "DELETE", "REPLACE")
Answer = TypeVar("Answer")


class Cursor(base.SQLiteCursorWrapper):
    """Execute a statement. A statement that writes outside a transaction waits for its turn as transactions do."""

    usual_timeout = 5_000

    def execute(self, query: str, params: Any = None) -> Any:
        """Execute the statement after other writers have finished, if it writes."""
        execute = partial(super().execute, query, params)
        if self.connection.in_transaction or not query.startswith(WRITING):
            return execute()
        return _in_turn(self.connection, self.usual_timeout, execute)


class DatabaseWrapper(base.DatabaseWrapper):
    """Add the file's permissions and the start of writing transactions to Django's wrapper."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the database file, created with access for its owner only. SQLite gives its journals the same
        permissions."""
        name = str(conn_params["database"])
        if not name.startswith("file:") and name != ":memory:":
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            # Never open an existing file here: under POSIX rules, closing it would release the locks that other
            # connections of this process hold on it, and SQLite would read and write without them.
            with suppress(FileExistsError, PermissionError):
                os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with suppress(PermissionError):  # The file belongs to another user; SQLite reports what it cannot do.
                if os.stat(name).st_mode & 0o077:
                    os.chmod(name, 0o600)
        return super().get_new_connection(conn_params)

    def _start_transaction_under_autocommit(self) -> None:
        """Begin a transaction as soon as no other writer is active."""
        _in_turn(self.connection, self._usual_timeout(), super()._start_transaction_under_autocommit)

    def create_cursor(self, name: str | None = None) -> Any:
        """Return a cursor that waits for its turn to write."""
        cursor = self.connection.cursor(factory=Cursor)
        cursor.usual_timeout = self._usual_timeout()
        return cursor

    def _usual_timeout(self) -> int:
        return round(1000 * float(self.settings_dict["OPTIONS"].get("timeout", 5)))


def _in_turn(connection: Any, usual_timeout: int, act: Callable[[], Answer]) -> Answer:
    deadline = time.monotonic() + PATIENCE
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                return act()
            except (OperationalError, base.Database.OperationalError) as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(SHORTEST, LONGEST))  # noqa: S311 - chance that protects nothing
    finally:
        connection.execute(f"PRAGMA busy_timeout = {usual_timeout}")
