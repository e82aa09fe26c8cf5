"""Draft round of the pairs that machine judges leave to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgments.models import Pair, Round, User
from judgments.rounds import rounds
from judgments.rounds.rerating import LONGEST_NAME, still_raters
from judgments.rounds.settings import RoundSettings


def draft_of(
    round_: Round,
    pairs: Sequence[Pair],
    *,
    origin: Mapping[str, Any],
    actor: User,
    raters: Sequence[User] | None = None,
) -> Round:
    """Create a draft round of some pairs of a round, with its raters, scale and guidelines."""
    ordered = sorted(pairs, key=lambda pair: pair.position)
    return rounds.create_round(
        round_.collection,
        name=_free_name(round_),
        # The reason for the choice is left out, because it would reveal machine results.
        candidates=[rounds.Candidate(pair.query, pair.document, pair.origin) for pair in ordered],
        provenance={**round_.provenance, "pairs": len(ordered), **origin},
        guidelines=round_.guidelines,
        actor=actor,
        grades=list(round_.scale.grades.order_by("value").values_list("value", "label", "cue")),
        relevant_from=round_.scale.relevant_from,
        settings=RoundSettings.of(round_),
        ratings_per_pair=round_.ratings_per_pair,
        overlap=round_.overlap,
        raters=still_raters(round_) if raters is None else raters,
        seed=round_.seed,
        dimension=round_.dimension,
    )


def _free_name(round_: Round) -> str:
    taken = set(round_.collection.rounds.values_list("name", flat=True))
    stem, number = f"{round_.name[: LONGEST_NAME - 20]}, for people", 1
    while (name := stem if number == 1 else f"{stem} {number}") in taken:
        number += 1
    return name
