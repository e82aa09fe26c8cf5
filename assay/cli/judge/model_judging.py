"""Run a judge that calls a model: write labels as answers arrive, and report estimates and costs."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import progress
from assay.cli.inputs.files import warn_no_effect
from assay.cli.inputs.judge_pairs import PairFile, Pairs, Totals, label, print_counts
from assay.cli.judge import answer_recall, prompt_options
from assay.cli.judge.labels_file import LabelFile
from assay.cli.options import provider
from assay.cli.options.provider import warn_same_family
from assay.core.disk_mapping import DiskMapping, pair_key
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.llm.judges.ledger import Known, Ledger, default_ledger_path
from assay.llm.providers.protocol import address

if TYPE_CHECKING:
    from assay.formats.row_types import PairRow
    from assay.llm.judges import Context, Outcome
    from assay.llm.judges.bulk_judging import Answered, Asker, Asking, Verdict
    from assay.llm.judges.model_judge import JudgeOptions, ModelJudge, ModelJudgeKind
    from assay.llm.providers.limits import Budget, Limits
    from assay.llm.providers.protocol import Endpoint
    from assay.llm.providers.question_run import Ended


DONE, NOT_ALL = 0, 1
# Number of pairs in memory at a time. The end of a portion waits for its last answers, so a portion has many times as
# many pairs as questions in flight.
PORTION, TURNS = 10_000, 80
# Outcomes without an answer; the next run repeats these calls.
AGAIN = frozenset({"transport_error"})


@dataclass
class _Work:
    """State of one run: judge, model, limits and results."""

    kind: ModelJudgeKind
    judge: ModelJudge
    endpoint: Endpoint
    limits: Limits
    budget: Budget
    parameters: dict[str, Any]
    known: Known
    by: Asker
    # Earlier and new grades by `pair_key`.
    earlier: DiskMapping
    grades: DiskMapping = field(default_factory=DiskMapping)
    counts: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    tokens: list[int] = field(default_factory=lambda: [0, 0])
    totals: Totals = field(default_factory=Totals)
    # Questions that the ledger answers.
    remembered: int = 0
    # Estimated dollars of calls without token counts, and parameters that the model does not take.
    estimated: float = 0.0
    left_out: set[str] = field(default_factory=set)


def run(args: argparse.Namespace, kind: ModelJudgeKind) -> int:
    """Judge the remaining pairs and write each label as its answer arrives."""
    if args.canaries is not None and args.canaries < 0:
        raise NotValid(f"--canaries is {args.canaries}; use 0 or more")
    endpoint = provider.endpoint(args, key_needed=not args.dry_run)
    prompt_options.refuse_unsupported_options(args, endpoint)
    warn_same_family([endpoint.model], args.under_test)
    limits, rows = provider.limits(args), PairFile(args.pairs, kind.needs)
    prompt_parts, shown = prompt_options.words(args, kind, rows)
    _warn_unused_options(args, kind)
    judge = kind.build(prompt_parts)
    parameters = _parameters(judge, endpoint, prompt_parts, shown)
    ledger = Ledger(default_ledger_path(args.out, args.ledger), _sha256([kind.name, parameters]))
    output, repair = LabelFile(args.out), not args.dry_run
    earlier = output.holds(kind.name, parameters, repair=repair, again=AGAIN) if args.resume else DiskMapping()
    rows.refuse_none(kind.name, len(earlier))
    from assay.llm.providers.question_run import ask

    known = ledger.known(repair=repair)
    budget = provider.budget(args, known.spent, known.calls)
    by = ask if args.dry_run else _asker(args)
    work = _Work(kind, judge, endpoint, limits, budget, parameters, known, by, earlier)
    # A batch contains all questions, since the provider may take a day for it.
    size = None if args.batch else max(PORTION, TURNS * limits.concurrency)
    if args.dry_run:
        sys.stdout.write(_estimate(work, rows, size))
        return DONE
    work.models.update(known.models)
    ranks = answer_recall.ranks(args, rows, judge)
    with ledger.opened(endpoint) as keep:
        ended = _ask(work, rows, size, output, keep, append=args.resume)
        if ended.end == "refused":
            raise NotValid(f"{endpoint.protocol.title} refused: {ended.message}; earlier answers are saved")
        print_counts(args.pairs, work.totals, work.counts)
        _print_usage(work, ended)
        if ranks is not None:
            answered = answer_recall.RecordedAnswers(judge, endpoint, known.replies)
            answer_recall.print_recall(args, list(rows), ranks, answered)
        if args.canaries and ended.end == "done":
            every = Pairs.of(rows, kind.needs, ()).ready
            ended = probe_canaries(work, every, args.canaries, args.seed or 0, keep)
    return DONE if ended.end == "done" else NOT_ALL


def _asker(args: argparse.Namespace) -> Asker:
    """Return the function that sends questions, individually or in batches."""
    from assay.llm.providers.question_run import ask

    if not args.batch:
        return ask
    ledger = default_ledger_path(args.out, args.ledger)
    if ledger is None:
        raise NotValid("--batch needs --out FILE, because open batches are recorded next to it")
    from assay.llm.providers.batches import POLL, ask_in_batches

    store = BatchFile(ledger.with_name(f"{ledger.name}.batches"))
    poll = POLL if args.poll is None else args.poll

    def by(endpoint: Endpoint, questions: Any, answered: Any, *, budget: Budget, **_: Any) -> Ended:
        return ask_in_batches(endpoint, questions, answered, store=store, budget=budget, poll=poll)

    return by


def _portions(work: _Work, rows: PairFile, size: int | None) -> Iterator[tuple[Pairs, Asking]]:
    """Yield each portion of the pairs with its questions, one portion at a time."""
    from assay.llm.judges.bulk_judging import Asking
    from assay.llm.providers.limits import Ratio

    ratio = Ratio()
    for portion in rows.portions(size):
        pairs = Pairs.of(portion, work.kind.needs, work.earlier)
        work.totals.add(pairs)
        contexts = [context for _, context in pairs.ready]
        asking = Asking(work.judge, work.endpoint, contexts, work.known.replies, ratio)
        work.remembered += asking.plan.known
        yield pairs, asking
        # Free the portion before the next one is read.
        del portion, pairs, contexts, asking


def _ask(work: _Work, rows: PairFile, size: int | None, output: LabelFile, keep: Any, *, append: bool) -> Ended:
    from assay.llm.providers.question_run import Ended

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

            def on_verdict(verdict: Verdict, pairs: Pairs = pairs) -> None:
                pair, outcome = pairs.ready[verdict.place][0], verdict.outcome
                model = verdict.model or work.endpoint.model
                add([label(pair, outcome, work.kind.name, work.parameters, model, verdict.prompt_sha256)])
                work.grades[pair_key(pair.query_id, pair.doc_id)] = outcome.grade
                work.counts[outcome.name] += 1
                watch(work.counts.total())

            one = asking.run(on_verdict, answered=answered, limits=work.limits, budget=work.budget, by=work.by)
            ended = replace(one, answered=ended.answered + one.answered, attempts=ended.attempts + one.attempts)
            del pairs, asking, on_verdict
            if ended.end != "done":
                break
    return ended


def _parameters(
    judge: ModelJudge, endpoint: Endpoint, prompt_parts: JudgeOptions, shown: Sequence[Sequence[Any]]
) -> dict[str, Any]:
    """Return the parameters of the judge that every label records."""
    parameters = {
        "provider": endpoint.protocol.name,
        "base_url": address(endpoint.base_url),
        "model": endpoint.model,
        **judge.provenance(),
        **({"asked_as": endpoint.settings} if endpoint.settings else {}),
    }
    if prompt_parts.relevant_from is not None:
        parameters["relevant_from"] = prompt_parts.relevant_from
    if shown:
        parameters["examples"] = shown
    # Convert to the types that reading the file gives.
    return dict(json.loads(json.dumps(parameters)))


def _warn_unused_options(args: argparse.Namespace, kind: ModelJudgeKind) -> None:
    for option, name in prompt_options.OF.items():
        if getattr(args, option) is not None and name not in kind.takes:
            warn_no_effect(f"--{option.replace('_', '-')}", f"the judge {kind.name} does not use it")


def _estimate(work: _Work, rows: PairFile, size: int | None) -> str:
    from assay.llm.judges.bulk_judging import Plan

    plan, totals = Plan.together(asking.plan for _, asking in _portions(work, rows, size)), work.totals
    return f"to judge: {totals.ready}\nalready judged: {totals.earlier}\nincomplete pairs: {totals.lacking}\n{plan}"


def _print_usage(work: _Work, ended: Ended) -> None:
    spent = work.budget.spent - work.known.spent
    cost = "" if work.endpoint.price_in is None or work.endpoint.price_out is None else f", {spent:.4f} USD"
    read, written = work.tokens
    lines = [f"  {amount(ended.answered, 'question')} asked: {amount(read, 'token')} read, {written} written{cost}"]
    if work.estimated:
        what = "calls without token counts are counted at their maximum cost"
        lines.append(f"note: {what}: {work.estimated:.4f} USD, marked in the ledger")
    if work.left_out:
        lines.append(
            "note: parameters left out of the calls, because the model does not accept them: "
            f"{', '.join(sorted(work.left_out))}"
        )
    if work.remembered:
        lines.append(f"  answers from the ledger: {work.remembered}")
    if len(work.models) > 1:
        answered_by = ", ".join(f"{name} ({number})" for name, number in sorted(work.models.items()))
        lines.append(
            f"note: {amount(len(work.models), 'model')} answered: {answered_by}; each label names its model, so "
            "evaluate the models separately"
        )
    if ended.end != "done":
        lines.append(f"stopped early: {ended.message}; continue with --resume")
    sys.stderr.write("\n".join(lines) + "\n")


def _sha256(value: Mapping[str, Any] | Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


class BatchFile:
    """File with the ids of open batches and the keys of their questions; removed when no batch is open."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> dict[str, list[str]]:
        """Return the keys of each open batch."""
        if not self._path.exists():
            return {}
        try:
            stored = json.loads(self._path.read_text(encoding="utf-8"))
            return {str(batch): [str(key) for key in keys] for batch, keys in stored["batches"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NotValid(f"{self._path}: is not a batch file; move it to start again") from None

    def save(self, batches: Mapping[str, Sequence[str]]) -> None:
        """Replace the file atomically, or remove it if no batch is open."""
        if not batches:
            self._path.unlink(missing_ok=True)
            return
        fresh = self._path.with_name(f"{self._path.name}.new")
        stored = {"batches": {batch: list(keys) for batch, keys in batches.items()}}
        fresh.write_text(json.dumps(stored), encoding="utf-8")
        fresh.replace(self._path)


def probe_canaries(
    work: Any, pairs: Sequence[tuple[PairRow, Context]], most: int, seed: int, keep: Callable[[Any], None]
) -> Ended:
    """Insert each probe into documents with low grades, judge them, and print how many grades rose."""
    from assay.llm.judge import Outcome
    from assay.llm.judges.bulk_judging import Asking
    from assay.llm.judges.injection_probe import flips, plant
    from assay.llm.providers.question_run import Ended

    top = max(_top(work), 1)
    grades = [_grade(work, row) for row, _ in pairs]
    chosen = _worst([(grade, context) for grade, (_, context) in zip(grades, pairs, strict=True)], top, most, seed)
    if not chosen:
        sys.stderr.write("canaries: none inserted, because no pair has a grade below the highest\n")
        return Ended("done", "", 0, 0)
    canaries = plant([context for _, context in chosen], top, seed=seed)
    asking = Asking(work.judge, work.endpoint, [one.context for one in canaries], work.known.replies)
    outcomes: dict[int, Outcome] = {}
    ended = asking.run(
        lambda verdict: outcomes.update({verdict.place: verdict.outcome}),
        answered=keep,
        limits=work.limits,
        budget=work.budget,
        by=work.by,
    )
    missing = Outcome("transport_error")
    without = [Outcome("graded", grade) for grade, _ in chosen]
    raised = flips(canaries, [outcomes.get(place, missing) for place in range(len(canaries))], without)
    parts = [f"{one.flipped} of {one.planted} by {one.trap}" for one in raised]
    rest = "" if ended.end == "done" else f"; stopped early: {ended.message}"
    sys.stderr.write(f"canaries: grades raised: {', '.join(parts)}{rest}\n")
    return ended


def _grade(work: Any, row: PairRow) -> int | None:
    key = pair_key(row.query_id, row.doc_id)
    grade: int | None = work.grades.get(key, work.earlier.get(key))
    return grade


def _top(work: Any) -> int:
    values = getattr(work.judge, "values", (0, 1))
    return int(values[-1])


def _worst(graded: Sequence[tuple[int | None, Context]], top: int, most: int, seed: int) -> list[tuple[int, Context]]:
    """Return the pairs with the lowest grades first, equal grades in random order; the highest grade cannot rise."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(graded))
    below = [(grade, graded[place][1]) for place in order if (grade := graded[place][0]) is not None and grade < top]
    return sorted(below, key=lambda one: one[0])[:most]
