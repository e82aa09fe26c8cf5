"""Command line options of a model provider: model, address, key, rate limits, budget, and model families."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.cli import option
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.llm.judges.model_families import Kin
    from assay.llm.providers.limits import Budget, Limits
    from assay.llm.providers.protocol import Endpoint


def add_family(parser: argparse.ArgumentParser) -> None:
    """Declare ``--family``."""
    option(
        parser,
        "--family RUN=FAMILY",
        "the model family of a run, such as GPT, Llama or none; default: guessed from the name of the run",
        action="append",
        default=[],
    )


def add_under_test(parser: argparse._ActionsContainer) -> None:
    """Declare ``--under-test``, for commands that call a model and have no runs."""
    option(
        parser,
        "--under-test NAME[=FAMILY]",
        "a system whose documents are judged; warn if it uses the same model family as a judge",
        action="append",
    )


def warn_same_family(models: Iterable[str], under_test: Sequence[str] | None) -> None:
    """Warn about systems from the same model family as one of these models."""
    from assay.llm.judges.model_families import System, kin_of, warning

    systems = []
    for one in under_test or ():
        name, equals, family = one.rpartition("=")
        systems.append(System(name, _declared(f"--under-test {one}", family)) if equals else System(one))
    related = dict.fromkeys(kin for model in models for kin in kin_of(model, systems))
    if related:
        sys.stderr.write(f"warning: {warning(list(related))}\n")


def kin_of_runs(judge: str, runs: Sequence[str], declared: Sequence[str]) -> list[Kin]:
    """Return the runs of the same family as the judge's model."""
    from assay.llm.judges.model_families import System, kin_of

    known: dict[str, str] = {}
    for one in declared:
        name, equals, family = one.rpartition("=")
        if not equals or name not in runs:
            raise NotValid(f"--family {one}: write RUN=FAMILY with one of the runs: {', '.join(runs) or 'none given'}")
        known[name] = _declared(f"--family {one}", family)
    return kin_of(judge, [System(name, known.get(name, "")) for name in runs])


def _declared(option: str, family: str) -> str:
    from assay.llm.judges.model_families import declared_family

    try:
        return declared_family(family)
    except NotValid as error:
        raise NotValid(f"{option}: {' '.join(error.fields.values()) or error}") from error


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
    option(group, "--provider NAME", f"one of {', '.join(PROTOCOLS)}; default: {DEFAULT}")
    option(group, "--base-url URL", "address of another server with the provider's API")
    option(group, "--key-variable NAME", "environment variable with the API key")
    option(group, "--budget-usd X", "maximum cost in USD; needs both prices", type=float)
    option(group, "--max-calls N", "maximum number of calls", type=int)
    option(group, "--price-in X", "USD per million tokens read", type=float)
    option(group, "--price-out X", "USD per million tokens written", type=float)
    option(group, "--concurrency N", "maximum concurrent calls; default: 8", type=int)
    option(group, "--per-minute N", "maximum calls per minute", type=float)
    option(group, "--tokens-per-minute N", "maximum tokens per minute", type=float)
    option(group, "--timeout S", "timeout per attempt in seconds; default: 60", type=float)
    add_under_test(group)
    option(
        group,
        "--thinks",
        "treat the model as a reasoning model: send max_completion_tokens and no temperature; default: guessed from "
        "its name",
        action=argparse.BooleanOptionalAction,
    )
    option(group, "--leave-out NAMES", f"comma-separated parameters never to send: {', '.join(WITHOUT)}")


def endpoint(args: argparse.Namespace, model: str | None = None, *, key_needed: bool = True) -> Endpoint:
    """Return the model to call."""
    from assay.llm.providers import PROTOCOLS
    from assay.llm.providers.protocol import WITHOUT, Endpoint, odd_parameters

    protocol = PROTOCOLS[args.provider or DEFAULT]
    name = args.model if model is None else model
    if not name:
        raise NotValid("no model was given; name one with --model")
    for part in ("price_in", "price_out"):
        price = getattr(args, part)
        if price is not None and not 0 <= price < float("inf"):
            raise NotValid(f"--{part.replace('_', '-')} is {price:g}; use dollars per million tokens")
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
