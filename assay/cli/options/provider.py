"""Command line options of a model provider: model, address, key, rate limits and budget."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.cli.options.model_families import add_under_test
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.llm.providers.limits import Budget, Limits
    from assay.llm.providers.protocol import Endpoint

DEFAULT = "openai"
# Attributes of the options, for warnings about options without effect.
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
    """Declare the options of a provider; the key is not an option, because other users can see command lines."""
    from assay.llm.providers import PROTOCOLS
    from assay.llm.providers.protocol import WITHOUT

    group = parser.add_argument_group("model provider")
    group.add_argument("--provider", metavar="NAME", help=f"{', '.join(PROTOCOLS)}; default {DEFAULT}")
    group.add_argument("--base-url", metavar="URL", help="address of another server with the provider's API")
    group.add_argument("--key-variable", metavar="NAME", help="environment variable with the API key")
    group.add_argument("--budget-usd", type=float, metavar="X", help="maximum cost in USD; needs both prices")
    group.add_argument("--max-calls", type=int, metavar="N", help="maximum number of calls")
    group.add_argument("--price-in", type=float, metavar="X", help="USD per million tokens read")
    group.add_argument("--price-out", type=float, metavar="X", help="USD per million tokens written")
    group.add_argument("--concurrency", type=int, metavar="N", help="maximum concurrent calls, default 8")
    group.add_argument("--per-minute", type=float, metavar="N", help="maximum calls per minute")
    group.add_argument("--tokens-per-minute", type=float, metavar="N", help="maximum tokens per minute")
    group.add_argument("--timeout", type=float, metavar="S", help="timeout per attempt in seconds, default 60")
    add_under_test(group)
    group.add_argument(
        "--thinks",
        action=argparse.BooleanOptionalAction,
        help=(
            "treat the model as a reasoning model: send max_completion_tokens and no temperature; default: "
            "guessed from its name"
        ),
    )
    group.add_argument(
        "--leave-out", metavar="NAMES", help=f"comma-separated parameters never to send: {', '.join(WITHOUT)}"
    )


def endpoint(args: argparse.Namespace, model: str | None = None, *, key_needed: bool = True) -> Endpoint:
    """Return the model to call."""
    from assay.llm.providers import PROTOCOLS
    from assay.llm.providers.protocol import WITHOUT, Endpoint, odd_parameters

    protocol = PROTOCOLS[args.provider or DEFAULT]
    name = args.model if model is None else model
    if not name:
        raise NotValid("no model was given; name one with --model")
    for option in ("price_in", "price_out"):
        price = getattr(args, option)
        if price is not None and not 0 <= price < float("inf"):
            raise NotValid(f"--{option.replace('_', '-')} is {price:g}; use dollars per million tokens")
    url = args.base_url or protocol.base_url
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise NotValid(f"--base-url is {url!r}; use an address such as http://localhost:8000/v1")
    if odd := odd_parameters(url):
        what = "only api-version is allowed, because the address is written to files; put the key in the environment"
        raise NotValid(f"--base-url has the parameter {odd[0][:40]}; {what}")
    left_out = frozenset(one.strip() for one in (args.leave_out or "").split(",") if one.strip())
    if odd_names := left_out - WITHOUT.keys():
        raise NotValid(f"--leave-out has {min(odd_names)}; use any of {', '.join(WITHOUT)}")
    key = _key(args, protocol.key_variable) if key_needed else ""
    return Endpoint(protocol, name, url.rstrip("/"), key, args.price_in, args.price_out, left_out, args.thinks)


def limits(args: argparse.Namespace) -> Limits:
    """Return the rate limits."""
    from assay.llm.providers.limits import Limits

    given = {
        "concurrency": args.concurrency,
        "per_minute": args.per_minute,
        "tokens_per_minute": args.tokens_per_minute,
        "timeout": args.timeout,
    }
    return Limits(**{name: value for name, value in given.items() if value is not None})


def budget(args: argparse.Namespace, spent: float, calls: int) -> Budget:
    """Return the budget, including what was spent before."""
    from assay.llm.providers.limits import Budget

    if args.budget_usd is not None and (args.price_in is None or args.price_out is None):
        raise NotValid("--budget-usd needs --price-in and --price-out, in dollars per million tokens read and written")
    if args.budget_usd is not None and not 0 <= args.budget_usd < float("inf"):
        raise NotValid(f"--budget-usd is {args.budget_usd:g}; use 0 dollars or more")
    if args.max_calls is not None and args.max_calls < 0:
        raise NotValid(f"--max-calls is {args.max_calls}; use 0 or more")
    return Budget(args.budget_usd, args.max_calls, spent, calls)


def named_key(variable: str | None) -> str:
    """Return the key in an environment variable; empty if no variable is named."""
    key = os.environ.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise NotValid(f"the environment variable {variable} has no key; set it, or name another")
    return key


def _key(args: argparse.Namespace, usual: str) -> str:
    name = args.key_variable or usual
    key = os.environ.get(name, "").strip()
    if not key and (args.key_variable or not args.base_url):
        raise NotValid(f"the environment variable {name} has no key; set it, or name another with --key-variable")
    return key
