"""Model options of ``assay rag`` and ``assay erag``: the model, its budget and its ledger."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from assay.cli import option
from assay.cli.inputs.files import warn_no_effect
from assay.cli.options import provider
from assay.cli.options.provider import warn_same_family
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.llm.judges.ledger import default_ledger_path

if TYPE_CHECKING:
    from pathlib import Path

    from assay.rag import Metric, ProviderCritic
    from assay.rag.prompt_calls import PromptCalls

DONE, NOT_ALL = 0, 1


def add_model_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Declare ``--model``, the provider options and the ledger options."""
    provider.add_provider_options(parser)
    option(parser, "--model NAME", f"the provider's model, {what}")
    option(parser, "--most-tokens N", "maximum tokens per reply", type=int)
    option(
        parser,
        "--ledger FILE",
        "file that records all calls to the model, so that none is paid for twice; default: a file next to --out",
    )
    option(parser, "--resume", "continue an interrupted run, whose ledger must exist", action="store_true")
    option(parser, "--dry-run", "print an estimate without calling the model", action="store_true")


def needs_critic(metric: Metric) -> bool:
    """Return whether a metric, or one inside it, needs a model."""
    from assay.rag.metric_names import asking

    one = asking(metric)
    return one is not None and getattr(one, "critic", None) is None


def model_calls(args: argparse.Namespace, who: str) -> PromptCalls:
    """Return the calls of the model, whose ledger and budget all its users share."""
    if not args.model:
        raise NotValid(f"{who} needs a model: name it with --model (and --provider or --base-url)")
    from assay.rag.prompt_calls import PromptCalls

    endpoint = provider.endpoint(args, key_needed=not args.dry_run)
    warn_same_family([endpoint.model], args.under_test)
    # Check the spending options before any call.
    provider.budget(args, 0.0, 0)
    return PromptCalls(
        endpoint,
        ledger=ledger_path(args),
        limits=provider.limits(args),
        budget_usd=args.budget_usd,
        max_calls=args.max_calls,
        dry_run=args.dry_run,
    )


def critic_of(args: argparse.Namespace, calls: PromptCalls) -> ProviderCritic:
    """Return the critic that uses these calls."""
    from assay.rag.provider_critic import MOST_TOKENS, ProviderCritic

    return ProviderCritic(calls, most_tokens=most_tokens(args, MOST_TOKENS))


def most_tokens(args: argparse.Namespace, default: int) -> int:
    """Return ``--most-tokens``, or the default."""
    if args.most_tokens is None:
        return default
    if not 1 <= args.most_tokens <= 100_000:
        raise NotValid(f"--most-tokens is {args.most_tokens}; use 1 to 100,000")
    return int(args.most_tokens)


def ledger_path(args: argparse.Namespace) -> Path | None:
    """Return the path of the ledger."""
    path = default_ledger_path(args.out, args.ledger)
    if args.resume and (path is None or not path.exists()):
        where = "name it with --ledger FILE" if path is None else f"{path} does not exist"
        raise NotValid(f"--resume needs the ledger of an earlier run: {where}")
    if path is None and not args.dry_run:
        sys.stderr.write(
            "note: calls are not recorded, so a second run pays for them again; add --ledger FILE to record them\n"
        )
    return path


def warn_unused(args: argparse.Namespace, also: bool = False) -> None:
    """Warn that options about a model have no effect; with `also`, ``--timeout`` has other uses."""
    for name in ("model", "most_tokens", "ledger", *provider.NAMES):
        if getattr(args, name) is not None and not (also and name == "timeout"):
            warn_no_effect(f"--{name.replace('_', '-')}", "no model is needed")
    if args.resume:
        warn_no_effect("--resume", "no model is needed")


def report_calls(calls: PromptCalls | None) -> int:
    """Print the number and cost of the calls, and return the exit status."""
    if calls is None:
        return DONE
    cost = "" if calls.spent is None else f", {calls.spent:.4f} USD"
    read = f"{amount(calls.tokens_in, 'token')} read, {calls.tokens_out:,} written{cost}"
    sys.stderr.write(f"asked {calls.endpoint.model} {amount(calls.questions, 'question')}: {read}\n")
    if calls.plan.known:
        sys.stderr.write(f"  answers from the ledger: {calls.plan.known:,}\n")
    if len(calls.models) > 1:
        names = ", ".join(f"{name} ({number:,})" for name, number in sorted(calls.models.items()))
        sys.stderr.write(f"note: several models answered: {names}\n")
    if calls.complete:
        return DONE
    reason = calls.ended.message if calls.ended else ""
    sys.stderr.write(f"stopped early: {reason}; run it again with the same ledger\n")
    return NOT_ALL
