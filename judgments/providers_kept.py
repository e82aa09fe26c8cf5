"""Model providers of a collection: add, change, remove and call them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction

from judgments import audit, grants, machine_runs, sealing
from judgments.core.errors import Conflict, NotValid
from judgments.models import Collection, Provider, User
from judgments.network.checked import checked_client
from judgments.providers import PROTOCOLS
from judgments.providers.limits import Limits
from judgments.providers.protocol import WITHOUT, Endpoint, odd_parameters

if TYPE_CHECKING:
    from judgments.network.addresses import Allowed
    from judgments.network.pools import Pools

PORTS = {"http": 80, "https": 443}
LONGEST_KEY = 5_000
MOST_MODELS = 50
MOST_TOKENS = 100_000
# How one model wants to be asked, where it is not as all others.
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
    """Keep a provider with its key.

    Parameters
    ----------
    collection : Collection
        Whose judges will ask it.
    actor : User
        The lead who does it.
    given : mapping
        Values of `FIELDS`; ``models_offered`` is a list of name, price_in and price_out (dollars for a million tokens,
        None where they are not known), and where they are set ``thinks``, ``leave_out`` and ``most_tokens``.
    key : str
        The secret; empty where the server wants none.

    Raises
    ------
    NotValid
        By field: a value that cannot work, or an address that the operator has not allowed.
    Conflict
        The name is taken.
    """
    provider = Provider(collection=collection, created_by=actor)
    _fill(provider, given)
    provider.sealed = sealing.seal({"key": _checked_key(key)})
    _save(provider)
    sentence = f"{actor} added the model provider {provider} ({provider.base_url})"
    audit.record("providers_kept.add", sentence, actor=actor, collection=collection, target=provider)
    return provider


@transaction.atomic
def change(provider: Provider, *, actor: User, given: Mapping[str, Any], key: str = "") -> None:
    """Change a provider; a key that is not given stays, as long as it goes to the same place.

    Raises
    ------
    NotValid, Conflict
        As `add`; and where the address is another one and the key was not given again.
    """
    before = _state(provider)
    _fill(provider, given)
    if provider.sealed and not key and provider.base_url != before["base_url"]:
        said = "The address is another one: give the key again, or it would be sent there unasked."
        raise NotValid(said, {"key": said})
    if key:
        provider.sealed = sealing.seal({"key": _checked_key(key)})
    _save(provider)
    sentence = f"{actor} changed how the model provider {provider} is asked"
    detail = {**audit.changed(before, _state(provider)), "key_given": bool(key)}
    audit.record(
        "providers_kept.change", sentence, actor=actor, collection=provider.collection, target=provider, **detail
    )


@transaction.atomic
def remove(provider: Provider, *, actor: User) -> None:
    """Forget a provider and its key; what its models said stays.

    Raises
    ------
    Conflict
        It is being asked right now.
    """
    if machine_runs.judges_ask(provider):
        raise Conflict(f"{provider} is being asked right now. Pause that judge first.")
    if machine_runs.battles_ask(provider):
        raise Conflict(f"{provider} is being asked about battles right now. Pause those first.")
    if any(asks(provider) for asks in machine_runs.OTHERS_ASK):
        raise Conflict(f"{provider} is being asked by a critic right now. Pause that critic first.")
    sentence = f"{actor} removed the model provider {provider}"
    audit.record("providers_kept.remove", sentence, actor=actor, collection=provider.collection, target=provider)
    provider.delete()


def endpoint(provider: Provider, model: str, settings: Mapping[str, Any] | None = None) -> Endpoint:
    """The model, ready to be asked.

    Parameters
    ----------
    provider : Provider
        Where.
    model : str
        Which.
    settings : mapping, optional
        How, as `settings_of` tells it; as is set now where None.

    Raises
    ------
    Conflict
        The key was encrypted with one that is no more.
    """
    known = provider.offered(model) or {}
    told = settings_of(provider, model) if settings is None else settings
    return Endpoint(
        PROTOCOLS[provider.protocol],
        model,
        provider.base_url,
        sealing.unseal(provider.sealed).get("key", ""),
        known.get("price_in"),
        known.get("price_out"),
        frozenset(told.get("leave_out", ())),
        told.get("thinks"),
        told.get("most_tokens"),
    )


def settings_of(provider: Provider, model: str) -> dict[str, Any]:
    """What was set of how a model is asked; nothing of what was not."""
    known = provider.offered(model) or {}
    return {name: known[name] for name in SETTINGS if name in known}


def limits(provider: Provider) -> Limits:
    """How fast it may be asked."""
    return Limits(provider.concurrency, provider.per_minute, provider.tokens_per_minute, provider.timeout)


def client(provider: Provider) -> Pools:
    """A client that reaches what the operator allowed and nothing else; whoever takes it closes it."""
    return checked_client(grants.provider_access(provider.collection), provider.timeout, provider.concurrency)


def _state(provider: Provider) -> dict[str, Any]:
    """What is on record when it changes; never the key."""
    state = {name: getattr(provider, name) for name in FIELDS}
    return {**state, "prices_of": str(provider.prices_of) if provider.prices_of else None}


def _fill(provider: Provider, given: Mapping[str, Any]) -> None:
    for name in FIELDS:
        if name in given:
            setattr(provider, name, given[name])
    provider.name = provider.name.strip()[:120]
    if not provider.name:
        raise NotValid("The provider has no name.", {"name": "Fill this in."})
    if provider.protocol not in PROTOCOLS:
        said = f"One of {', '.join(PROTOCOLS)}."
        raise NotValid(f"There is no protocol {provider.protocol!r}.", {"protocol": said})
    address = provider.base_url or PROTOCOLS[provider.protocol].base_url
    provider.base_url = _checked_address(address, grants.provider_access(provider.collection))
    provider.models_offered = _checked_models(provider.models_offered)
    limits(provider)
    if isinstance(provider.prices_of, date) and provider.prices_of > date.today() and given.get("prices_of"):
        raise NotValid("Prices are of a day to come.", {"prices_of": "Give the day on which you looked them up."})


def _checked_address(url: str, allowed: Allowed) -> str:
    """The address without a slash at its end, if the operator allows its host."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    if parts.scheme not in PORTS or not host or parts.fragment or not url.isprintable():
        said = "Write an address such as https://models.example.com/v1."
        raise NotValid(f"{url[:200]!r} is no address.", {"base_url": said})
    if odd := odd_parameters(url.strip()):
        # Its value may be a secret: only the name is said again.
        said = f"Take the parameter {odd[0][:40]} out: api-version alone may stand there. Give the key as the key."
        raise NotValid("The address has parameters.", {"base_url": said})
    if parts.username is not None or parts.password is not None:
        raise NotValid("The address holds a secret.", {"base_url": "Write it without, and give the key as the key."})
    port = port or PORTS[parts.scheme]
    if not allowed.names(host, port):
        said = allowed.refusal(host, port)
        raise NotValid(said, {"base_url": said})
    return url.strip().rstrip("/")


