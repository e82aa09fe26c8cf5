"""The ``judge`` action of ``assay zelo``: models compare two documents at a time."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.inputs.documents import documents, is_battles, texts
from assay.cli.options import ensemble, provider
from assay.cli.options.provider import warn_same_family
from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.llm.judges.ledger import Ledger, default_ledger_path

if TYPE_CHECKING:
    from assay.formats.battles_jsonl import Battle
    from assay.formats.row_types import PairRow
    from assay.llm.judge import Context
    from assay.llm.judges.bulk_judging import Asking, Plan, Verdict
    from assay.llm.judges.pairwise import Pairwise
    from assay.llm.providers.protocol import Endpoint

DONE, NOT_ALL = 0, 1


def judge(args: argparse.Namespace, pairwise: Pairwise | None = None) -> int:
    """Judge every battle with every model; answers in the ledger are reused."""
    from assay.llm.judges.bulk_judging import Asking
    from assay.llm.judges.pairwise import Pairwise

    battles, pairs = _battles(args)
    ready, lacking = _contexts(battles, pairs)
    if pairwise is None:
        guidelines = Path(args.guidelines).read_text(encoding="utf-8-sig") if args.guidelines else ""
        pairwise = Pairwise(guidelines=guidelines, seed=args.seed)
    models = ensemble.endpoints(args, key_needed=not args.dry_run)
    warn_same_family([one.model for one in models], args.under_test)
    providers = list(dict.fromkeys(one.protocol.name for one in models))
    shape = {
        "judge": "pairwise",
        **pairwise.provenance(),
        "provider": providers[0] if len(providers) == 1 else providers,
    }
    ledger = Ledger(default_ledger_path(args.out, args.ledger), hashlib.sha256(json.dumps(shape).encode()).hexdigest())
    known = ledger.known(repair=not args.dry_run)
    budget = ensemble.budget(args, models, known.spent, known.calls)
    limits, titles = provider.limits(args), ensemble.names(models)
    runs = [(one, Asking(pairwise, one, [context for _, context in ready], known.replies)) for one in models]
    if args.dry_run:
        sys.stdout.write(_estimate(runs, titles))
        return DONE
    counts: Counter[str] = Counter()
    rows: list[Battle] = []
    with _Output(args.out) as write:
        for (endpoint, asking), title in zip(runs, titles, strict=True):

            def on_verdict(verdict: Verdict, title: str = title, model: str = endpoint.model) -> None:
                # Two providers may serve a model under the same name, so the title takes precedence.
                name = (verdict.model or model) if title == model else title
                rows.append(_fought(ready[verdict.place][0], verdict, name))
                counts[verdict.outcome.name] += 1
                write(rows[-1])

            with ledger.opened(endpoint) as keep:
                ended = asking.run(on_verdict, answered=keep, limits=limits, budget=budget)
            if ended.end == "refused":
                what = f"{endpoint.protocol.title} refused {endpoint.model}: {ended.message}"
                raise NotValid(f"{what}; earlier answers are saved")
            if ended.end != "done":
                break
    lines = _judge_summary(rows, counts, lacking, len(models))
    if all(one.price_in is not None and one.price_out is not None for one in models):
        lines.append(f"spent: {budget.spent - known.spent:.4f} USD now, {budget.spent:.4f} USD in all")
    sys.stderr.write("\n".join(lines) + "\n")
    if ended.end != "done":
        sys.stderr.write(f"stopped early: {ended.message}; run the same command again to continue\n")
    return DONE if ended.end == "done" else NOT_ALL


def _battles(args: argparse.Namespace) -> tuple[list[Battle], list[PairRow]]:
    """Return the battles to judge, read or drawn, and the texts."""
    from assay.cli.zelo.grades import read_battles
    from assay.formats import battles_jsonl
    from assay.llm.pairwise.score_fitting import drawn_battles

    if is_battles(args.source):
        if not args.texts:
            raise NotValid(f"{args.source}: has battles without texts; add the texts with --texts FILE")
        fought = read_battles(args.source)
        once = {(row.query_id, row.a, row.b, row.swapped): row for row in fought}
        return list(once.values()), texts(args.texts)
    drawn = drawn_battles(documents(args.source), cycles=args.cycles, most=args.most, both=args.both, seed=args.seed)
    rows = [battles_jsonl.Battle(query_id, a, b, swapped=swapped) for query_id, a, b, swapped in drawn]
    return rows, texts(args.texts or args.source)


def _contexts(battles: Sequence[Battle], pairs: Sequence[PairRow]) -> tuple[list[tuple[Battle, Context]], int]:
    """Return the prompts of the battles, and the number of battles without the query or a text."""
    from assay.llm.judge import Context

    documents = {(row.query_id, row.doc_id): row for row in pairs}
    ready = []
    for battle in battles:
        a, b = documents.get((battle.query_id, battle.a)), documents.get((battle.query_id, battle.b))
        if a is None or b is None or not (a.text.strip() and b.text.strip() and a.query.strip()):
            continue
        first, second = (b, a) if battle.swapped else (a, b)
        ready.append((battle, Context(a.query, first.text, narrative=a.narrative, other=second.text)))
    if battles and not ready:
        raise NotValid("no battle has the query and the texts of both documents; add them with --texts FILE")
    return ready, len(battles) - len(ready)


def _fought(row: Battle, verdict: Verdict, model: str) -> Battle:
    shown = verdict.outcome.preference
    score = shown if shown is None or not row.swapped else -shown
    reason = verdict.outcome.rationale if shown is not None else verdict.outcome.name
    return replace(row, score=None if score is None else score + 0.0, model=model, reason=reason)


class _Output:
    """Output file or stream of battles, flushed after each one."""

    def __init__(self, out: str | None) -> None:
        self._stream = sys.stdout.buffer if out is None or out == "-" else Path(out).open("wb")  # noqa: SIM115

    def __enter__(self) -> Any:
        from assay.formats.battles_jsonl import write

        def add(row: Battle) -> None:
            write([row], self._stream)
            self._stream.flush()

        return add

    def __exit__(self, *fault: object) -> None:
        if self._stream is not sys.stdout.buffer:
            self._stream.close()


def _estimate(runs: Sequence[tuple[Endpoint, Asking]], titles: Sequence[str]) -> str:
    plans = [asking.plan for _, asking in runs]
    reading = [sum(plan.tokens_in[end] for plan in plans) for end in (0, 1)]
    lines = [
        f"models: {len(plans)}",
        f"questions to ask: {sum(plan.questions for plan in plans)}",
        f"answers in the ledger: {sum(plan.known for plan in plans)}",
        f"tokens to read: {reading[0]} to {reading[1]}",
        f"cost: {_cost(plans)}",
    ]
    if len(plans) > 1:
        each = zip(titles, plans, strict=True)
        lines += [f"  {title}: {amount(plan.questions, 'question')}, {_cost([plan])}" for title, plan in each]
    return "\n".join(lines) + "\n"


def _cost(plans: Sequence[Plan]) -> str:
    known = [plan.usd for plan in plans if plan.usd is not None]
    if len(known) < len(plans):
        return "unknown; add --price-in and --price-out, or set the prices of each model"
    return f"{sum(low for low, _ in known):.4f} to {sum(high for _, high in known):.4f} USD"


def _judge_summary(rows: Sequence[Battle], counts: Counter[str], lacking: int, models: int) -> list[str]:
    from assay.llm.pairwise.battles import first_place

    outcomes = ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "nothing"
    lines = [f"{amount(len(rows), 'answer')} from {amount(models, 'model')}: {outcomes}"]
    if failed := len(rows) - counts["graded"]:
        lines.append(f"note: {amount(failed, 'answer')} without a score; assay zelo fit leaves them out")
    if lacking:
        lines.append(f"note: {amount(lacking, 'battle')} skipped, because the query or a text is missing")
    place = first_place(rows)
    if place.share is not None:
        lines.append(f"the document shown first won {place.share:.1%} of {amount(place.answers, 'answer')}")
    if place.both:
        lines.append(
            f"the position alone decided {place.turned:,} of {amount(place.both, 'battle')} shown in both orders"
        )
    return lines
