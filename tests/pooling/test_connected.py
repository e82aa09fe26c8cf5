"""Is an engine connected only where it may be, and is its secret kept to itself?"""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import Any

import pytest
from django.db import connection

from judgments import sealing
from judgments.core.errors import Busy, Conflict, NotValid, UnknownName
from judgments.models import AuditRow, User
from judgments.turns import outside_turns
from pooling import connected
from pooling.connectors import EngineFault
from pooling.models import Connector
from tests.pooling.bad_engine import SECRET, BadEngine

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.CONNECTOR_HOSTS, settings.CONNECTOR_NETWORKS = ["127.0.0.1", "localhost"], ["127.0.0.0/8", "::1/128"]


@pytest.fixture
def connector(collection: Any, engineer: Any, bad_engine: BadEngine) -> Connector:
    given = {"address": bad_engine.at("locked"), "secret": SECRET}
    return connected.add(collection, actor=engineer, name="shop", kind="json-http", given=given)


def test_a_secret_is_encrypted_and_nowhere_else(connector: Connector) -> None:
    row = Connector.objects.values().get()
    assert SECRET not in repr(row)
    assert "secret" not in row["settings"]
    assert sealing.unseal(row["sealed"]) == {"secret": SECRET}
    assert SECRET not in repr(list(AuditRow.objects.values()))
    assert AuditRow.objects.get(verb="connected.add").sentence == "emil connected shop (Any engine over HTTP)"


def test_a_query_is_tried(connector: Connector) -> None:
    hits = connected.attempt(connector, "rain jacket")
    assert len(hits) == 10
    assert hits[0].text == "about rain jacket"


def test_a_trial_that_fails_says_why(collection: Any, engineer: Any, bad_engine: BadEngine) -> None:
    made = connected.add(
        collection, actor=engineer, name="page", kind="json-http", given={"address": bad_engine.at("html")}
    )
    with pytest.raises(NotValid, match=r"no JSON\. Is this its search address"):
        connected.attempt(made, "x")


def test_many_tries_leave_threads_for_others(
    connector: Connector, engineer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each try holds a thread of the web server for as long as the engine takes."""
    turns = outside_turns()
    with ExitStack() as others:
        for _ in range(turns.at_once):
            others.enter_context(turns.turn())
        monkeypatch.setattr(turns, "seconds", 0.0)
        with pytest.raises(Busy):
            connected.attempt(connector, "rain")
        with pytest.raises(Busy):
            change(connector, engineer)
        with pytest.raises(Busy):
            connected.add(
                connector.collection, actor=engineer, name="x", kind="json-http", given=dict(connector.settings)
            )
    assert len(connected.attempt(connector, "rain")) == 10
    assert turns.at_once + turns.waiting < 16


@pytest.mark.django_db(transaction=True)
def test_a_slow_engine_keeps_nobody_from_writing(
    connector: Connector, engineer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite a transaction keeps all others waiting, here somebody who writes while a name is looked up."""
    real = socket.getaddrinfo

    def looked_up(*args: Any, **options: Any) -> Any:
        User.objects.filter(pk=engineer.pk).update(email="written@example.com")
        connection.close()
        return real(*args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    change(connector, engineer)
    engineer.refresh_from_db()
    assert engineer.email == "written@example.com"


def change(connector: Connector, actor: Any, **given: str) -> None:
    values = {**connector.settings, **given}
    connected.change(connector, actor=actor, name="shop", given=values, timeout=3.0, concurrency=2)
    connector.refresh_from_db()


def test_a_secret_that_is_not_given_again_stays(connector: Connector, engineer: Any) -> None:
    change(connector, engineer, text="body")
    assert (connector.settings["text"], connector.timeout, connector.concurrency) == ("body", 3.0, 2)
    assert sealing.unseal(connector.sealed) == {"secret": SECRET}


def test_a_secret_is_not_sent_elsewhere_unasked(connector: Connector, engineer: Any, bad_engine: BadEngine) -> None:
    """Else whoever may change a connector could have its secret sent to a host of their own."""
    elsewhere = f"http://localhost:{bad_engine.port}/locked"
    with pytest.raises(NotValid, match="give the secret again") as caught:
        change(connector, engineer, address=elsewhere)
    assert "secret" in caught.value.fields
    change(connector, engineer, address=elsewhere, secret="another")
    assert sealing.unseal(connector.sealed) == {"secret": "another"}


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"name": " "}, "name"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": 1000.0}, "timeout"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": 99}, "concurrency"),
        ({"given": {"address": "nonsense"}}, "address"),
        ({"given": {}}, "address"),
    ],
)
def test_what_cannot_work_is_told_at_once(collection: Any, engineer: Any, more: dict[str, Any], field: str) -> None:
    usual: dict[str, Any] = {"name": "shop", "given": {"address": "http://127.0.0.1:9/"}}
    with pytest.raises(NotValid) as caught:
        connected.add(collection, actor=engineer, kind="json-http", **{**usual, **more})
    assert field in caught.value.fields
    assert not Connector.objects.exists()


def test_only_what_the_operator_allows(collection: Any, engineer: Any, settings: Any) -> None:
    settings.CONNECTOR_NETWORKS = []
    with pytest.raises(EngineFault, match="CONNECTOR_NETWORKS"):
        connected.add(collection, actor=engineer, name="x", kind="json-http", given={"address": "http://127.0.0.1/"})
    assert not Connector.objects.exists()


def test_what_is_allowed_is_asked_again_each_time(connector: Connector, settings: Any) -> None:
    settings.CONNECTOR_HOSTS = []
    with pytest.raises(EngineFault, match="CONNECTOR_HOSTS"):
        connected.attempt(connector, "x")


def test_names_are_unique_and_kinds_known(connector: Connector, engineer: Any) -> None:
    given = {"address": "http://127.0.0.1:9/"}
    with pytest.raises(Conflict, match="called shop already"):
        connected.add(connector.collection, actor=engineer, name="shop", kind="json-http", given=given)
    with pytest.raises(UnknownName):
        connected.add(connector.collection, actor=engineer, name="x", kind="gopher", given=given)


def test_removed_with_its_secret(connector: Connector, engineer: Any) -> None:
    connected.remove(connector, actor=engineer)
    assert not Connector.objects.exists()
    assert AuditRow.objects.filter(verb="connected.remove").count() == 1
