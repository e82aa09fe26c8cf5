"""Model providers of a collection: add, change, remove and call them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction

from assay.core.errors import Conflict, NotValid
from assay.llm.providers import PROTOCOLS
from assay.llm.providers.limits import Limits
from assay.llm.providers.protocol import WITHOUT, Endpoint, odd_parameters
from assay.network.http_clients import checked_client
from judgments.hooks import PROVIDER_USERS
from judgments.jobs import encrypted_secrets
from judgments.machines import machine_runs
from judgments.members import grants
from judgments.models import Collection, Provider, User, audit

if TYPE_CHECKING:
    from assay.network.allowed_addresses import Allowed
    from assay.network.http_clients import ClientPool

PORTS = {"http": 80, "https": 443}
LONGEST_KEY = 5_000
MOST_MODELS = 50
MOST_TOKENS = 100_000
# Call options of a model.
SETTINGS = ("thinks", "leave_out", "most_tokens")
DEAREST = 10_000.0
FIELDS = (
    "name",
    "protocol",
    "base_url",
    "models_offered",
    "prices_of",
    "concurrency",
    "per_minute",
    "tokens_per_minute",
    "timeout",
)


@transaction.atomic
def add(collection: Collection, *, actor: User, given: Mapping[str, Any], key: str = "") -> Provider:
    """Add a provider with its key."""
    provider = Provider(collection=collection, created_by=actor)
    _fill(provider, given)
    provider.sealed = encrypted_secrets.seal({"key": _checked_key(key)})
    _save(provider)
    sentence = f"{actor} added the model provider {provider} ({provider.base_url})"
    audit.record("providers_kept.add", sentence, actor=actor, target=provider)
    return provider


@transaction.atomic
def change(provider: Provider, *, actor: User, given: Mapping[str, Any], key: str = "") -> None:
    """Change a provider; an omitted key stays if the address is the same."""
    before = _state(provider)
    _fill(provider, given)
    if provider.sealed and not key and provider.base_url != before["base_url"]:
        message = "The address changed. Enter the key again to confirm that it may be sent to the new address."
        raise NotValid(message, "key")
    if key:
        provider.sealed = encrypted_secrets.seal({"key": _checked_key(key)})
    _save(provider)
    sentence = f"{actor} changed the settings of the model provider {provider}"
    detail = {**audit.changed(before, _state(provider)), "key_given": bool(key)}
    audit.record("providers_kept.change", sentence, actor=actor, target=provider, **detail)


@transaction.atomic
def remove(provider: Provider, *, actor: User) -> None:
    """Remove a provider and its key; the answers of its models stay."""
    if machine_runs.judges_ask(provider):
        raise Conflict(f"A judge is calling {provider}. Pause that judge first.")
    if machine_runs.battles_ask(provider):
        raise Conflict(f"Pairwise comparisons are calling {provider}. Pause them first.")
    if any(asks(provider) for asks in PROVIDER_USERS):
        raise Conflict(f"A critic is calling {provider}. Pause that critic first.")
    sentence = f"{actor} removed the model provider {provider}"
    audit.record("providers_kept.remove", sentence, actor=actor, target=provider)
    provider.delete()


def endpoint(provider: Provider, model: str, settings: Mapping[str, Any] | None = None) -> Endpoint:
    """Return the endpoint of a model."""
    known = provider.offered(model) or {}
    options = settings_of(provider, model) if settings is None else settings
    return Endpoint(
        PROTOCOLS[provider.protocol],
        model,
        provider.base_url,
        encrypted_secrets.unseal(provider.sealed).get("key", ""),
        known.get("price_in"),
        known.get("price_out"),
        frozenset(options.get("leave_out", ())),
        options.get("thinks"),
        options.get("most_tokens"),
    )


def settings_of(provider: Provider, model: str) -> dict[str, Any]:
    """Return the call options of a model."""
    known = provider.offered(model) or {}
    return {name: known[name] for name in SETTINGS if name in known}


def limits(provider: Provider) -> Limits:
    """Return the provider's rate limits."""
    return Limits(provider.concurrency, provider.per_minute, provider.tokens_per_minute, provider.timeout)


def client(provider: Provider) -> ClientPool:
    """Return an HTTP client that reaches only hosts that the operator allowed. The caller closes it."""
    return checked_client(grants.provider_access(provider.collection), provider.timeout)


def _state(provider: Provider) -> dict[str, Any]:
    """Return the provider's values for the audit row, without the key."""
    state = {name: getattr(provider, name) for name in FIELDS}
    return {**state, "prices_of": str(provider.prices_of) if provider.prices_of else None}


