"""The pairwise judge of ``assay judge``: battles between documents of the pairs, as in ``assay zelo judge``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from assay.cli import option
from assay.cli.inputs.files import warn_no_effect
from assay.cli.judge import prompt_options
from assay.core.errors import NotValid
from assay.llm.judges.ledger import default_ledger_path

NAME = "pairwise"
# Its own options, with the defaults of `assay zelo judge`.
OWN: dict[str, Any] = {"cycles": 4, "most": None, "both": 0.0, "texts": None}
PROMPT_OPTIONS = ("guidelines",)


def add_pairwise_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the pairwise judge."""
    group = parser.add_argument_group(
        "documents to compare (pairwise only; it writes battles.jsonl for assay zelo fit)"
    )
    option(
        group,
        "--cycles N",
        "number of random rounds, each of which compares every document with two others; default: 4",
        type=int,
    )
    option(group, "--most N", "compare only the first N documents of each query", type=int)
    option(group, "--both SHARE", "share of the comparisons to show in both orders; default: 0", type=float)
    option(group, "--texts FILE", "pairs.jsonl with the texts, if PAIRS has none")


def run(args: argparse.Namespace) -> int:
    """Draw or read the battles and judge them with every model."""
    from assay.cli.options import ensemble
    from assay.cli.zelo.judge import judge

    for name in ("canaries", "batch", "poll"):
        if getattr(args, name) is not None:
            raise NotValid(f"--{name} does not apply to the judge pairwise; remove it")
    for name in prompt_options.OF:
        if name not in PROMPT_OPTIONS and getattr(args, name) is not None:
            warn_no_effect(f"--{name.replace('_', '-')}", "the judge pairwise does not use it")
    if args.resume:
        _refuse_forgetting(args)
    pairwise = _pairwise_judge(args)
    args.source = args.pairs
    for name, default in {**OWN, "seed": 0}.items():
        if getattr(args, name) is None:
            setattr(args, name, default)
    if args.most is not None and args.most < 2:
        raise NotValid(f"--most is {args.most}; use 2 or more")
    for endpoint in ensemble.endpoints(args, key_needed=False):
        prompt_options.refuse_unsupported_options(args, endpoint, draws=True)
    return judge(args, pairwise)


def _pairwise_judge(args: argparse.Namespace) -> Any:
    from assay.llm.judges.pairwise import NEEDED, PAIRWISE, PLACES, Pairwise

    prompt_options.check_numbers(args)
    given = {name: getattr(args, name) for name in ("most_characters", "most_tokens", "temperature", "seed")}
    words = prompt_options.template(args.template, PAIRWISE, PLACES, NEEDED) if args.template else PAIRWISE
    guidelines = prompt_options.text_of(args.guidelines) if args.guidelines else ""
    return Pairwise(words, guidelines, **{name: value for name, value in given.items() if value is not None})


def _refuse_forgetting(args: argparse.Namespace) -> None:
    """Reject a resume without the ledger, because all battles would be judged and paid for again."""
    if args.out is None:
        raise NotValid("--resume needs --out FILE with the file to complete")
    ledger = default_ledger_path(args.out, args.ledger)
    if Path(args.out).exists() and (ledger is None or not ledger.exists()):
        raise NotValid(f"--resume needs the ledger {ledger}, which does not exist; name it with --ledger")
