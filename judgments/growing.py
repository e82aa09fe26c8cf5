"""Growing rounds: registry of the code that adds pairs to a round while it is open.

Choosing pairs needs runs and strategies, which this app does not know. The code that chooses registers here in its
`AppConfig`, is called when judgments arrive or pairs are leased, and adds pairs by `rounds.append_pairs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from judgments.core.family import Family
from judgments.models import Round


@dataclass(frozen=True)
class Chooser:
    """One who chooses.

    Attributes
    ----------
    wake : callable
        ``wake(round_)``: look whether pairs are wanted. It runs inside a rater's request, so it only puts work in line.
    told : callable
        ``told(round_)``: how far the choosing is, as plain JSON; None for a round that is not theirs.
    """

    wake: Callable[[Round], None]
    told: Callable[[Round], dict[str, Any] | None]


CHOOSERS: Family[Chooser] = Family("chooser of pairs", {})


def wake(round_: Round) -> None:
    """Tell the choosers of a growing round to look, once what was written is there to be seen.

    What fails in a chooser is logged and fails nothing else: an answer is on record already.
    """
    if not round_.growing:
        return
    for name in CHOOSERS:
        transaction.on_commit(lambda chooser=CHOOSERS[name]: chooser.wake(round_), robust=True)


def told(round_: Round) -> dict[str, Any] | None:
    """What the round's chooser says about it; None for a round whose pairs are fixed."""
    if round_.most_pairs is None:
        return None
    return next((said for name in CHOOSERS if (said := CHOOSERS[name].told(round_)) is not None), None)