def _fill(provider: Provider, given: Mapping[str, Any]) -> None:
    for name in FIELDS:
        if name in given:
            setattr(provider, name, given[name])
    provider.name = provider.name.strip()[:120]
    if not provider.name:
        raise NotValid("The name of the provider is missing.", {"name": "Enter a name."})
    if provider.protocol not in PROTOCOLS:
        hint = f"Use one of {', '.join(PROTOCOLS)}."
        raise NotValid(f"Unknown protocol {provider.protocol!r}.", {"protocol": hint})
    address = provider.base_url or PROTOCOLS[provider.protocol].base_url
    provider.base_url = _checked_address(address, grants.provider_access(provider.collection))
    provider.models_offered = _checked_models(provider.models_offered)
    limits(provider)
    if isinstance(provider.prices_of, date) and provider.prices_of > date.today() and given.get("prices_of"):
        raise NotValid(
            "The date of the prices is in the future.",
            {"prices_of": "Enter the date on which you looked up the prices."},
        )


def _checked_address(url: str, allowed: Allowed) -> str:
    """Return the address without a trailing slash if the operator allows its host."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    if parts.scheme not in PORTS or not host or parts.fragment or not url.isprintable():
        hint = "Enter an address such as https://models.example.com/v1."
        raise NotValid(f"{url[:200]!r} is not a valid address.", {"base_url": hint})
    if odd := odd_parameters(url.strip()):
        # The value may be a secret, so the message contains only the name.
        hint = f"Remove the parameter {odd[0][:40]}. Only api-version is allowed. Enter a key in the field for the key."
        raise NotValid("The address has parameters that are not allowed.", {"base_url": hint})
    if parts.username is not None or parts.password is not None:
        raise NotValid(
            "The address contains a user name or a password.",
            {"base_url": "Remove it from the address, and enter the key in the field for the key."},
        )
    port = port or PORTS[parts.scheme]
    if not allowed.names(host, port):
        raise NotValid(allowed.refusal(host, port), "base_url")
    return url.strip().rstrip("/")


def _checked_models(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    models: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = str(row.get("name", "")).strip()
        prices = {key: _checked_price(name, row.get(key)) for key in ("price_in", "price_out")}
        if not name or len(name) > 200 or name in models:
            hint = (
                f"{name[:80]!r} is listed twice."
                if name in models
                else "Give each model a name of at most 200 characters."
            )
            raise NotValid("The list of models is not valid.", {"models_offered": hint})
        if (prices["price_in"] is None) != (prices["price_out"] is None):
            raise NotValid("A price is missing.", {"models_offered": f"{name}: enter both prices or neither."})
        models[name] = {"name": name, **prices, **_checked_settings(name, row)}
    if not models or len(models) > MOST_MODELS:
        hint = f"List from 1 to {MOST_MODELS} models."
        raise NotValid("The number of models is not valid.", {"models_offered": hint})
    return list(models.values())


def _checked_settings(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the validated call options of a model."""
    thinks, most, leave_out = row.get("thinks"), row.get("most_tokens"), row.get("leave_out") or ()
    problem = ""
    if thinks is not None and not isinstance(thinks, bool):
        problem = "thinks must be true or false, or omitted."
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_TOKENS):
        problem = f"most_tokens must be a whole number from 1 to {MOST_TOKENS:,}."
    if not all(isinstance(one, str) and one in WITHOUT for one in leave_out):
        problem = f"leave_out can contain only {', '.join(WITHOUT)}."
    if problem:
        raise NotValid("The settings of a model are not valid.", {"models_offered": f"{name}: {problem}"})
    options = {"thinks": thinks, "leave_out": sorted(set(leave_out)), "most_tokens": most}
    return {key: value for key, value in options.items() if value not in (None, [])}


def _checked_price(name: str, price: Any) -> float | None:
    if price is None:
        return None
    number = not isinstance(price, bool) and isinstance(price, int | float) and math.isfinite(price)
    if not number or not 0 <= price <= DEAREST:
        hint = f"{name}: enter a price in dollars per million tokens, from 0 to {DEAREST:g}."
        raise NotValid("A price is not valid.", {"models_offered": hint})
    return float(price)


def _checked_key(key: str) -> str:
    """Return the key if it is valid in an HTTP header."""
    key = key.strip()
    if len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable():
        message = "The key is not valid. A key is one line of ASCII characters; check that you copied only the key."
        raise NotValid(message, "key")
    return key


def _save(provider: Provider) -> None:
    try:
        with transaction.atomic():
            provider.save()
    except IntegrityError as error:
        message = f"Another provider is already called {provider.name}. Choose another name."
        raise Conflict(message, {"name": message}) from error
