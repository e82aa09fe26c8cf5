"""Choice of further pairwise comparisons: draw those that reduce the uncertainty of the scores most."""

from __future__ import annotations

from judgments.battle_draws import MOST_BATTLES, Draw
from judgments.battle_scores import fought_rows
from judgments.core.errors import Conflict, NotValid
from judgments.models import BattleRun
from judgments.preferences.cycles import swapped
from judgments.preferences.fitting import most_telling

MOST_FURTHER = 1_000


def draw(run: BattleRun, number: int) -> Draw:
    """Draw the next battles of a run, the most telling of each query; nothing is stored.

    Parameters
    ----------
    run : BattleRun
        With answers.
    number : int
        How many of each query at most; fewer where nearly all have met. Some stand there twice, for both orders.

    Raises
    ------
    NotValid
        The number is out of bounds, or the run would hold too many.
    Conflict
        Nobody has fought yet, or all have met.
    """
    if not 1 <= number <= MOST_FURTHER:
        raise NotValid("How many battles?", {"number": f"From 1 to {MOST_FURTHER:,} of each query."})
    names, rows = fought_rows(run, None)
    if not any(row.score is not None for row in rows):
        raise Conflict("No battle has an answer yet; what is worth knowing next hangs on those.")
    keys = {name: pk for pk, name in names.items()}
    met = {frozenset(row[:2]) for row in run.drawn}
    telling = most_telling([(row.query_id, row.a, row.b, row.score) for row in rows], number)
    pairs = [(keys[query_id, a], keys[query_id, b]) for query_id, a, b in telling]
    new = [pair for pair in pairs if frozenset(pair) not in met]
    if not new:
        raise Conflict("All documents of these queries have met, or wait to: there is no further battle.")
    if run.battles + len(new) > MOST_BATTLES:
        raise NotValid("Too many battles.", {"number": f"A run holds {MOST_BATTLES:,}."})
    turned, both = swapped(len(new), run.both, seed=run.seed + run.battles)
    added = []
    for (a, b), first, twice in zip(new, turned, both, strict=True):
        added += [[a, b, int(first)], *([[a, b, int(not first)]] if twice else [])]
    documents = {pk for pair in new for pk in pair}
    return Draw(added, len({names[pk][0] for pk in documents}), len(documents), 0)
