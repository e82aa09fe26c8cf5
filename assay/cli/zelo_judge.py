"""The ``judge`` act of ``assay zelo``: let models compare two documents at a time."""

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

from assay.cli import ensemble_options, provider_options
from assay.cli.families import tell_kin
from assay.cli.ledger import Ledger, beside
from assay.cli.text_table import counted
from assay.cli.zelo_documents import documents, is_battles, texts
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats.battles_jsonl import Battle
    from judgments.formats.rows import PairRow
    from judgments.judges.asking import Answered, Asking, Plan, Verdict
    from judgments.judges.contract import Context
    from judgments.judges.pairwise import Pairwise
    from judgments.providers.protocol import Endpoint

DONE, NOT_ALL = 0, 1


def judge(args: argparse.Namespace, asked: Pairwise | None = None) -> int:
    """Ask every model about every battle; answers that are known are not asked for again.

    Parameters
    ----------
    args : Namespace
        The options of ``assay zelo judge``, with their defaults.
    asked : Pairwise, optional
        In whose words; those of zelo, told the guidelines and the seed, where None.

    Raises
    ------
    NotValid
        No texts, no model, a key that is refused, or numbers out of bounds.
    """
    from judgments.judges.asking import Asking
    from judgments.judges.pairwise import Pairwise

    battles, pairs = _battles(args)
    ready, lacking = _contexts(battles, pairs)
    if asked is None:
        guidelines = Path(args.guidelines).read_text(encoding="utf-8-sig") if args.guidelines else ""
        asked = Pairwise(guidelines=guidelines, seed=args.seed)
    models = ensemble_options.endpoints(args, key_needed=not args.dry_run)
    tell_kin([one.model for one in models], args.under_test)
    providers = list(dict.fromkeys(one.protocol.name for one in models))
    shape = {"judge": "pairwise", **asked.provenance(), "provider": providers[0] if len(providers) == 1 else providers}
    ledger = Ledger(beside(args.out, args.ledger), hashlib.sha256(json.dumps(shape).encode()).hexdigest())
    known = ledger.known(mend=not args.dry_run)
    budget = ensemble_options.budget(args, models, known.spent, known.calls)
    limits, titles = provider_options.limits(args), ensemble_options.names(models)
    runs = [(one, Asking(asked, one, [context for _, context in ready], known.replies)) for one in models]
    if args.dry_run:
        sys.stdout.write(_estimate(runs, titles))
        return DONE
    counts: Counter[str] = Counter()
    rows: list[Battle] = []
    with _Output(args.out) as write:
        for (endpoint, asking), title in zip(runs, titles, strict=True):

            def told(verdict: Verdict, title: str = title, model: str = endpoint.model) -> None:
                # Two providers may serve a model under one name: then the answer's own name tells them not apart.
                name = (verdict.model or model) if title == model else title
                rows.append(_fought(ready[verdict.place][0], verdict, name))
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
    if all(one.price_in is not None and one.price_out is not None for one in models):
        told_lines.append(f"spent: {budget.spent - known.spent:.4f} USD now, {budget.spent:.4f} USD in all")
    sys.stderr.write("\n".join(told_lines) + "\n")
    if ended.end != "done":
        sys.stderr.write(f"not all was asked: {ended.said}; give the same command again to go on\n")
    return DONE if ended.end == "done" else NOT_ALL


def _battles(args: argparse.Namespace) -> tuple[list[Battle], list[PairRow]]:
    """The battles that are to be fought, drawn here or before, and the texts."""
    from assay.cli.zelo_scores import read_battles
    from judgments.formats import battles_jsonl
    from judgments.preferences.fitting import drawn_battles

    if is_battles(args.source):
        if not args.texts:
            raise NotValid(f"{args.source}: battles name documents; --texts FILE has what they say")
        found = read_battles(args.source)
        once = {(row.query_id, row.a, row.b, row.swapped): row for row in found}
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
    return replace(row, score=None if score is None else score + 0.0, model=model, reason=reason)


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


def _estimate(runs: Sequence[tuple[Endpoint, Asking]], titles: Sequence[str]) -> str:
    plans = [asking.plan for _, asking in runs]
    reading = [sum(plan.tokens_in[end] for plan in plans) for end in (0, 1)]
    lines = [
        f"models: {len(plans)}",
        f"questions to ask: {sum(plan.questions for plan in plans)}",
        f"answers known: {sum(plan.known for plan in plans)}",
        f"tokens to read: {reading[0]} to {reading[1]}",
        f"cost: {_cost(plans)}",
    ]
    if len(plans) > 1:
        each = zip(titles, plans, strict=True)
        lines += [f"  {title}: {counted(plan.questions, 'question')}, {_cost([plan])}" for title, plan in each]
    return "\n".join(lines) + "\n"


def _cost(plans: Sequence[Plan]) -> str:
    known = [plan.usd for plan in plans if plan.usd is not None]
    if len(known) < len(plans):
        return "not known; give --price-in and --price-out, or each model its own"
    return f"{sum(low for low, _ in known):.4f} to {sum(high for _, high in known):.4f} USD"


def _told(rows: Sequence[Battle], counts: Counter[str], lacking: int, models: int) -> list[str]:
    from judgments.preferences.position_bias import first_place

    told = ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "nothing"
    lines = [f"{counted(len(rows), 'answer')} of {models} {'model' if models == 1 else 'models'}: {told}"]
    if failed := len(rows) - counts["graded"]:
        lines.append(f"note: without a score: {counted(failed, 'answer')}; assay zelo fit leaves them out")
    if lacking:
        lines.append(f"note: not fought, without the query or a text: {counted(lacking, 'battle')}")
    place = first_place(rows)
    if place.share is not None:
        lines.append(f"the document that was shown first won {place.share:.1%} of {counted(place.answers, 'answer')}")
    if place.both:
        lines.append(
            f"of {counted(place.both, 'battle')} shown in both orders, the place alone decided {place.turned:,}"
        )
    return lines
