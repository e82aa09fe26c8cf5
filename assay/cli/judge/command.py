"""The command ``assay judge``: grade pairs with a machine judge."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.cli import ensemble, option
from assay.cli.inputs.files import warn_no_effect
from assay.cli.inputs.judge_pairs import PairFile, Pairs, Totals, label, print_counts
from assay.cli.judge import answer_recall, prompt_options
from assay.cli.judge.labels_file import LabelFile
from assay.cli.options import provider
from assay.cli.options.parameters import add_member_options, member_options
from assay.core.disk_mapping import DiskMapping
from assay.core.errors import NotValid, UnknownName
from assay.core.user_callables import is_named
from assay.llm.judges import JUDGES, MODEL_JUDGES, JudgeKind
from assay.llm.judges.ledger import default_ledger_path

EXAMPLE = "assay judge pairs.jsonl --judge token_overlap --min-tokens 3 --out labels.jsonl"

BATCH = 500
CHARACTERS_PER_TOKEN = 4
# Options that only judges with a model take.
ASKING = (*provider.NAMES, *prompt_options.NAMES, "ledger", "canaries", "batch", "poll")
PAIRWISE = "pairwise"
# Its own options, with the defaults of `assay zelo judge`, and the options of prompts that it uses.
PAIRWISE_OPTIONS: dict[str, Any] = {"cycles": 4, "most": None, "both": 0.0, "texts": None}
PAIRWISE_WORDS = ("guidelines",)
# The own options of judges of several documents or of other judges' labels.
OF_SEVERAL = {PAIRWISE: PAIRWISE_OPTIONS, ensemble.JUDGE: ensemble.JUDGE_OPTIONS}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments, including those of the judges."""
    known = ", ".join((*JUDGES, *MODEL_JUDGES, *OF_SEVERAL))
    model_help = (
        f"the provider's model, for the judges {', '.join((*MODEL_JUDGES, PAIRWISE))} (pairwise: may be repeated)"
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
    _add_pairwise_options(parser)
    ensemble.add_judge_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the judge: with a model, locally, or on other judges' labels."""
    _refuse_foreign(args)
    if args.judge == PAIRWISE:
        return _run_pairwise(args)
    if args.model is not None:
        for name in args.model[:-1]:
            warn_no_effect(f"--model {name}", f"the judge {args.judge} uses only the last model")
        args.model = args.model[-1]
    if args.judge == ensemble.JUDGE:
        return ensemble.run_judge(args)
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
    for name, own in OF_SEVERAL.items():
        if name != args.judge and (given := [option for option in own if getattr(args, option) is not None]):
            raise NotValid(f"{_option(given[0])} applies only to the judge {name}, not to {args.judge}; remove it")
    if args.judge not in (*MODEL_JUDGES, *OF_SEVERAL):
        return
    if args.judge in OF_SEVERAL:
        answer_recall.refuse(args)
    mine = ("scale", "under_test") if args.judge == ensemble.JUDGE else ("model", *ASKING)
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


def _add_pairwise_options(parser: argparse.ArgumentParser) -> None:
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


def _run_pairwise(args: argparse.Namespace) -> int:
    """Draw or read the battles and judge them with every model, as in ``assay zelo judge``."""
    from assay.cli.options.ensemble import endpoints
    from assay.cli.zelo.judge import judge

    for name in ("canaries", "batch", "poll"):
        if getattr(args, name) is not None:
            raise NotValid(f"--{name} does not apply to the judge pairwise; remove it")
    for name in prompt_options.OF:
        if name not in PAIRWISE_WORDS and getattr(args, name) is not None:
            warn_no_effect(_option(name), "the judge pairwise does not use it")
    if args.resume:
        _refuse_forgetting(args)
    pairwise = _pairwise_judge(args)
    args.source = args.pairs
    for name, default in {**PAIRWISE_OPTIONS, "seed": 0}.items():
        if getattr(args, name) is None:
            setattr(args, name, default)
    if args.most is not None and args.most < 2:
        raise NotValid(f"--most is {args.most}; use 2 or more")
    for endpoint in endpoints(args, key_needed=False):
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
