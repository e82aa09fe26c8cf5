"""The critic of ``assay rag``: which model scores answers, what it costs, and where its calls are recorded."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
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


def add_critic_options(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    add_model_options(parser, "the critic of LLMFaithfulnessScore and LLMAnswerQuality")
    provider_options.add_provider_options(parser)


def add_model_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Declare ``--model`` and where calls are recorded."""
    parser.add_argument("--model", metavar="NAME", help=f"{what}: the provider's model")
    parser.add_argument("--most-tokens", metavar="N", type=int, help="of one reply of the model")
    parser.add_argument(
        "--ledger", metavar="FILE", help="every call to a model; no call in it is paid twice; default: beside --out"
    )
    parser.add_argument("--resume", action="store_true", help="go on with a run that was killed: the ledger must exist")
    parser.add_argument("--dry-run", action="store_true", help="say what the model would be asked, and ask nothing")


def needs_critic(metric: Metric) -> bool:
    """Whether a metric, or one inside it, asks a model."""
    inner = getattr(metric, "metric", None)
    return (hasattr(metric, "critic") and metric.critic is None) or (inner is not None and needs_critic(inner))


def critic(args: argparse.Namespace, metrics: Iterable[Metric]) -> ProviderCritic | None:
    """Return the critic that the metrics ask; None where none of them asks one.

    Raises
    ------
    NotValid
        Options that do not fit each other, or no key.
    """
    if not any(map(needs_critic, metrics)):
        return None
    if not args.model:
        raise NotValid("a metric needs a critic: name a model with --model (and --provider or --base-url)")
    from assay.rag.provider_critic import MOST_TOKENS, ProviderCritic

    endpoint = provider_options.endpoint(args, key_needed=not args.dry_run)
    tell_kin([endpoint.model], args.under_test)
    # Checks the options about money before anything is asked.
    provider_options.budget(args, 0.0, 0)
    return ProviderCritic(
        endpoint,
        ledger=ledger_path(args),
        limits=provider_options.limits(args),
        budget_usd=args.budget_usd,
        max_calls=args.max_calls,
        most_tokens=most_tokens(args, MOST_TOKENS),
        dry_run=args.dry_run,
    )


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


def tell_unused(args: argparse.Namespace) -> None:
    """Say that options about a model change nothing, where no model is asked."""
    for name in ("model", "most_tokens", "ledger", *provider_options.NAMES):
        if getattr(args, name) is not None:
            tell_no_effect(f"--{name.replace('_', '-')}", "no metric asks a model")
    if args.resume:
        tell_no_effect("--resume", "no metric asks a model")


def estimate(calls: Sequence[PromptCalls]) -> str:
    """Return what asking would take."""
    from judgments.judges.asking import Plan

    return str(Plan.together(one.plan for one in calls))


def tell_calls(calls: Sequence[PromptCalls]) -> int:
    """Say what the model was asked and what that took; return the exit status."""
    status = DONE
    for one in calls:
        cost = "" if one.spent is None else f", {one.spent:.4f} USD"
        read = f"{counted(one.tokens_in, 'token')} read, {one.tokens_out:,} written{cost}"
        sys.stderr.write(f"asked {one.endpoint.model} {counted(one.asked, 'question')}: {read}\n")
        if one.plan.known:
            sys.stderr.write(f"  answers known, not asked again: {one.plan.known:,}\n")
        if len(one.models) > 1:
            told = ", ".join(f"{name} ({number:,})" for name, number in sorted(one.models.items()))
            sys.stderr.write(f"note: several models answered: {told}\n")
        if one.ended is not None and one.ended.end != "done":
            sys.stderr.write(f"not all was asked: {one.ended.said}; run it again with the same ledger\n")
            status = NOT_ALL
    return status
