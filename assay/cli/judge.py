"""What does a machine judge say about these pairs?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.files import tell_warnings
from assay.cli.label_file import LabelFile
from assay.cli.member_options import add_member_options, member_options
from judgments.core.errors import NotValid
from judgments.judges import JUDGES

if TYPE_CHECKING:
    from judgments.formats.labels_jsonl import MachineLabel
    from judgments.formats.rows import PairRow
    from judgments.judges import Context, JudgeKind, Outcome

NAME = "judge"
HELP = "let a machine judge answer pairs; a failure is an outcome, never a grade"
EXAMPLE = "assay judge pairs.jsonl --judge token_overlap --min-tokens 3 --out labels.jsonl"

BATCH = 500
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class _Plan:
    """What there is to do: pairs with all that the judge needs, those without, those answered already."""

    ready: list[tuple[PairRow, Context]]
    lacking: list[tuple[PairRow, list[str]]]
    earlier: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; those of the judges come from their own declarations."""
    parser.add_argument("pairs", metavar="PAIRS", help="pairs.jsonl: query_id, query, doc_id, text, expected")
    parser.add_argument("--judge", metavar="NAME", required=True, help=f"one of {', '.join(JUDGES)}")
    add_member_options(parser, JUDGES)
    parser.add_argument("--out", metavar="FILE", help="labels.jsonl; standard output without it")
    parser.add_argument("--resume", action="store_true", help="leave alone what FILE holds, and add the rest to it")
    parser.add_argument("--dry-run", action="store_true", help="say what there is to do, and do nothing")


def run(args: argparse.Namespace) -> int:
    """Read the pairs, judge those that wait, write as it goes."""
    kind = JUDGES[args.judge]
    given = member_options(args, JUDGES)
    parameters, judge = kind.checked(given), kind.judge(given)
    from judgments.formats import pairs_jsonl

    found = pairs_jsonl.read(Path(args.pairs), path=args.pairs)
    found.report.raise_if_errors()
    tell_warnings([found.report])
    output = LabelFile(args.out)
    earlier = output.holds(kind.name, parameters, mend=not args.dry_run) if args.resume else set()
    plan = _plan(kind, found.rows, earlier)
    if found.rows and not plan.ready and not plan.earlier:
        raise NotValid(
            f"{args.pairs}: no pair has what {kind.name} needs: {', '.join(kind.needs)}; add it to the pairs"
        )
    if args.dry_run:
        sys.stdout.write(_estimate(plan))
        return 0
    from assay.cli.progress import progress

    counts: dict[str, int] = {}
    watch = progress(len(plan.ready), "judging")
    with output.opened(append=args.resume) as add:
        for begin in range(0, len(plan.ready), BATCH):
            batch = plan.ready[begin : begin + BATCH]
            outcomes = judge.outcomes([context for _, context in batch])
            add([_label(pair, one, kind, parameters) for (pair, _), one in zip(batch, outcomes, strict=True)])
            for one in outcomes:
                counts[one.name] = counts.get(one.name, 0) + 1
            watch(begin + len(batch))
    _tell(args.pairs, plan, counts)
    return 0


def _plan(kind: JudgeKind, rows: Sequence[PairRow], earlier: set[tuple[str, str]]) -> _Plan:
    from judgments.judges import Context

    plan = _Plan([], [], sum((row.query_id, row.doc_id) in earlier for row in rows))
    for row in rows:
        if (row.query_id, row.doc_id) in earlier:
            continue
        context = Context(row.query, row.text, (row.expected,) if row.expected else (), row.narrative)
        if missing := context.lacks(kind.needs):
            plan.lacking.append((row, list(missing)))
        else:
            plan.ready.append((row, context))
    return plan


def _label(pair: PairRow, outcome: Outcome, kind: JudgeKind, parameters: dict[str, Any]) -> MachineLabel:
    from judgments.formats.labels_jsonl import MachineLabel

    return MachineLabel(
        pair.query_id,
        pair.doc_id,
        outcome.name,
        outcome.grade,
        outcome.relevant,
        judge=kind.name,
        parameters=parameters,
        probabilities=outcome.probabilities,
        rationale=outcome.rationale,
        raw=outcome.raw,
        tokens_in=outcome.tokens_in,
        tokens_out=outcome.tokens_out,
        cost_usd=outcome.cost_usd,
    )


def _estimate(plan: _Plan) -> str:
    characters = sum(
        len(context.query) + len(context.narrative) + len(context.text) + sum(map(len, context.expected))
        for _, context in plan.ready
    )
    return (
        f"to judge: {len(plan.ready)}\njudged already: {plan.earlier}\nlacking something: {len(plan.lacking)}\n"
        f"tokens to read: about {characters // CHARACTERS_PER_TOKEN}\ncost: 0 USD, the judge runs offline\n"
    )


def _tell(path: str, plan: _Plan, counts: dict[str, int]) -> None:
    told = ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "nothing"
    lines = [f"judged {sum(counts.values())}: {told}"]
    if plan.earlier:
        lines.append(f"  left alone, judged already: {plan.earlier}")
    if plan.lacking:
        first, missing = plan.lacking[0]
        lines.append(
            f"  not judged: {len(plan.lacking)} without {', '.join(missing)}, the first at {path}:{first.line}"
        )
    sys.stderr.write("\n".join(lines) + "\n")
