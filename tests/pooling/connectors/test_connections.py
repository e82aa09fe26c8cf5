"""Tests of connections: allowed addresses and protected secrets."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import Any

import pytest
from django.db import connection

from assay.connectors import EngineFault
from assay.core.errors import Busy, Conflict, NotValid, UnknownName
from judgments.jobs import encrypted_secrets
from judgments.models import AuditRow, User
from judgments.web.middleware import outside_turns
from pooling.connectors import connections
from pooling.models import Connector
from tests.assay.connectors.bad_engine import SECRET, BadEngine

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("engines_allowed")]


@pytest.fixture
def connector(collection: Any, engineer: Any, bad_engine: BadEngine) -> Connector:
    given = {"address": bad_engine.at("locked"), "secret": SECRET}
    return connections.add(collection, actor=engineer, name="shop", kind="json-http", given=given)


def test_a_secret_is_encrypted_and_nowhere_else(connector: Connector) -> None:
    row = Connector.objects.values().get()
    assert SECRET not in repr(row)
    assert "secret" not in row["settings"]
    assert encrypted_secrets.unseal(row["sealed"]) == {"secret": SECRET}
    assert SECRET not in repr(list(AuditRow.objects.values()))
    assert AuditRow.objects.get(verb="connected.add").sentence == "emil connected shop (Any engine over HTTP)"


def test_a_query_is_tried(connector: Connector) -> None:
    hits = connections.attempt(connector, "rain jacket")
    assert len(hits) == 10
    assert hits[0].text == "about rain jacket"


def test_a_trial_that_fails_says_why(collection: Any, engineer: Any, bad_engine: BadEngine) -> None:
    made = connections.add(
        collection, actor=engineer, name="page", kind="json-http", given={"address": bad_engine.at("html")}
    )
    with pytest.raises(NotValid, match=r"instead of JSON"):
        connections.attempt(made, "x")


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
            connections.attempt(connector, "rain")
        with pytest.raises(Busy):
            change(connector, engineer)
        with pytest.raises(Busy):
            connections.add(
                connector.collection, actor=engineer, name="x", kind="json-http", given=dict(connector.settings)
            )
    assert len(connections.attempt(connector, "rain")) == 10
    assert turns.at_once + turns.waiting < 16


@pytest.mark.django_db(transaction=True)
def test_a_slow_engine_blocks_no_other_writer(
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
    connections.change(connector, actor=actor, name="shop", given=values, timeout=3.0, concurrency=2)
    connector.refresh_from_db()


def test_a_secret_that_is_not_given_again_stays(connector: Connector, engineer: Any) -> None:
    change(connector, engineer, text="body")
    assert (connector.settings["text"], connector.timeout, connector.concurrency) == ("body", 3.0, 2)
    assert encrypted_secrets.unseal(connector.sealed) == {"secret": SECRET}


def test_a_changed_address_needs_the_secret_again(connector: Connector, engineer: Any, bad_engine: BadEngine) -> None:
    """Else whoever may change a connector could have its secret sent to a host of their own."""
    elsewhere = f"http://localhost:{bad_engine.port}/locked"
    with pytest.raises(NotValid, match="Enter the secret again") as caught:
        change(connector, engineer, address=elsewhere)
    assert "secret" in caught.value.fields
    change(connector, engineer, address=elsewhere, secret="another")
    assert encrypted_secrets.unseal(connector.sealed) == {"secret": "another"}


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
def test_invalid_connections_are_reported_at_once(
    collection: Any, engineer: Any, more: dict[str, Any], field: str
) -> None:
    usual: dict[str, Any] = {"name": "shop", "given": {"address": "http://127.0.0.1:9/"}}
    with pytest.raises(NotValid) as caught:
        connections.add(collection, actor=engineer, kind="json-http", **{**usual, **more})
    assert field in caught.value.fields
    assert not Connector.objects.exists()


def test_only_what_the_operator_allows(collection: Any, engineer: Any, settings: Any) -> None:
    settings.CONNECTOR_NETWORKS = []
    with pytest.raises(EngineFault, match="CONNECTOR_NETWORKS"):
        connections.add(collection, actor=engineer, name="x", kind="json-http", given={"address": "http://127.0.0.1/"})
    assert not Connector.objects.exists()


def test_grants_are_checked_each_time(connector: Connector, settings: Any) -> None:
    settings.CONNECTOR_HOSTS = []
    with pytest.raises(EngineFault, match="CONNECTOR_HOSTS"):
        connections.attempt(connector, "x")


def test_names_are_unique_and_kinds_known(connector: Connector, engineer: Any) -> None:
    given = {"address": "http://127.0.0.1:9/"}
    with pytest.raises(Conflict, match="named shop"):
        connections.add(connector.collection, actor=engineer, name="shop", kind="json-http", given=given)
    with pytest.raises(UnknownName):
        connections.add(connector.collection, actor=engineer, name="x", kind="gopher", given=given)


def test_removed_with_its_secret(connector: Connector, engineer: Any) -> None:
    connections.remove(connector, actor=engineer)
    assert not Connector.objects.exists()
    assert AuditRow.objects.filter(verb="connected.remove").count() == 1
