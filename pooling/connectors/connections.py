"""Connectors of a collection: add, change, test and remove them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from django.db import IntegrityError, transaction

from assay.connectors import CONNECTORS, ConnectorKind, Engine, Hit
from assay.connectors.fetch import LONGEST_TIMEOUT, MOST_AT_ONCE, Plan, answer_of
from assay.core.errors import Conflict, NotValid
from judgments.jobs import encrypted_secrets
from judgments.members import grants
from judgments.models import Collection, User, audit
from judgments.web.middleware import outside_turns
from pooling.models import Connector

# The stored secret is sent to the address in these settings. A user who changes one of them must enter the secret
# again.
WHERE = ("address", "host", "port", "database")
TRIAL = Plan(depth=10, attempts=1)


def add(
    collection: Collection,
    *,
    actor: User,
    name: str,
    kind: str,
    given: Mapping[str, str],
    timeout: float = 10.0,
    concurrency: int = 4,
) -> Connector:
    """Add a connector."""
    connector = Connector(collection=collection, kind=kind, created_by=actor)
    values = _usable(connector, name, given, timeout, concurrency)
    with transaction.atomic():
        _fill(connector, name, values, timeout, concurrency)
        sentence = f"{actor} connected {connector.name} ({CONNECTORS[kind].title})"
        audit.record("connected.add", sentence, actor=actor, target=connector)
    return connector


def change(
    connector: Connector,
    *,
    actor: User,
    name: str,
    given: Mapping[str, str],
    timeout: float,
    concurrency: int,
) -> None:
    """Change a connector's settings; an omitted secret stays if the host is the same."""
    member, before = CONNECTORS[connector.kind], _state(connector)
    moved = [one for one in WHERE if one in connector.settings and given.get(one, "") != connector.settings[one]]
    secrets_before = {} if moved else encrypted_secrets.unseal(connector.sealed)
    if moved and connector.sealed and not any(given.get(secret) for secret in member.secrets):
        message = (
            f"The {moved[0]} changed. Enter the secret again, so that it is not sent to the wrong server by accident."
        )
        raise NotValid(message, member.secrets[0])
    secrets = {one: given.get(one) or secrets_before.get(one, "") for one in member.secrets}
    values = _usable(connector, name, {**given, **secrets}, timeout, concurrency)
    with transaction.atomic():
        _fill(connector, name, values, timeout, concurrency)
        sentence = f"{actor} changed the settings of {connector.name}"
        new = any(given.get(one) for one in member.secrets)
        detail = {**audit.changed(before, _state(connector)), "secret_given": new}
        audit.record("connected.change", sentence, actor=actor, target=connector, **detail)


@transaction.atomic
def remove(connector: Connector, *, actor: User) -> None:
    """Delete a connector and its secret; runs fetched from it stay."""
    if any(fetch.job is not None and not fetch.job.over for fetch in connector.fetches.select_related("job")):
        raise Conflict(f"A fetch from {connector.name} is running. Cancel that job first.")
    sentence = f"{actor} removed the connector {connector.name}"
    audit.record("connected.remove", sentence, actor=actor, target=connector)
    connector.delete()


def engine_of(connector: Connector) -> Engine:
    """Return the open connection to the engine; the caller closes it."""
    values = {**connector.settings, **encrypted_secrets.unseal(connector.sealed)}
    return CONNECTORS[connector.kind].engine(values, grants.connector_access(connector.collection), connector.timeout)


def attempt(connector: Connector, query: str, *, actor: User | None = None) -> list[Hit]:
    """Send one query to test the settings. Only the audit row is stored."""
    with outside_turns().turn(), closing(engine_of(connector)) as engine:
        answer = answer_of(engine, "trial", query, TRIAL)
    facts = {"query": query[:200], "hits": len(answer.hits), "error": answer.error}
    sentence = f"{actor or 'The server'} tested the connector {connector.name}"
    audit.record("connected.attempt", sentence, actor=actor, target=connector, **facts)
    if answer.error:
        raise NotValid(answer.error)
    return list(answer.hits)


def _usable(
    connector: Connector, name: str, given: Mapping[str, str], timeout: float, concurrency: int
) -> dict[str, str]:
    """Return the values of all settings. Call it outside a transaction, because it may take long and would block
    writers."""
    member = CONNECTORS[connector.kind]
    if not name.strip():
        raise NotValid("The name is missing.", {"name": "Enter a name."})
    if not 0 < timeout <= LONGEST_TIMEOUT:
        raise NotValid("The timeout is too long.", {"timeout": f"Enter at most {LONGEST_TIMEOUT:g} seconds."})
    if not 1 <= concurrency <= MOST_AT_ONCE:
        raise NotValid(
            "The number of concurrent queries is out of range.",
            {"concurrency": f"Enter a number from 1 to {MOST_AT_ONCE}."},
        )
    values = member.checked(given)
    # Opened once and closed, so that invalid settings are reported now and not by the first job.
    with outside_turns().turn():
        member.engine(values, grants.connector_access(connector.collection), timeout).close()
    return values


def _fill(connector: Connector, name: str, values: dict[str, str], timeout: float, concurrency: int) -> None:
    member = CONNECTORS[connector.kind]
    connector.name, connector.timeout, connector.concurrency = name.strip()[:120], timeout, concurrency
    connector.settings, secrets = _apart(member, values)
    connector.sealed = encrypted_secrets.seal(secrets)
    try:
        with transaction.atomic():
            connector.save()
    except IntegrityError as error:
        raise Conflict(f"A connector named {connector.name} already exists. Choose another name.") from error


def _state(connector: Connector) -> dict[str, Any]:
    """Return the settings for the audit log, without secrets."""
    own = {"name": connector.name, "timeout": connector.timeout, "concurrency": connector.concurrency}
    return {**connector.settings, **own}


def _apart(member: ConnectorKind, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the public settings and the secret settings."""
    secrets = {name: values[name] for name in member.secrets}
    return {name: value for name, value in values.items() if name not in secrets}, secrets
