"""Connectors of a collection: add, change, try and remove them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from django.db import IntegrityError, transaction

from judgments import audit, grants, sealing
from judgments.core.errors import Conflict, NotValid
from judgments.models import Collection, User
from judgments.turns import outside_turns
from pooling.connectors import CONNECTORS, ConnectorKind, Engine, Hit
from pooling.connectors.fetch import LONGEST_TIMEOUT, MOST_AT_ONCE, Plan, answer_of
from pooling.models import Connector

# A secret was given for these; whoever points them elsewhere has to know it.
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
    """Connect an engine.

    Parameters
    ----------
    collection : Collection
        Whose queries it will be asked.
    actor : User
        Who does it.
    name, kind : str
        What it is called here; a member of ``CONNECTORS``.
    given : mapping of str to str
        The settings that the kind declares, its secrets among them.
    timeout : float
        Seconds for one request.
    concurrency : int
        Queries asked at a time.

    Raises
    ------
    NotValid
        A setting that cannot work, by its name.
    EngineFault
        The operator has not granted the place to the collection.
    Conflict
        The name is taken.
    Busy
        Too many try engines at the moment.
    """
    connector = Connector(collection=collection, kind=kind, created_by=actor)
    values = _usable(connector, name, given, timeout, concurrency)
    with transaction.atomic():
        _fill(connector, name, values, timeout, concurrency)
        sentence = f"{actor} connected {connector.name} ({CONNECTORS[kind].title})"
        audit.record("connected.add", sentence, actor=actor, collection=collection, target=connector)
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
    """Change an engine's settings; a secret that is not given stays, as long as it goes to the same place.

    Raises
    ------
    NotValid, EngineFault, Conflict, Busy
        As `add`.
    """
    member, before = CONNECTORS[connector.kind], _state(connector)
    moved = [one for one in WHERE if one in connector.settings and given.get(one, "") != connector.settings[one]]
    kept = {} if moved else sealing.unseal(connector.sealed)
    if moved and connector.sealed and not any(given.get(secret) for secret in member.secrets):
        message = f"The {moved[0]} is another one: give the secret again, or it would be sent there unasked."
        raise NotValid(message, {member.secrets[0]: message})
    secrets = {one: given.get(one) or kept.get(one, "") for one in member.secrets}
    values = _usable(connector, name, {**given, **secrets}, timeout, concurrency)
    with transaction.atomic():
        _fill(connector, name, values, timeout, concurrency)
        sentence, collection = f"{actor} changed how {connector.name} is asked", connector.collection
        new = any(given.get(one) for one in member.secrets)
        detail = {**audit.changed(before, _state(connector)), "secret_given": new}
        audit.record("connected.change", sentence, actor=actor, collection=collection, target=connector, **detail)


@transaction.atomic
def remove(connector: Connector, *, actor: User) -> None:
    """Forget an engine and its secret; runs that were fetched from it stay.

    Raises
    ------
    Conflict
        It is being asked right now.
    """
    if any(fetch.job is not None and not fetch.job.over for fetch in connector.fetches.select_related("job")):
        raise Conflict(f"{connector.name} is being asked right now. Cancel that job first.")
    sentence = f"{actor} removed the connector {connector.name}"
    audit.record("connected.remove", sentence, actor=actor, collection=connector.collection, target=connector)
    connector.delete()


def engine_of(connector: Connector) -> Engine:
    """The engine, ready to be asked; whoever takes it closes it."""
    values = {**connector.settings, **sealing.unseal(connector.sealed)}
    return CONNECTORS[connector.kind].engine(values, grants.connector_access(connector.collection), connector.timeout)


def attempt(connector: Connector, query: str, *, actor: User | None = None) -> list[Hit]:
    """Ask one query, to see whether the settings are right. Nothing is stored but that it was asked.

    Raises
    ------
    EngineFault
        What the engine did instead of answering.
    Busy
        Too many try engines at the moment.
    """
    with outside_turns().turn(), closing(engine_of(connector)) as engine:
        answer = answer_of(engine, "trial", query, TRIAL)
    told = {"query": query[:200], "hits": len(answer.hits), "error": answer.error}
    sentence = f"{actor or 'The server'} tried the connector {connector.name}"
    audit.record("connected.attempt", sentence, actor=actor, collection=connector.collection, target=connector, **told)
    if answer.error:
        raise NotValid(answer.error)
    return list(answer.hits)


def _usable(
    connector: Connector, name: str, given: Mapping[str, str], timeout: float, concurrency: int
) -> dict[str, str]:
    """The values of all settings; outside of a transaction, since it can take long and others want to write."""
    member = CONNECTORS[connector.kind]
    if not name.strip():
        raise NotValid("The connector has no name.", {"name": "Fill this in."})
    if not 0 < timeout <= LONGEST_TIMEOUT:
        raise NotValid("The timeout is out of bounds.", {"timeout": f"At most {LONGEST_TIMEOUT:g} seconds."})
    if not 1 <= concurrency <= MOST_AT_ONCE:
        raise NotValid("Too many at a time.", {"concurrency": f"From 1 to {MOST_AT_ONCE}."})
    values = member.checked(given)
    # Made once and let go: what cannot work is told now, and not by the first job.
    with outside_turns().turn():
        member.engine(values, grants.connector_access(connector.collection), timeout).close()
    return values


def _fill(connector: Connector, name: str, values: dict[str, str], timeout: float, concurrency: int) -> None:
    member = CONNECTORS[connector.kind]
    connector.name, connector.timeout, connector.concurrency = name.strip()[:120], timeout, concurrency
    connector.settings, secrets = _apart(member, values)
    connector.sealed = sealing.seal(secrets)
    try:
        with transaction.atomic():
            connector.save()
    except IntegrityError as error:
        raise Conflict(f"There is a connector called {connector.name} already. Take another name.") from error


def _state(connector: Connector) -> dict[str, Any]:
    """What is on record when it changes; secrets are not among the settings."""
    own = {"name": connector.name, "timeout": connector.timeout, "concurrency": connector.concurrency}
    return {**connector.settings, **own}


def _apart(member: ConnectorKind, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings that may be shown, and those that may not."""
    secrets = {name: values[name] for name in member.secrets}
    return {name: value for name, value in values.items() if name not in secrets}, secrets
