"""Run a judge that calls a model: write labels as answers arrive, and report estimates and costs."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.cli import judge_recall, judge_words, provider_options
from assay.cli.families import tell_kin
from assay.cli.judge_pairs import PairFile, Pairs, Totals, label, tell
from assay.cli.label_file import LabelFile
from assay.cli.ledger import Known, Ledger, beside
from assay.cli.no_effect import tell_no_effect
from assay.cli.spilled import Spilled, pair_key
from assay.cli.text_table import counted
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.judges.asking import Answered, Asker, Asking, Verdict
    from judgments.judges.model_judge import ModelJudge, ModelJudgeKind, Told
    from judgments.providers.calls import Ended
    from judgments.providers.limits import Budget, Limits
    from judgments.providers.protocol import Endpoint

DONE, NOT_ALL = 0, 1
# So many pairs are held at a time. At the end of a portion the last answers are waited for, and the next is planned: in
# each portion every question in flight has many turns, so that this takes little of its time.
PORTION, TURNS = 10_000, 80
# Where no answer came, the next run asks again.
AGAIN = frozenset({"transport_error"})


@dataclass
class _Work:
    """One run: who is asked what, and what came of it."""

    kind: ModelJudgeKind
    judge: ModelJudge
    endpoint: Endpoint
    limits: Limits
    budget: Budget
    parameters: dict[str, Any]
    known: Known
    by: Asker
    # What was judged before, and what is now: grades by `pair_key`.
    earlier: Spilled
    grades: Spilled = field(default_factory=Spilled)
    counts: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    totals: Totals = field(default_factory=Totals)
    # Questions whose answers were known.
    remembered: int = 0
    # Dollars that nobody counted, and what of the questions the model was not told.
    estimated: float = 0.0
    left_out: set[str] = field(default_factory=set)


def run(args: argparse.Namespace, kind: ModelJudgeKind) -> int:
    """Read the pairs, ask about those that wait, write each answer as it comes."""
    if args.canaries is not None and args.canaries < 0:
        raise NotValid(f"--canaries is {args.canaries}; give a number from 0")
    endpoint = provider_options.endpoint(args, key_needed=not args.dry_run)
    judge_words.refuse_in_vain(args, endpoint)
    tell_kin([endpoint.model], args.under_test)
    limits, rows = provider_options.limits(args), PairFile(args.pairs, kind.needs)
    told, shown = judge_words.words(args, kind, rows)
    _tell_in_vain(args, kind)
    judge = kind.build(told)
    parameters = _parameters(judge, endpoint, told, shown)
    ledger = Ledger(beside(args.out, args.ledger), _sha256([kind.name, parameters]))
    output, mend = LabelFile(args.out), not args.dry_run
    earlier = output.holds(kind.name, parameters, mend=mend, again=AGAIN) if args.resume else Spilled()
    rows.refuse_none(kind.name, len(earlier))
    from judgments.providers.calls import ask

    known = ledger.known(mend=mend)
    budget = provider_options.budget(args, known.spent, known.calls)
    by = ask if args.dry_run else _asker(args)
    work = _Work(kind, judge, endpoint, limits, budget, parameters, known, by, earlier)
    # A batch is left with the provider for up to a day: all of it at once.
    size = None if args.batch else max(PORTION, TURNS * limits.concurrency)
    if args.dry_run:
        sys.stdout.write(_estimate(work, rows, size))
        return DONE
    work.models.update(known.models)
    ranks = judge_recall.ranks(args, rows, judge)
    with ledger.opened(endpoint) as keep:
        ended = _ask(work, rows, size, output, keep, append=args.resume)
        if ended.end == "refused":
            raise NotValid(f"{endpoint.protocol.title} refused: {ended.said}; what was answered before is kept")
        tell(args.pairs, work.totals, work.counts)
        _tell_asked(work, ended)
        if ranks is not None:
            answered = judge_recall.Answered(judge, endpoint, known.replies)
            judge_recall.tell_recall(args, list(rows), ranks, answered)
        if args.canaries and ended.end == "done":
            from assay.cli.judge_canaries import tell_canaries

            every = Pairs.of(rows, kind.needs, ()).ready
            ended = tell_canaries(work, every, args.canaries, args.seed or 0, keep)
    return DONE if ended.end == "done" else NOT_ALL


def _asker(args: argparse.Namespace) -> Asker:
    """One question at a time, or all of them in batches."""
    from judgments.providers.calls import ask

    if not args.batch:
        return ask
    ledger = beside(args.out, args.ledger)
    if ledger is None:
        raise NotValid("--batch needs --out FILE: what is left with the provider is written down beside it")
    from assay.cli.batch_file import BatchFile
    from judgments.providers.batches import POLL, ask_in_batches

    store = BatchFile(ledger.with_name(f"{ledger.name}.batches"))
    poll = POLL if args.poll is None else args.poll

    def by(endpoint: Endpoint, questions: Any, answered: Any, *, budget: Budget, **_: Any) -> Ended:
        return ask_in_batches(endpoint, questions, answered, store=store, budget=budget, poll=poll)

    return by


def _portions(work: _Work, rows: PairFile, size: int | None) -> Iterator[tuple[Pairs, Asking]]:
    """Each portion of the pairs with what there is to ask about it, once the portion before it was answered."""
    from judgments.judges.asking import Asking
    from judgments.providers.pace import Ratio

    ratio = Ratio()
    for portion in rows.portions(size):
        pairs = Pairs.of(portion, work.kind.needs, work.earlier)
        work.totals.add(pairs)
        contexts = [context for _, context in pairs.ready]
        asking = Asking(work.judge, work.endpoint, contexts, work.known.replies, ratio)
        work.remembered += asking.plan.known
        yield pairs, asking
        # One portion at a time is held.
        del portion, pairs, contexts, asking


def _ask(work: _Work, rows: PairFile, size: int | None, output: LabelFile, keep: Any, *, append: bool) -> Ended:
    from assay.cli.progress import progress
    from judgments.providers.calls import Ended

    watch = progress(max(0, rows.judgeable - len(work.earlier)), "judging")

    def answered(call: Answered) -> None:
        keep(call)
        if not call.reply.fault:
            work.known.replies[call.question.key] = call.reply
        work.tokens[0] += call.reply.tokens_in or 0
        work.tokens[1] += call.reply.tokens_out or 0
        work.models.update([call.reply.model] if call.reply.model else [])
        work.estimated += call.reply.cost_usd or 0.0 if call.reply.estimated else 0.0
        work.left_out.update(call.reply.left_out)

    ended = Ended("done", "", 0, 0)
    with output.opened(append=append) as add:
        for pairs, asking in _portions(work, rows, size):

            def told(verdict: Verdict, pairs: Pairs = pairs) -> None:
                pair, outcome = pairs.ready[verdict.place][0], verdict.outcome
                model = verdict.model or work.endpoint.model
                add([label(pair, outcome, work.kind.name, work.parameters, model, verdict.prompt_sha256)])
                work.grades[pair_key(pair.query_id, pair.doc_id)] = outcome.grade
                work.counts[outcome.name] += 1
                watch(work.counts.total())

            one = asking.run(told, answered=answered, limits=work.limits, budget=work.budget, by=work.by)
            ended = replace(one, answered=ended.answered + one.answered, attempts=ended.attempts + one.attempts)
            del pairs, asking, told
            if ended.end != "done":
                break
    return ended


def _parameters(judge: ModelJudge, endpoint: Endpoint, told: Told, shown: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """All that an answer hangs on beside the pair, as it stands in every label."""
    found = {
        "provider": endpoint.protocol.name,
        "base_url": provider_options.address(endpoint.base_url),
        "model": endpoint.model,
        **judge.provenance(),
        **({"asked_as": endpoint.settings} if endpoint.settings else {}),
    }
    if told.relevant_from is not None:
        found["relevant_from"] = told.relevant_from
    if shown:
        found["examples"] = shown
    # As they come back from the file.
    return dict(json.loads(json.dumps(found)))


def _tell_in_vain(args: argparse.Namespace, kind: ModelJudgeKind) -> None:
    for option, name in judge_words.OF.items():
        if getattr(args, option) is not None and name not in kind.takes:
            tell_no_effect(f"--{option.replace('_', '-')}", f"the judge {kind.name} is not told it")


def _estimate(work: _Work, rows: PairFile, size: int | None) -> str:
    from judgments.judges.asking import Plan

    plan, totals = Plan.together(asking.plan for _, asking in _portions(work, rows, size)), work.totals
    return f"to judge: {totals.ready}\njudged already: {totals.earlier}\nlacking something: {totals.lacking}\n{plan}"


def _tell_asked(work: _Work, ended: Ended) -> None:
    spent = work.budget.spent - work.known.spent
    cost = "" if work.endpoint.price_in is None or work.endpoint.price_out is None else f", {spent:.4f} USD"
    read, written = work.tokens
    lines = [f"  asked {counted(ended.answered, 'question')}: {counted(read, 'token')} read, {written} written{cost}"]
    if work.estimated:
        what = "answers and attempts that nobody counted are booked at the most that they can have cost"
        lines.append(f"note: {what}: {work.estimated:.4f} USD of it, as the ledger marks them")
    if work.left_out:
        lines.append(f"note: not told: {', '.join(sorted(work.left_out))}; this model or its protocol takes none")
    if work.remembered:
        lines.append(f"  answers known, not asked again: {work.remembered}")
    if len(work.models) > 1:
        told = ", ".join(f"{name} ({number})" for name, number in sorted(work.models.items()))
        lines.append(
            f"note: {counted(len(work.models), 'model')} answered: {told}; each label says which, judge them apart"
        )
    if ended.end != "done":
        lines.append(f"not all was asked: {ended.said}; go on with --resume")
    sys.stderr.write("\n".join(lines) + "\n")


def _sha256(value: Mapping[str, Any] | Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