def _checked_models(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = str(row.get("name", "")).strip()
        prices = {key: _checked_price(name, row.get(key)) for key in ("price_in", "price_out")}
        if not name or len(name) > 200 or name in found:
            said = f"{name[:80]!r} stands twice." if name in found else "Each needs a name, 200 letters at most."
            raise NotValid("The list of models cannot be read.", {"models_offered": said})
        if (prices["price_in"] is None) != (prices["price_out"] is None):
            raise NotValid("A price is missing.", {"models_offered": f"{name}: give both prices, or none."})
        found[name] = {"name": name, **prices, **_checked_settings(name, row)}
    if not found or len(found) > MOST_MODELS:
        said = f"Name at least one model, and {MOST_MODELS} at most."
        raise NotValid("Which models?", {"models_offered": said})
    return list(found.values())


def _checked_settings(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """What was set of how a model is asked; nothing of what was not."""
    thinks, most, leave_out = row.get("thinks"), row.get("most_tokens"), row.get("leave_out") or ()
    said = ""
    if thinks is not None and not isinstance(thinks, bool):
        said = "whether it thinks first is true, false, or left out."
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_TOKENS):
        said = f"an answer has 1 to {MOST_TOKENS:,} tokens."
    if not all(isinstance(one, str) and one in WITHOUT for one in leave_out):
        said = f"what can be left out is {', '.join(WITHOUT)}."
    if said:
        raise NotValid("A model cannot be asked so.", {"models_offered": f"{name}: {said}"})
    told = {"thinks": thinks, "leave_out": sorted(set(leave_out)), "most_tokens": most}
    return {key: value for key, value in told.items() if value not in (None, [])}


def _checked_price(name: str, price: Any) -> float | None:
    if price is None:
        return None
    number = not isinstance(price, bool) and isinstance(price, int | float) and math.isfinite(price)
    if not number or not 0 <= price <= DEAREST:
        said = f"{name}: a price is dollars for a million tokens, from 0 to {DEAREST:g}."
        raise NotValid("A price cannot be read.", {"models_offered": said})
    return float(price)


def _checked_key(key: str) -> str:
    """The key, if it can stand in a header."""
    key = key.strip()
    if len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable():
        said = "A key is letters, digits and signs in one line. Was more copied than the key?"
        raise NotValid(said, {"key": said})
    return key


def _save(provider: Provider) -> None:
    try:
        with transaction.atomic():
            provider.save()
    except IntegrityError as error:
        said = f"There is a provider called {provider.name} already. Take another name."
        raise Conflict(said, {"name": said}) from error
