"""The model that ``assay rag`` and ``assay erag`` ask: which, what it costs, and where its calls are recorded."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from assay.cli import provider_options
from assay.cli.families import tell_kin
from assay.cli.ledger import beside
from assay.cli.no_effect import tell_no_effect
from assay.cli.text_table import counted
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from pathlib import Path

    from assay.rag import Metric, ProviderCritic
    from assay.rag.prompt_calls import PromptCalls

DONE, NOT_ALL = 0, 1


def add_model_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Declare ``--model``, who is asked, and where calls are recorded."""
    provider_options.add_provider_options(parser)
    parser.add_argument("--model", metavar="NAME", help=f"the provider's model, {what}")
    parser.add_argument("--most-tokens", metavar="N", type=int, help="of one reply of the model")
    parser.add_argument(
        "--ledger", metavar="FILE", help="every call to a model; no call in it is paid twice; default: beside --out"
    )
    parser.add_argument("--resume", action="store_true", help="go on with a run that was killed: the ledger must exist")
    parser.add_argument("--dry-run", action="store_true", help="say what the model would be asked, and ask nothing")


def needs_critic(metric: Metric) -> bool:
    """Whether a metric, or one inside it, asks a model."""
    from assay.rag.names import asking

    one = asking(metric)
    return one is not None and getattr(one, "critic", None) is None


def model_calls(args: argparse.Namespace, who: str) -> PromptCalls:
    """Return the calls of the model that is asked; all who ask it share the ledger and the budget.

    Parameters
    ----------
    args : Namespace
        The options.
    who : str
        What needs the model, for the message when none is named.

    Raises
    ------
    NotValid
        Options that do not fit each other, no model, or no key.
    """
    if not args.model:
        raise NotValid(f"{who} needs a model: name it with --model (and --provider or --base-url)")
    from assay.rag.prompt_calls import PromptCalls

    endpoint = provider_options.endpoint(args, key_needed=not args.dry_run)
    tell_kin([endpoint.model], args.under_test)
    # Checks the options about money before anything is asked.
    provider_options.budget(args, 0.0, 0)
    return PromptCalls(
        endpoint,
        ledger=ledger_path(args),
        limits=provider_options.limits(args),
        budget_usd=args.budget_usd,
        max_calls=args.max_calls,
        dry_run=args.dry_run,
    )


def critic_of(args: argparse.Namespace, calls: PromptCalls) -> ProviderCritic:
    """Return the critic that asks through these calls."""
    from assay.rag.provider_critic import MOST_TOKENS, ProviderCritic

    return ProviderCritic(calls, most_tokens=most_tokens(args, MOST_TOKENS))


def most_tokens(args: argparse.Namespace, default: int) -> int:
    """Return ``--most-tokens``, or the default.

    Raises
    ------
    NotValid
        The number is out of bounds.
    """
    if args.most_tokens is None:
        return default
    if not 1 <= args.most_tokens <= 100_000:
        raise NotValid(f"--most-tokens is {args.most_tokens}; give 1 to 100,000")
    return int(args.most_tokens)


def ledger_path(args: argparse.Namespace) -> Path | None:
    """Return where calls are recorded.

    Raises
    ------
    NotValid
        ``--resume`` is given, and there is no ledger to go on with.
    """
    path = beside(args.out, args.ledger)
    if args.resume and (path is None or not path.exists()):
        where = "name it with --ledger FILE" if path is None else f"{path} does not exist"
        raise NotValid(f"--resume goes on with the ledger of an earlier run: {where}")
    if path is None and not args.dry_run:
        sys.stderr.write("note: calls are not recorded, and a second run pays for them again; add --ledger FILE\n")
    return path


def tell_unused(args: argparse.Namespace, also: bool = False) -> None:
    """Say that options about a model change nothing, where no model is asked; ``--timeout`` may be for others also."""
    for name in ("model", "most_tokens", "ledger", *provider_options.NAMES):
        if getattr(args, name) is not None and not (also and name == "timeout"):
            tell_no_effect(f"--{name.replace('_', '-')}", "nothing here asks a model")
    if args.resume:
        tell_no_effect("--resume", "nothing here asks a model")


def tell_calls(calls: PromptCalls | None) -> int:
    """Say what the model was asked and what that took; return the exit status."""
    if calls is None:
        return DONE
    cost = "" if calls.spent is None else f", {calls.spent:.4f} USD"
    read = f"{counted(calls.tokens_in, 'token')} read, {calls.tokens_out:,} written{cost}"
    sys.stderr.write(f"asked {calls.endpoint.model} {counted(calls.asked, 'question')}: {read}\n")
    if calls.plan.known:
        sys.stderr.write(f"  answers known, not asked again: {calls.plan.known:,}\n")
    if len(calls.models) > 1:
        names = ", ".join(f"{name} ({number:,})" for name, number in sorted(calls.models.items()))
        sys.stderr.write(f"note: several models answered: {names}\n")
    if calls.complete:
        return DONE
    reason = calls.ended.said if calls.ended else ""
    sys.stderr.write(f"not all was asked: {reason}; run it again with the same ledger\n")
    return NOT_ALL
