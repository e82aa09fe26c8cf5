"""Command line options of a model provider: model, address, key, rate limits and budget."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from assay.cli.families import add_under_test
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.providers.limits import Budget, Limits
    from judgments.providers.protocol import Endpoint

DEFAULT = "openai"
# Options by their attribute, for whoever must tell that one of them changes nothing.
NAMES = (
    "provider",
    "base_url",
    "key_variable",
    "budget_usd",
    "max_calls",
    "price_in",
    "price_out",
    "concurrency",
    "per_minute",
    "tokens_per_minute",
    "timeout",
    "under_test",
    "thinks",
    "leave_out",
)


def add_provider_options(parser: argparse.ArgumentParser) -> None:
    """Declare them; the key itself is no option, since everybody on the machine can read those."""
    from judgments.providers import PROTOCOLS
    from judgments.providers.protocol import WITHOUT

    group = parser.add_argument_group("the model that is asked")
    group.add_argument("--provider", metavar="NAME", help=f"{', '.join(PROTOCOLS)}; default {DEFAULT}")
    group.add_argument("--base-url", metavar="URL", help="another server that speaks as the provider does")
    group.add_argument("--key-variable", metavar="NAME", help="environment variable with the key")
    group.add_argument("--budget-usd", type=float, metavar="X", help="never spend more; needs both prices")
    group.add_argument("--max-calls", type=int, metavar="N", help="never ask more questions")
    group.add_argument("--price-in", type=float, metavar="X", help="USD for a million tokens read")
    group.add_argument("--price-out", type=float, metavar="X", help="USD for a million tokens written")
    group.add_argument("--concurrency", type=int, metavar="N", help="questions in flight, default 8")
    group.add_argument("--per-minute", type=float, metavar="N", help="questions begun in a minute")
    group.add_argument("--tokens-per-minute", type=float, metavar="N", help="tokens asked for in a minute")
    group.add_argument("--timeout", type=float, metavar="S", help="seconds for one attempt, default 60")
    add_under_test(group)
    group.add_argument(
        "--thinks",
        action=argparse.BooleanOptionalAction,
        help="the model thinks before it writes: max_completion_tokens, no temperature; by default its name says so",
    )
    group.add_argument("--leave-out", metavar="NAMES", help=f"never tell it these, with commas: {', '.join(WITHOUT)}")


def endpoint(args: argparse.Namespace, model: str | None = None, *, key_needed: bool = True) -> Endpoint:
    """Whoever is to be asked.

    Raises
    ------
    NotValid
        No model, a bad address or price, or no key where the provider's own server is asked.
    """
    from judgments.providers import PROTOCOLS
    from judgments.providers.protocol import WITHOUT, Endpoint, odd_parameters

    protocol = PROTOCOLS[args.provider or DEFAULT]
    name = args.model if model is None else model
    if not name:
        raise NotValid("which model is to be asked? Name it with --model")
    for option in ("price_in", "price_out"):
        price = getattr(args, option)
        if price is not None and not 0 <= price < float("inf"):
            raise NotValid(f"--{option.replace('_', '-')} is {price:g}; give dollars for a million tokens")
    url = args.base_url or protocol.base_url
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise NotValid(f"--base-url is {url!r}; give an address such as http://localhost:8000/v1")
    if odd := odd_parameters(url):
        what = (
            "only api-version may stand behind it, since it is written into files; the key is read from the environment"
        )
        raise NotValid(f"--base-url has the parameter {odd[0][:40]}; {what}")
    left_out = frozenset(one.strip() for one in (args.leave_out or "").split(",") if one.strip())
    if odd_names := left_out - WITHOUT.keys():
        raise NotValid(f"--leave-out has {min(odd_names)}; what can be left out is {', '.join(WITHOUT)}")
    key = _key(args, protocol.key_variable) if key_needed else ""
    return Endpoint(protocol, name, url.rstrip("/"), key, args.price_in, args.price_out, left_out, args.thinks)


def limits(args: argparse.Namespace) -> Limits:
    """How fast."""
    from judgments.providers.limits import Limits

    given = {
        "concurrency": args.concurrency,
        "per_minute": args.per_minute,
        "tokens_per_minute": args.tokens_per_minute,
        "timeout": args.timeout,
    }
    return Limits(**{name: value for name, value in given.items() if value is not None})


def budget(args: argparse.Namespace, spent: float, asked: int) -> Budget:
    """How dear, what was spent before among it.

    Raises
    ------
    NotValid
        A limit in dollars without prices, or one below 0.
    """
    from judgments.providers.limits import Budget

    if args.budget_usd is not None and (args.price_in is None or args.price_out is None):
        raise NotValid("--budget-usd needs --price-in and --price-out, dollars for a million tokens read and written")
    if args.budget_usd is not None and not 0 <= args.budget_usd < float("inf"):
        raise NotValid(f"--budget-usd is {args.budget_usd:g}; give dollars")
    if args.max_calls is not None and args.max_calls < 0:
        raise NotValid(f"--max-calls is {args.max_calls}; give a number from 0")
    return Budget(args.budget_usd, args.max_calls, spent, asked)


def address(url: str) -> str:
    """The address without a name and a password in it, for files."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def named_key(variable: str | None) -> str:
    """The key in an environment variable; none where no variable is named.

    Raises
    ------
    NotValid
        The variable is named, and holds nothing.
    """
    key = os.environ.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise NotValid(f"the environment variable {variable} holds no key; set it, or name another")
    return key


def _key(args: argparse.Namespace, usual: str) -> str:
    name = args.key_variable or usual
    key = os.environ.get(name, "").strip()
    if not key and (args.key_variable or not args.base_url):
        raise NotValid(f"the environment variable {name} holds no key; set it, or name another with --key-variable")
    return key
