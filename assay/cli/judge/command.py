"""The command ``assay judge``: grade pairs with a machine judge."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from assay.cli import option
from assay.cli.inputs.files import warn_no_effect
from assay.cli.inputs.judge_pairs import PairFile, Pairs, Totals, label, print_counts
from assay.cli.judge import answer_recall, ensemble, pairwise, prompt_options
from assay.cli.judge.labels_file import LabelFile
from assay.cli.options import provider
from assay.cli.options.parameters import add_member_options, member_options
from assay.core.disk_mapping import DiskMapping
from assay.core.errors import NotValid, UnknownName
from assay.core.user_callables import is_named
from assay.llm.judges import JUDGES, MODEL_JUDGES, JudgeKind

EXAMPLE = "assay judge pairs.jsonl --judge token_overlap --min-tokens 3 --out labels.jsonl"

BATCH = 500
CHARACTERS_PER_TOKEN = 4
# Options that only judges with a model take.
ASKING = (*provider.NAMES, *prompt_options.NAMES, "ledger", "canaries", "batch", "poll")
# Judges of several documents or of other judges' labels; each has options of its own.
OF_SEVERAL = {one.NAME: one for one in (pairwise, ensemble)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments, including those of the judges."""
    known = ", ".join((*JUDGES, *MODEL_JUDGES, *OF_SEVERAL))
    model_help = (
        f"the provider's model, for the judges {', '.join((*MODEL_JUDGES, pairwise.NAME))} (pairwise: may be repeated)"
    )
    option(parser, "pairs PAIRS", "pairs.jsonl with query_id, query, doc_id, text, expected")
    option(parser, "--judge NAME", f"one of {known}, or your own MODULE:CLASS", required=True)
    add_member_options(parser, JUDGES, {"model": model_help}, repeated=["model"])
    option(parser, "--out FILE", "write labels.jsonl (pairwise: battles.jsonl) to FILE; default: standard output")
    option(parser, "--resume", "skip the pairs that are already in FILE and append the rest", action="store_true")
    option(parser, "--dry-run", "print an estimate without judging", action="store_true")
    option(parser, "--ledger FILE", "file that records all calls to the model; default: a file next to --out")
    option(parser, "--canaries N", "test the judge with prompt-injection probes (canaries) in N documents", type=int)
    parser.add_argument(
        "--batch", action="store_true", default=None, help="use the provider's batch API; answers may take up to a day"
    )
    option(parser, "--poll S", "seconds between checks of a batch; default: 60", type=float)
    provider.add_provider_options(parser)
    prompt_options.add_words_options(parser)
    answer_recall.add_recall_options(parser)
    pairwise.add_pairwise_options(parser)
    ensemble.add_ensemble_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the judge: with a model, locally, or on other judges' labels."""
    _refuse_foreign(args)
    if args.judge == pairwise.NAME:
        return pairwise.run(args)
    if args.model is not None:
        for name in args.model[:-1]:
            warn_no_effect(f"--model {name}", f"the judge {args.judge} uses only the last model")
        args.model = args.model[-1]
    if args.judge == ensemble.NAME:
        return ensemble.run(args)
    if args.judge in MODEL_JUDGES:
        from assay.cli.judge.model_judging import run as ask

        return ask(args, MODEL_JUDGES[args.judge])
    if is_named(args.judge):
        from assay.llm.judges.own_judge import TIMEOUT, own_kind

        return _run_here(
            args, own_kind(args.judge, TIMEOUT if args.timeout is None else args.timeout), own=("timeout",)
        )
    return _run_here(args, _known(args.judge))


def _refuse_foreign(args: argparse.Namespace) -> None:
    """Reject options of other judges."""
    for name, module in OF_SEVERAL.items():
        if name != args.judge and (given := [option for option in module.OWN if getattr(args, option) is not None]):
            raise NotValid(f"{_option(given[0])} applies only to the judge {name}, not to {args.judge}; remove it")
    if args.judge not in (*MODEL_JUDGES, *OF_SEVERAL):
        return
    if args.judge in OF_SEVERAL:
        answer_recall.refuse(args)
    mine = ("scale", "under_test") if args.judge == ensemble.NAME else ("model", *ASKING)
    every = [*member_options(args, JUDGES), *(name for name in ASKING if getattr(args, name) is not None)]
    if given := [name for name in every if name not in mine]:
        raise NotValid(f"{_option(given[0])} does not apply to the judge {args.judge}; remove it")


def _known(name: str) -> JudgeKind:
    try:
        return JUDGES[name]
    except UnknownName:
        import difflib

        known = [*JUDGES, *MODEL_JUDGES, *OF_SEVERAL]
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise UnknownName(f"unknown judge {name!r}{hint} Known: {', '.join(known)}") from None


def _run_here(args: argparse.Namespace, kind: JudgeKind, own: Sequence[str] = ()) -> int:
    if given := [name for name in ASKING if getattr(args, name) is not None and name not in own]:
        raise NotValid(f"{_option(given[0])} applies to judges with a model, and {kind.name} has none; remove it")
    options = member_options(args, JUDGES)
    parameters, judge = kind.checked(options), kind.judge(options)
    model = str(parameters.get("model", ""))
    rows, output = PairFile(args.pairs, kind.needs), LabelFile(args.out)
    ranks = answer_recall.ranks(args, rows, judge)
    earlier = output.holds(kind.name, parameters, repair=not args.dry_run) if args.resume else DiskMapping()
    rows.refuse_none(kind.name, len(earlier))
    if args.dry_run:
        sys.stdout.write(_estimate(rows, earlier))
        return 0
    from assay.cli import progress

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
    print_counts(args.pairs, totals, counts)
    if ranks is not None:
        answer_recall.print_recall(args, list(rows), ranks, judge)
    return 0


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _estimate(rows: PairFile, earlier: DiskMapping) -> str:
    characters, totals = 0, Totals()
    for portion in rows.portions(BATCH):
        pairs = Pairs.of(portion, rows.needs, earlier)
        totals.add(pairs)
        characters += sum(
            len(context.query) + len(context.narrative) + len(context.text) + sum(map(len, context.expected))
            for _, context in pairs.ready
        )
    return (
        f"to judge: {totals.ready}\nalready judged: {totals.earlier}\nincomplete pairs: {totals.lacking}\n"
        f"tokens to read: about {characters // CHARACTERS_PER_TOKEN}\ncost: 0 USD, the judge runs locally\n"
    )
