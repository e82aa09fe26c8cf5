"""Models of an ensemble, each with its own provider, address, prices and key.

Each is written ``PROVIDER:MODEL[@URL][,PRICE_IN,PRICE_OUT[,KEY_VARIABLE]]``. Model names contain colons themselves
(``llama3:8b``), so only the name of a known provider counts as a provider. Whatever a model leaves out comes from
the options that apply to all models.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.cli import provider_options
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.providers.limits import Budget
    from judgments.providers.protocol import Endpoint

FORM = "PROVIDER:MODEL[@URL][,PRICE_IN,PRICE_OUT[,KEY_VARIABLE]]"
_ADDRESS = re.compile(r"@(?=https?://)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def endpoints(args: argparse.Namespace, *, key_needed: bool = True) -> list[Endpoint]:
    """Whoever is to be asked, in the order given.

    Raises
    ------
    NotValid
        No model, one twice, or one whose words cannot be read; and what `provider_options.endpoint` refuses.
    """
    if not args.model:
        raise NotValid("which model is to be asked? Name it with --model")
    found = [endpoint(args, given, key_needed=key_needed) for given in args.model]
    times = Counter((one.protocol.name, one.base_url, one.model) for one in found)
    if twice := [model for (_, _, model), number in times.items() if number > 1]:
        raise NotValid(f"--model {twice[0]} stands there twice, and would be paid for twice; name it once")
    return found


def endpoint(args: argparse.Namespace, given: str, *, key_needed: bool = True) -> Endpoint:
    """One model of an ensemble.

    A model that names a provider other than ``--provider`` has that one's own address and key, unless it names them: an
    address and a key that were given for one provider are sent to no other. A server named by a model's own address
    gets a key only where the model names its variable.
    """
    from judgments.providers import PROTOCOLS

    usual = args.provider or provider_options.DEFAULT
    name, colon, rest = given.partition(":")
    provider, told = (name, rest) if colon and name in PROTOCOLS else (usual, given)
    model, url, price_in, price_out, key_variable = _parts(told, given)
    own = argparse.Namespace(**vars(args))
    own.provider = provider
    if url or provider != usual:
        own.base_url, own.key_variable = url or None, None
    if key_variable:
        own.key_variable = key_variable
    if price_in is not None or provider != usual:
        own.price_in, own.price_out = price_in, price_out
    # The provider's usual key is for the provider: a server that a model names for itself gets the key that it names.
    wanted = key_variable or not url or urlsplit(url).netloc == urlsplit(PROTOCOLS[provider].base_url).netloc
    return provider_options.endpoint(own, model, key_needed=key_needed and bool(wanted))


def names(found: Sequence[Endpoint]) -> list[str]:
    """What to call each model, so that no two have one name: by provider, and by address where that does not tell.

    Examples
    --------
    >>> from judgments.providers.openai import OPENAI
    >>> from judgments.providers.protocol import Endpoint
    >>> names([Endpoint(OPENAI, "llama3:8b", "http://a/v1"), Endpoint(OPENAI, "gpt", "http://a/v1")])
    ['llama3:8b', 'gpt']
    """
    for told in (_by_model, _by_provider, _by_address):
        listed = [told(one) for one in found]
        if len(set(listed)) == len(listed):
            break
    return listed


def budget(args: argparse.Namespace, found: Sequence[Endpoint], spent: float, asked: int) -> Budget:
    """How dear all of them together may be, what was spent before among it.

    Raises
    ------
    NotValid
        A limit in dollars, and a model without prices.
    """
    priced = argparse.Namespace(**vars(args))
    lacking = [one.model for one in found if one.price_in is None or one.price_out is None]
    if lacking and args.budget_usd is not None and len(found) > 1:
        what = f"--budget-usd needs the prices of every model, and {lacking[0]} has none"
        raise NotValid(f"{what}; write --model {lacking[0]},PRICE_IN,PRICE_OUT, dollars for a million tokens")
    if not lacking:
        priced.price_in, priced.price_out = found[0].price_in, found[0].price_out
    return provider_options.budget(priced, spent, asked)


def _parts(told: str, given: str) -> tuple[str, str, float | None, float | None, str]:
    """Model, address, prices and key variable; empty or None where they are not there."""
    model, *address = _ADDRESS.split(told, maxsplit=1)
    head, *rest = (address[0] if address else model).split(",")
    if address:
        url = head
    else:
        model, url = head, ""
    if len(rest) not in (0, 2, 3) or not model:
        raise NotValid(f"--model {given}: expected {FORM}; prices are dollars for a million tokens read and written")
    prices = [_price(one, given) for one in rest[:2]]
    key_variable = rest[2] if len(rest) == 3 else ""
    if key_variable and not _VARIABLE.fullmatch(key_variable):
        # What stands there may be the key itself: it is not told.
        raise NotValid(f"--model {model}: the last part names an environment variable that holds the key, never a key")
    if prices and (prices[0] is None) != (prices[1] is None):
        raise NotValid(f"--model {given}: one price and not the other; give both, or none")
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
    return f"{one.protocol.name}:{one.model}@{provider_options.address(one.base_url)}"
