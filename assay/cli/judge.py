"""What does a machine judge say about these pairs?"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from assay.cli import judge_words, provider_options
from assay.cli.judge_pairs import Pairs, label, read_pairs, tell
from assay.cli.label_file import LabelFile
from assay.cli.member_options import add_member_options, member_options
from judgments.core.errors import NotValid, UnknownName
from judgments.judges import JUDGES, MODEL_JUDGES, JudgeKind

NAME = "judge"
HELP = "let a machine judge answer pairs; a failure is an outcome, never a grade"
EXAMPLE = "assay judge pairs.jsonl --judge token_overlap --min-tokens 3 --out labels.jsonl"

BATCH = 500
CHARACTERS_PER_TOKEN = 4
# What only judges that ask a model take.
ASKING = (*provider_options.NAMES, *judge_words.NAMES, "ledger", "canaries", "batch", "poll")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; those of the judges come from their own declarations."""
    known = ", ".join((*JUDGES, *MODEL_JUDGES))
    parser.add_argument("pairs", metavar="PAIRS", help="pairs.jsonl: query_id, query, doc_id, text, expected")
    parser.add_argument("--judge", metavar="NAME", required=True, help=f"one of {known}")
    add_member_options(parser, JUDGES, {"model": f"{', '.join(MODEL_JUDGES)}: the provider's model"})
    parser.add_argument("--out", metavar="FILE", help="labels.jsonl; standard output without it")
    parser.add_argument("--resume", action="store_true", help="leave alone what FILE holds, and add the rest to it")
    parser.add_argument("--dry-run", action="store_true", help="say what there is to do, and do nothing")
    parser.add_argument("--ledger", metavar="FILE", help="every call to a model; by default beside --out")
    parser.add_argument("--canaries", type=int, metavar="N", help="plant traps into N documents; tell what they did")
    parser.add_argument(
        "--batch", action="store_true", default=None, help="leave all with the provider for up to a day"
    )
    parser.add_argument("--poll", type=float, metavar="S", help="seconds between two looks after a batch, default 60")
    provider_options.add_provider_options(parser)
    judge_words.add_words_options(parser)


def run(args: argparse.Namespace) -> int:
    """Let the judge answer: one that asks a model, or one that runs here."""
    if args.judge in MODEL_JUDGES:
        given = [name for name in member_options(args, JUDGES) if name != "model"]
        if given:
            raise NotValid(f"{_option(given[0])} is not an option of the judge {args.judge}, which asks a model")
        from assay.cli.judge_asking import run as ask

        return ask(args, MODEL_JUDGES[args.judge])
    return _run_here(args, _known(args.judge))


def _known(name: str) -> JudgeKind:
    try:
        return JUDGES[name]
    except UnknownName:
        import difflib

        known = [*JUDGES, *MODEL_JUDGES]
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise UnknownName(f"there is no judge {name!r}{hint} Known: {', '.join(known)}") from None


def _run_here(args: argparse.Namespace, kind: JudgeKind) -> int:
    if given := [name for name in ASKING if getattr(args, name) is not None]:
        raise NotValid(f"{_option(given[0])} is for judges that ask a model, and {kind.name} asks none")
    options = member_options(args, JUDGES)
    parameters, judge = kind.checked(options), kind.judge(options)
    rows, output = read_pairs(args.pairs), LabelFile(args.out)
    earlier = output.holds(kind.name, parameters, mend=not args.dry_run) if args.resume else {}
    pairs = Pairs.of(rows, kind.needs, earlier)
    pairs.refuse_none(args.pairs, kind.name, kind.needs)
    if args.dry_run:
        sys.stdout.write(_estimate(pairs))
        return 0
    from assay.cli.progress import progress

    counts: Counter[str] = Counter()
    watch = progress(len(pairs.ready), "judging")
    with output.opened(append=args.resume) as add:
        for begin in range(0, len(pairs.ready), BATCH):
            batch = pairs.ready[begin : begin + BATCH]
            outcomes = judge.outcomes([context for _, context in batch])
            add([label(pair, one, kind.name, parameters) for (pair, _), one in zip(batch, outcomes, strict=True)])
            counts.update(one.name for one in outcomes)
            watch(begin + len(batch))
    tell(args.pairs, pairs, counts)
    return 0


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _estimate(pairs: Pairs) -> str:
    characters = sum(
        len(context.query) + len(context.narrative) + len(context.text) + sum(map(len, context.expected))
        for _, context in pairs.ready
    )
    return (
        f"to judge: {len(pairs.ready)}\njudged already: {pairs.earlier}\nlacking something: {len(pairs.lacking)}\n"
        f"tokens to read: about {characters // CHARACTERS_PER_TOKEN}\ncost: 0 USD, the judge runs offline\n"
    )
