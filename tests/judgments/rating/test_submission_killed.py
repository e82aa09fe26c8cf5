"""Test of submission when the server is killed: each acknowledged judgment is recorded exactly once.

A real server runs on the tests' database. Its web processes, worker and supervisor get SIGKILL together, as when a
machine goes down.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from judgments.members import tokens
from judgments.models import Judgment, Round, Slot

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = 240
# The server is killed once so many answers were told; there are so many more that it cannot be too late.
ACKNOWLEDGED_BEFORE = 60


class Rater(threading.Thread):
    """Takes pairs and answers them one by one, until there are none or the server is gone."""

    def __init__(self, port: int, round_: Round, key: str) -> None:
        super().__init__(daemon=True)
        self.port, self.path = port, f"/api/v1/rounds/{round_.uuid}"
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        # Answers by client id: those that the server said are recorded, and those of which it said nothing.
        self.acknowledged: dict[str, dict[str, Any]] = {}
        self.unsure: dict[str, dict[str, Any]] = {}
        self.failed = ""

    def ask(self, path: str, body: Any = None) -> tuple[int, Any]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            line.request("POST", self.path + path, json.dumps(body or {}), self.headers)
            response = line.getresponse()
            return response.status, json.loads(response.read())
        finally:
            line.close()

    def send(self, answer: dict[str, Any]) -> int:
        status, body = self.ask("/judgments/", answer)
        if status not in (200, 201):
            self.failed = f"{status}: {body}"
            raise AssertionError(self.failed)
        self.acknowledged[answer["client_id"]] = answer
        return status

    def run(self) -> None:
        try:
            while pairs := self.ask("/batch/?size=10")[1]["pairs"]:
                for place, pair in enumerate(pairs):
                    answer = {"client_id": str(uuid.uuid4()), "pair": pair["id"], "grade": place % 4}
                    self.unsure[answer["client_id"]] = answer
                    self.send(answer)
                    del self.unsure[answer["client_id"]]
        except (OSError, http.client.HTTPException, ValueError, AssertionError):
            return  # the server is gone in the middle of a request: whether the last answer arrived nobody was told


@pytest.fixture
def held_port() -> Iterator[int]:
    """A port that nobody else is given, also while no server of this test is listening there."""
    with socket.socket() as held:
        # Who says so too may listen where nobody does; the kernel itself hands such a port out no more.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(sys.platform != "linux", reason="a process group is killed as one on Linux")
def test_every_acknowledged_answer_is_stored_once(
    make_round: Any, rater: Any, rater2: Any, rater3: Any, held_port: int, tmp_path: Path
) -> None:
    people = [rater, rater2, rater3]
    round_ = make_round(queries=1, documents=DOCUMENTS, raters=people, ratings_per_pair=1)
    keys = [tokens.make_token(one, name="test", scopes=["rate"])[1] for one in people]
    environment = _environment(tmp_path)
    # Nobody but the server holds the database when it is killed.
    connection.close()
    raters = [Rater(held_port, round_, key) for key in keys]
    with _server(environment, held_port) as server:
        for one in raters:
            one.start()
        _wait_until(lambda: sum(len(one.acknowledged) for one in raters) >= ACKNOWLEDGED_BEFORE, raters)
        os.killpg(server.pid, signal.SIGKILL)
        for one in raters:
            one.join(timeout=600)
    assert [one.failed for one in raters if one.failed] == []
    _wait_until(_nobody_else_is_connected, [])
    acknowledged = {key: answer for one in raters for key, answer in one.acknowledged.items()}
    unsure = {key for one in raters for key in one.unsure}
    assert ACKNOWLEDGED_BEFORE <= len(acknowledged) < DOCUMENTS, "it was killed too late to tell anything"
    there = _recorded(round_)
    assert [answer for key, answer in acknowledged.items() if there.get(key) != answer] == []
    # What stands beside them is of those who had not heard yet: one request of each rater at most.
    assert there.keys() - acknowledged.keys() <= unsure
    assert all(len(one.unsure) <= 1 for one in raters)
    connection.close()
    with _server(environment, held_port):
        # A browser sends again what it was not told of; what it was told of, sent once more, changes nothing.
        for one in raters:
            for answer in one.unsure.values():
                assert one.send(answer) == (200 if answer["client_id"] in there else 201)
            assert all(one.send(answer) == 200 for answer in list(one.acknowledged.values())[:3])
    _wait_until(_nobody_else_is_connected, [])
    end = _recorded(round_)
    assert end.keys() == acknowledged.keys() | unsure
    # Each fills a place of its own: none counts twice, none is surplus.
    assert not Judgment.objects.of_round(round_).filter(surplus=True).exists()
    assert Slot.objects.filter(round=round_, filled_by__isnull=False).count() == len(end)


def _environment(folder: Path) -> dict[str, str]:
    """A server of its own folder on the database of the tests, whichever that is."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        url = f"sqlite:///{database['NAME']}"
    else:
        login = f"{database['USER']}:{database['PASSWORD']}" if database["PASSWORD"] else database["USER"]
        url = f"postgres://{login}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    own = {"ASSAY_VAR": str(folder), "DATABASE_URL": url, "STORAGE_URL": "", "REDIS_URL": "", "DEBUG": "1"}
    return {**os.environ, **own}


def _recorded(round_: Round) -> dict[str, dict[str, Any]]:
    """What the database holds, by client id; an answer that is there twice fails."""
    rows = list(Judgment.objects.of_round(round_).values_list("client_id", "pair__uuid", "grade"))
    assert len({client_id for client_id, *_ in rows}) == len(rows), "an answer was recorded twice"
    return {str(one): {"client_id": str(one), "pair": str(pair), "grade": grade} for one, pair, grade in rows}


def _nobody_else_is_connected() -> bool:
    """PostgreSQL ends what a killed client had begun, one way or the other, before it lets the connection go."""
    if connection.vendor == "sqlite":
        return True
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return bool(cursor.fetchone() == (0,))


@contextmanager
def _server(environment: Mapping[str, str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """``manage.py serve`` as a process group of its own, once it answers; killed at the end if it still runs."""
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--threads", "4"]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=ROOT, env=dict(environment), start_new_session=True, **silent)
    try:
        _wait_until(lambda: _answers(port), [])
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=600)


def _answers(port: int) -> bool:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        line.request("GET", "/api/v1/tokens/")
        return line.getresponse().status == 401
    except OSError:
        return False
    finally:
        line.close()


def _wait_until(there: Callable[[], bool], raters: list[Rater]) -> None:
    deadline = time.monotonic() + 600
    while not there() and time.monotonic() < deadline and (not raters or any(one.is_alive() for one in raters)):
        time.sleep(0.02)
    assert there(), "it did not come to pass"
