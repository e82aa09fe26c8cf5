"""What do models say of two documents at a time?"""

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

from assay.cli import provider_options
from assay.cli.ledger import Ledger, beside
from assay.cli.zelo_documents import documents, is_battles, texts
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats.battles_jsonl import Battle
    from judgments.formats.rows import PairRow
    from judgments.judges.asking import Answered, Verdict
    from judgments.judges.contract import Context

DONE, NOT_ALL = 0, 1


def judge(args: argparse.Namespace) -> int:
    """Ask every model about every battle; answers that are known are not asked for again.

    Raises
    ------
    NotValid
        No texts, no model, a key that is refused, or numbers out of bounds.
    """
    from judgments.judges.asking import Asking
    from judgments.judges.pairwise import Pairwise

    battles, pairs = _battles(args)
    ready, lacking = _contexts(battles, pairs)
    guidelines = Path(args.guidelines).read_text(encoding="utf-8-sig") if args.guidelines else ""
    asked = Pairwise(guidelines=guidelines, seed=args.seed)
    shape = {"judge": "pairwise", **asked.provenance(), "provider": args.provider or provider_options.DEFAULT}
    ledger = Ledger(beside(args.out, args.ledger), hashlib.sha256(json.dumps(shape).encode()).hexdigest())
    known = ledger.known(mend=not args.dry_run)
    models = [provider_options.endpoint(args, name, key_needed=not args.dry_run) for name in args.model or [""]]
    budget, limits = provider_options.budget(args, known.spent, known.calls), provider_options.limits(args)
    runs = [(one, Asking(asked, one, [context for _, context in ready], known.replies)) for one in models]
    if args.dry_run:
        sys.stdout.write(_estimate(runs))
        return DONE
    counts: Counter[str] = Counter()
    rows: list[Battle] = []
    with _Output(args.out) as write:
        for endpoint, asking in runs:

            def told(verdict: Verdict, model: str = endpoint.model) -> None:
                row = ready[verdict.place][0]
                rows.append(_fought(row, verdict, model))
                counts[verdict.outcome.name] += 1
                write(rows[-1])

            with ledger.opened(endpoint) as keep:
                ended = asking.run(told, answered=_kept(keep), limits=limits, budget=budget)
            if ended.end == "refused":
                what = f"{endpoint.protocol.title} refused {endpoint.model}: {ended.said}"
                raise NotValid(f"{what}; what was answered before is kept")
            if ended.end != "done":
                break
    told_lines = _told(rows, counts, lacking, len(models))
    if args.price_in is not None and args.price_out is not None:
        told_lines.append(f"spent: {budget.spent - known.spent:.4f} USD now, {budget.spent:.4f} USD in all")
    sys.stderr.write("\n".join(told_lines) + "\n")
    if ended.end != "done":
        sys.stderr.write(f"not all was asked: {ended.said}; give the same command again to go on\n")
    return DONE if ended.end == "done" else NOT_ALL


def _battles(args: argparse.Namespace) -> tuple[list[Battle], list[PairRow]]:
    """The battles that are to be fought, drawn here or before, and the texts."""
    from judgments.formats import battles_jsonl
    from judgments.preferences.fitting import drawn_battles

    if is_battles(args.source):
        if not args.texts:
            raise NotValid(f"{args.source}: battles name documents; --texts FILE has what they say")
        found = battles_jsonl.read(Path(args.source), path=args.source)
        found.report.raise_if_errors()
        once = {(row.query_id, row.a, row.b, row.swapped): row for row in found.rows}
        return list(once.values()), texts(args.texts)
    drawn = drawn_battles(documents(args.source), cycles=args.cycles, most=args.most, both=args.both, seed=args.seed)
    rows = [battles_jsonl.Battle(query_id, a, b, swapped=swapped) for query_id, a, b, swapped in drawn]
    return rows, texts(args.texts or args.source)


def _contexts(battles: Sequence[Battle], pairs: Sequence[PairRow]) -> tuple[list[tuple[Battle, Context]], int]:
    """Each battle as it is shown; battles without both texts or the query are left out and counted."""
    from judgments.judges.contract import Context

    said = {(row.query_id, row.doc_id): row for row in pairs}
    found = []
    for battle in battles:
        a, b = said.get((battle.query_id, battle.a)), said.get((battle.query_id, battle.b))
        if a is None or b is None or not (a.text.strip() and b.text.strip() and a.query.strip()):
            continue
        first, second = (b, a) if battle.swapped else (a, b)
        found.append((battle, Context(a.query, first.text, narrative=a.narrative, other=second.text)))
    if battles and not found:
        raise NotValid("no battle has the query and the texts of both documents; --texts FILE names a file with them")
    return found, len(battles) - len(found)


def _fought(row: Battle, verdict: Verdict, model: str) -> Battle:
    shown = verdict.outcome.preference
    score = shown if shown is None or not row.swapped else -shown
    reason = verdict.outcome.rationale if shown is not None else verdict.outcome.name
    return replace(row, score=None if score is None else score + 0.0, model=verdict.model or model, reason=reason)


def _kept(keep: Any) -> Any:
    def answered(call: Answered) -> None:
        keep(call)

    return answered


class _Output:
    """Battles written one by one, each kept as it comes."""

    def __init__(self, out: str | None) -> None:
        self._stream = sys.stdout.buffer if out is None or out == "-" else Path(out).open("wb")  # noqa: SIM115

    def __enter__(self) -> Any:
        from judgments.formats.battles_jsonl import write

        def add(row: Battle) -> None:
            write([row], self._stream)
            self._stream.flush()

        return add

    def __exit__(self, *fault: object) -> None:
        if self._stream is not sys.stdout.buffer:
            self._stream.close()


def _estimate(runs: Sequence[Any]) -> str:
    plans = [asking.plan for _, asking in runs]
    low = sum(plan.usd[0] for plan in plans if plan.usd), sum(plan.usd[1] for plan in plans if plan.usd)
    priced = all(plan.usd is not None for plan in plans)
    cost = f"{low[0]:.4f} to {low[1]:.4f} USD" if priced else "not known; give --price-in and --price-out"
    reading = [sum(plan.tokens_in[end] for plan in plans) for end in (0, 1)]
    return (
        f"models: {len(plans)}\nquestions to ask: {sum(plan.questions for plan in plans)}\n"
        f"answers known: {sum(plan.known for plan in plans)}\n"
        f"tokens to read: {reading[0]} to {reading[1]}\ncost: {cost}\n"
    )


def _told(rows: Sequence[Battle], counts: Counter[str], lacking: int, models: int) -> list[str]:
    from judgments.preferences.position_bias import first_place

    told = ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "nothing"
    lines = [f"{len(rows):,} answers of {models} {'model' if models == 1 else 'models'}: {told}"]
    if failed := len(rows) - counts["graded"]:
        lines.append(f"note: {failed:,} answers have no score; assay zelo fit leaves them out")
    if lacking:
        lines.append(f"note: {lacking:,} battles lack the query or a text, and were not fought")
    place = first_place(rows)
    if place.share is not None:
        lines.append(f"the document that was shown first won {place.share:.1%} of {place.answers:,} answers")
    if place.both:
        lines.append(f"of {place.both:,} battles shown in both orders, the place alone decided {place.turned:,}")
    return lines
