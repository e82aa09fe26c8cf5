"""Grants: the hosts, directories and models that a collection may use.

The settings (``CONNECTOR_HOSTS``, ``CONNECTOR_FOLDERS``, ``PROVIDER_HOSTS``, ``WEBHOOK_HOSTS``, ``LOCAL_MODELS``)
define what the server may reach. A grant gives one collection a part of that, so that no lead reaches the engines and
files of another team. Operators grant with ``manage.py grant`` or in ``/admin/``.
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import transaction

from assay.core.errors import NotValid
from assay.network.allowed_addresses import Allowed
from judgments.models import Collection, Grant, User, audit

ALL = "*"
LONGEST = 500
HOSTS = (Grant.Kind.CONNECTOR_HOST, Grant.Kind.PROVIDER_HOST, Grant.Kind.WEBHOOK_HOST)


@transaction.atomic
def grant(collection: Collection, *, kind: str, value: str, actor: User | None = None) -> Grant:
    """Allow a collection to use a host, a directory or a model."""
    value = checked(kind, value)
    row, new = Grant.objects.get_or_create(
        collection=collection, kind=kind, value=value, defaults={"created_by": actor}
    )
    if new:
        _record("grant", f"{_operator(actor)} granted {row} to {collection}", row, actor)
    return row


@transaction.atomic
def revoke(row: Grant, *, actor: User | None = None) -> None:
    """Revoke a grant. Connectors, providers and judges that need it stay, but fail when they are used."""
    _record("revoke", f"{_operator(actor)} revoked {row} of {row.collection}", row, actor)
    row.delete()


def checked(kind: str, value: str) -> str:
    """Return the value in its stored form."""
    value = value.strip()
    problem = ""
    if kind not in Grant.Kind.values:
        problem = f"Unknown kind {kind!r}. Known kinds: {', '.join(Grant.Kind.values)}."
    elif not value or len(value) > LONGEST or not value.isprintable():
        problem = f"The value is empty, longer than {LONGEST} characters, or not printable."
    elif kind in HOSTS and ("/" in value or " " in value):
        problem = f"{value!r} is not a host. Enter it without https:// and path, for example search.example.com:9200."
    elif kind == Grant.Kind.CONNECTOR_FOLDER and value != ALL and not Path(value).is_absolute():
        problem = f"{value!r} is not an absolute path."
    if problem:
        raise NotValid(problem, "value")
    return value


def connector_access(collection: Collection) -> Allowed:
    """Return the hosts and directories that connectors of the collection may use."""
    whole = Allowed.of(settings.CONNECTOR_HOSTS, settings.CONNECTOR_NETWORKS, settings.CONNECTOR_FOLDERS)
    hosts = _values(collection, Grant.Kind.CONNECTOR_HOST)
    return whole.granted(hosts, _values(collection, Grant.Kind.CONNECTOR_FOLDER))


def provider_access(collection: Collection) -> Allowed:
    """Return the hosts that machine judges of the collection may call."""
    whole = Allowed.of(settings.PROVIDER_HOSTS, settings.PROVIDER_NETWORKS, setting="PROVIDER")
    return whole.granted(_values(collection, Grant.Kind.PROVIDER_HOST))


def webhook_access(collection: Collection) -> Allowed:
    """Return the hosts that webhooks of the collection may send to."""
    whole = Allowed.of(settings.WEBHOOK_HOSTS, settings.WEBHOOK_NETWORKS, setting="WEBHOOK")
    return whole.granted(_values(collection, Grant.Kind.WEBHOOK_HOST))


def local_models(collection: Collection) -> list[str]:
    """Return the models that judges of the collection may load on this server; the built-in default needs no grant."""
    granted = {settings.DEFAULT_LOCAL_MODEL, *_values(collection, Grant.Kind.LOCAL_MODEL)}
    return [name for name in settings.LOCAL_MODELS if ALL in granted or name in granted]


def has_effect(row: Grant) -> bool:
    """Return whether the server's settings allow any value of the grant."""
    if row.kind == Grant.Kind.LOCAL_MODEL:
        return row.value in (ALL, *settings.LOCAL_MODELS) and bool(settings.LOCAL_MODELS)
    if row.kind == Grant.Kind.PROVIDER_HOST:
        return bool(Allowed.of(settings.PROVIDER_HOSTS).granted([row.value]).hosts)
    if row.kind == Grant.Kind.WEBHOOK_HOST:
        return bool(Allowed.of(settings.WEBHOOK_HOSTS).granted([row.value]).hosts)
    whole = Allowed.of(settings.CONNECTOR_HOSTS, (), settings.CONNECTOR_FOLDERS)
    if row.kind == Grant.Kind.CONNECTOR_HOST:
        return bool(whole.granted([row.value]).hosts)
    return bool(whole.granted([], [row.value]).folders)


def _values(collection: Collection, kind: str) -> list[str]:
    return list(Grant.objects.filter(collection=collection, kind=kind).values_list("value", flat=True))


def _operator(actor: User | None) -> str:
    return str(actor) if actor else "the server's operator"


def _record(verb: str, sentence: str, row: Grant, actor: User | None) -> None:
    audit.record(f"grants.{verb}", sentence, actor=actor, target=row, value=row.value)
