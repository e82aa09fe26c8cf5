"""Models of an ensemble, each with its own provider, address, prices and key.

Each is written ``PROVIDER:MODEL[@URL][,PRICE_IN,PRICE_OUT[,KEY_VARIABLE]]``. Model names may contain colons
(``llama3:8b``), so only the name of a known provider counts as a provider. Missing parts come from the options that
apply to all models.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.cli.options import provider as provider_options
from assay.core.errors import NotValid
from assay.llm.providers.protocol import address

if TYPE_CHECKING:
    from assay.llm.providers.limits import Budget
    from assay.llm.providers.protocol import Endpoint

FORM = "PROVIDER:MODEL[@URL][,PRICE_IN,PRICE_OUT[,KEY_VARIABLE]]"
_ADDRESS = re.compile(r"@(?=https?://)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def endpoints(args: argparse.Namespace, *, key_needed: bool = True) -> list[Endpoint]:
    """Return the models in the given order."""
    if not args.model:
        raise NotValid("no model was given; name one with --model")
    models = [endpoint(args, given, key_needed=key_needed) for given in args.model]
    times = Counter((one.protocol.name, one.base_url, one.model) for one in models)
    if twice := [model for (_, _, model), number in times.items() if number > 1]:
        raise NotValid(f"--model {twice[0]} appears twice and would cost twice as much; use it once")
    return models


def endpoint(args: argparse.Namespace, given: str, *, key_needed: bool = True) -> Endpoint:
    """Return one model of an ensemble."""
    from assay.llm.providers import PROTOCOLS

    usual = args.provider or provider_options.DEFAULT
    name, colon, rest = given.partition(":")
    provider, description = (name, rest) if colon and name in PROTOCOLS else (usual, given)
    model, url, price_in, price_out, key_variable = _parts(description, given)
    own = argparse.Namespace(**vars(args))
    own.provider = provider
    if url or provider != usual:
        own.base_url, own.key_variable = url or None, None
    if key_variable:
        own.key_variable = key_variable
    if price_in is not None or provider != usual:
        own.price_in, own.price_out = price_in, price_out
    # The provider's default key goes only to the provider's own server.
    wanted = key_variable or not url or urlsplit(url).netloc == urlsplit(PROTOCOLS[provider].base_url).netloc
    return provider_options.endpoint(own, model, key_needed=key_needed and bool(wanted))


def names(models: Sequence[Endpoint]) -> list[str]:
    """Return a distinct name for each model, with the provider and the address where needed.

    Examples
    --------
    >>> from assay.llm.providers.openai import OPENAI
    >>> from assay.llm.providers.protocol import Endpoint
    >>> names([Endpoint(OPENAI, "llama3:8b", "http://a/v1"), Endpoint(OPENAI, "gpt", "http://a/v1")])
    ['llama3:8b', 'gpt']
    """
    for naming in (_by_model, _by_provider, _by_address):
        listed = [naming(one) for one in models]
        if len(set(listed)) == len(listed):
            break
    return listed


def budget(args: argparse.Namespace, models: Sequence[Endpoint], spent: float, calls: int) -> Budget:
    """Return the budget of all models together, including what was spent before."""
    priced = argparse.Namespace(**vars(args))
    lacking = [one.model for one in models if one.price_in is None or one.price_out is None]
    if lacking and args.budget_usd is not None and len(models) > 1:
        what = f"--budget-usd needs the prices of every model, and {lacking[0]} has none"
        raise NotValid(f"{what}; write --model {lacking[0]},PRICE_IN,PRICE_OUT in dollars per million tokens")
    if not lacking:
        priced.price_in, priced.price_out = models[0].price_in, models[0].price_out
    return provider_options.budget(priced, spent, calls)


def _parts(description: str, given: str) -> tuple[str, str, float | None, float | None, str]:
    """Return model, address, prices and key variable; empty or None if missing."""
    model, *address = _ADDRESS.split(description, maxsplit=1)
    head, *rest = (address[0] if address else model).split(",")
    if address:
        url = head
    else:
        model, url = head, ""
    if len(rest) not in (0, 2, 3) or not model:
        raise NotValid(f"--model {given}: expected {FORM}; prices are dollars per million tokens read and written")
    prices = [_price(one, given) for one in rest[:2]]
    key_variable = rest[2] if len(rest) == 3 else ""
    if key_variable and not _VARIABLE.fullmatch(key_variable):
        # The value may be the key itself, so the message does not repeat it.
        raise NotValid(f"--model {model}: the last part must name an environment variable that holds the key")
    if prices and (prices[0] is None) != (prices[1] is None):
        raise NotValid(f"--model {given}: only one of the two prices is given; give both or none")
    return model, url, prices[0] if prices else None, prices[1] if prices else None, key_variable


def _price(text: str, given: str) -> float | None:
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise NotValid(f"--model {given}: the price {text!r} is not a number; expected {FORM}") from None


def _by_model(one: Endpoint) -> str:
    return one.model


def _by_provider(one: Endpoint) -> str:
    return f"{one.protocol.name}:{one.model}"


def _by_address(one: Endpoint) -> str:
    return f"{one.protocol.name}:{one.model}@{address(one.base_url)}"
