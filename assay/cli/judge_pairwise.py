"""The pairwise judge of ``assay judge``: battles, as in ``assay zelo judge``, among documents of the pairs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from assay.cli import judge_words
from assay.cli.ledger import beside
from assay.cli.no_effect import tell_no_effect
from judgments.core.errors import NotValid

NAME = "pairwise"
# Its own options, with the defaults of `assay zelo judge`.
OWN: dict[str, Any] = {"cycles": 4, "most": None, "both": 0.0, "texts": None}
TOLD = ("guidelines",)


def add_pairwise_options(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    group = parser.add_argument_group("pairwise: which documents meet; battles.jsonl comes out, for assay zelo fit")
    group.add_argument(
        "--cycles", metavar="N", type=int, help="random rounds; each document meets two in one; default 4"
    )
    group.add_argument("--most", metavar="N", type=int, help="only the first N documents of each query")
    group.add_argument("--both", metavar="SHARE", type=float, help="share of the pairs shown in both orders; default 0")
    group.add_argument("--texts", metavar="FILE", help="pairs.jsonl with the texts, where PAIRS has none")


def run(args: argparse.Namespace) -> int:
    """Draw the battles, or read them, and let every model fight them.

    Raises
    ------
    NotValid
        As ``assay zelo judge``, and for options that only judges of single documents take.
    """
    from assay.cli import ensemble_options
    from assay.cli.zelo_judge import judge

    for option in ("canaries", "batch", "poll"):
        if getattr(args, option) is not None:
            raise NotValid(f"--{option} is not an option of the judge pairwise; leave it out")
    for option in judge_words.OF:
        if option not in TOLD and getattr(args, option) is not None:
            tell_no_effect(f"--{option.replace('_', '-')}", "the judge pairwise is not told it")
    if args.resume:
        _refuse_forgetting(args)
    asked = _asked(args)
    args.source = args.pairs
    for option, default in {**OWN, "seed": 0}.items():
        if getattr(args, option) is None:
            setattr(args, option, default)
    if args.most is not None and args.most < 2:
        raise NotValid(f"--most is {args.most}; two documents at least can meet")
    for endpoint in ensemble_options.endpoints(args, key_needed=False):
        judge_words.refuse_in_vain(args, endpoint, draws=True)
    return judge(args, asked)


def _asked(args: argparse.Namespace) -> Any:
    from judgments.judges.pairwise import NEEDED, PAIRWISE, PLACES, Pairwise

    judge_words.check_numbers(args)
    given = {name: getattr(args, name) for name in ("most_characters", "most_tokens", "temperature", "seed")}
    words = judge_words.template(args.template, PAIRWISE, PLACES, NEEDED) if args.template else PAIRWISE
    guidelines = judge_words.text_of(args.guidelines) if args.guidelines else ""
    return Pairwise(words, guidelines, **{name: value for name, value in given.items() if value is not None})


def _refuse_forgetting(args: argparse.Namespace) -> None:
    """Battles are written anew from the ledger: without it those in the file would be fought and paid for again."""
    if args.out is None:
        raise NotValid("--resume needs --out FILE, the file that is to be completed")
    ledger = beside(args.out, args.ledger)
    if Path(args.out).exists() and (ledger is None or not ledger.exists()):
        raise NotValid(f"--resume goes on from the ledger {ledger}, and it is not there; name it with --ledger")
