"""Choice of additional pairwise comparisons: those that reduce the uncertainty of the scores most."""

from __future__ import annotations

from assay.core.errors import Conflict, NotValid
from assay.llm.pairwise.score_fitting import most_telling, swapped
from judgments.machines.pairwise.pair_selection import MOST_BATTLES, Draw
from judgments.machines.pairwise.scores import comparison_rows
from judgments.models import BattleRun

MOST_FURTHER = 1_000


def draw(run: BattleRun, number: int) -> Draw:
    """Return the next comparisons of a run, the most informative of each query, without storing them."""
    if not 1 <= number <= MOST_FURTHER:
        raise NotValid(
            "The number of comparisons is out of range.",
            {"number": f"Enter a number from 1 to {MOST_FURTHER:,} per query."},
        )
    names, rows = comparison_rows(run, None)
    if not any(row.score is not None for row in rows):
        raise Conflict(
            "No comparison has an answer yet. Additional comparisons are chosen by the answers, so wait for some "
            "answers."
        )
    keys = {name: pk for pk, name in names.items()}
    met = {frozenset(row[:2]) for row in run.drawn}
    telling = most_telling([(row.query_id, row.a, row.b, row.score) for row in rows], number)
    pairs = [(keys[query_id, a], keys[query_id, b]) for query_id, a, b in telling]
    new = [pair for pair in pairs if frozenset(pair) not in met]
    if not new:
        raise Conflict("All documents of these queries have been compared or are queued, so no comparison is left.")
    if run.battles + len(new) > MOST_BATTLES:
        raise NotValid(
            "The run would exceed its limit.", {"number": f"A run contains at most {MOST_BATTLES:,} comparisons."}
        )
    turned, both = swapped(len(new), run.both, seed=run.seed + run.battles)
    added = []
    for (a, b), first, twice in zip(new, turned, both, strict=True):
        added += [[a, b, int(first)], *([[a, b, int(not first)]] if twice else [])]
    documents = {pk for pair in new for pk in pair}
    return Draw(added, len({names[pk][0] for pk in documents}), len(documents), 0)
