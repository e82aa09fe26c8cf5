"""The command ``assay judge``: let a machine judge grade pairs."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from assay.cli import judge_ensemble, judge_pairwise, judge_recall, judge_words, provider_options
from assay.cli.judge_pairs import PairFile, Pairs, Totals, label, tell
from assay.cli.label_file import LabelFile
from assay.cli.member_options import add_member_options, member_options
from assay.cli.no_effect import tell_no_effect
from assay.cli.spilled import Spilled
from judgments.core.callables import is_named
from judgments.core.errors import NotValid, UnknownName
from judgments.judges import JUDGES, MODEL_JUDGES, JudgeKind

NAME = "judge"
EXAMPLE = "assay judge pairs.jsonl --judge token_overlap --min-tokens 3 --out labels.jsonl"

BATCH = 500
CHARACTERS_PER_TOKEN = 4
# What only judges that ask a model take.
ASKING = (*provider_options.NAMES, *judge_words.NAMES, "ledger", "canaries", "batch", "poll")
# Judges of more than one document, or of others' labels: each has options that no other judge takes.
OF_SEVERAL = {one.NAME: one for one in (judge_pairwise, judge_ensemble)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; those of the judges come from their own declarations."""
    known = ", ".join((*JUDGES, *MODEL_JUDGES, *OF_SEVERAL))
    told = f"{', '.join((*MODEL_JUDGES, judge_pairwise.NAME))}: the provider's model (pairwise: may be repeated)"
    parser.add_argument("pairs", metavar="PAIRS", help="pairs.jsonl: query_id, query, doc_id, text, expected")
    parser.add_argument("--judge", metavar="NAME", required=True, help=f"one of {known}, or MODULE:CLASS of your own")
    add_member_options(parser, JUDGES, {"model": told}, repeated=["model"])
    parser.add_argument("--out", metavar="FILE", help="labels.jsonl (pairwise: battles.jsonl); default standard output")
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
    judge_recall.add_recall_options(parser)
    judge_pairwise.add_pairwise_options(parser)
    judge_ensemble.add_ensemble_options(parser)


def run(args: argparse.Namespace) -> int:
    """Let the judge answer: one that asks a model, one that runs here, or one that needs others."""
    _refuse_foreign(args)
    if args.judge == judge_pairwise.NAME:
        return judge_pairwise.run(args)
    if args.model is not None:
        for name in args.model[:-1]:
            tell_no_effect(f"--model {name}", f"the judge {args.judge} has one model, and the last counts")
        args.model = args.model[-1]
    if args.judge == judge_ensemble.NAME:
        return judge_ensemble.run(args)
    if args.judge in MODEL_JUDGES:
        from assay.cli.judge_asking import run as ask

        return ask(args, MODEL_JUDGES[args.judge])
    if is_named(args.judge):
        from judgments.judges.own_judge import TIMEOUT, own_kind

        return _run_here(
            args, own_kind(args.judge, TIMEOUT if args.timeout is None else args.timeout), own=("timeout",)
        )
    return _run_here(args, _known(args.judge))


def _refuse_foreign(args: argparse.Namespace) -> None:
    """Refuse options that belong to other judges."""
    for name, module in OF_SEVERAL.items():
        if name != args.judge and (given := [option for option in module.OWN if getattr(args, option) is not None]):
            raise NotValid(f"{_option(given[0])} is an option of the judge {name}, not of {args.judge}; leave it out")
    if args.judge not in (*MODEL_JUDGES, *OF_SEVERAL):
        return
    if args.judge in OF_SEVERAL:
        judge_recall.refuse(args)
    mine = ("scale", "under_test") if args.judge == judge_ensemble.NAME else ("model", *ASKING)
    every = [*member_options(args, JUDGES), *(name for name in ASKING if getattr(args, name) is not None)]
    if given := [name for name in every if name not in mine]:
        raise NotValid(f"{_option(given[0])} is not an option of the judge {args.judge}; leave it out")


def _known(name: str) -> JudgeKind:
    try:
        return JUDGES[name]
    except UnknownName:
        import difflib

        known = [*JUDGES, *MODEL_JUDGES, *OF_SEVERAL]
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise UnknownName(f"there is no judge {name!r}{hint} Known: {', '.join(known)}") from None


def _run_here(args: argparse.Namespace, kind: JudgeKind, own: Sequence[str] = ()) -> int:
    if given := [name for name in ASKING if getattr(args, name) is not None and name not in own]:
        raise NotValid(f"{_option(given[0])} is for judges that ask a model, and {kind.name} asks none")
    options = member_options(args, JUDGES)
    parameters, judge = kind.checked(options), kind.judge(options)
    model = str(parameters.get("model", ""))
    rows, output = PairFile(args.pairs, kind.needs), LabelFile(args.out)
    ranks = judge_recall.ranks(args, rows, judge)
    earlier = output.holds(kind.name, parameters, mend=not args.dry_run) if args.resume else Spilled()
    rows.refuse_none(kind.name, len(earlier))
    if args.dry_run:
        sys.stdout.write(_estimate(rows, earlier))
        return 0
    from assay.cli.progress import progress

    counts: Counter[str] = Counter()
    totals = Totals()
    watch = progress(max(0, rows.judgeable - len(earlier)), "judging")
    with output.opened(append=args.resume) as add:
        for portion in rows.portions(BATCH):
            pairs = Pairs.of(portion, kind.needs, earlier)
            totals.add(pairs)
            outcomes = judge.outcomes([context for _, context in pairs.ready])
            graded = zip(pairs.ready, outcomes, strict=True)
            add([label(pair, one, kind.name, parameters, model) for (pair, _), one in graded])
            counts.update(one.name for one in outcomes)
            watch(totals.ready)
    tell(args.pairs, totals, counts)
    if ranks is not None:
        judge_recall.tell_recall(args, list(rows), ranks, judge)
    return 0


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _estimate(rows: PairFile, earlier: Spilled) -> str:
    characters, totals = 0, Totals()
    for portion in rows.portions(BATCH):
        pairs = Pairs.of(portion, rows.needs, earlier)
        totals.add(pairs)
        characters += sum(
            len(context.query) + len(context.narrative) + len(context.text) + sum(map(len, context.expected))
            for _, context in pairs.ready
        )
    return (
        f"to judge: {totals.ready}\njudged already: {totals.earlier}\nlacking something: {totals.lacking}\n"
        f"tokens to read: about {characters // CHARACTERS_PER_TOKEN}\ncost: 0 USD, the judge runs offline\n"
    )
