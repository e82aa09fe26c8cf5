"""Counted grades of a round, under the pseudonyms of its raters."""

from __future__ import annotations

from judgments.models import Judgment, Round


def pseudonyms(round_: Round) -> dict[int, str]:
    """Return the pseudonym of each rater that the round has ever had, by user id."""
    return dict(round_.raters.values_list("user_id", "pseudonym"))


def rating_rows(round_: Round, *, planned: bool = False) -> list[tuple[str, str, str, int]]:
    """Return the counted grades as (query_id, doc_id, pseudonym, grade)."""
    names = pseudonyms(round_)
    counted = Judgment.objects.counted().of_round(round_)
    counted = counted.planned() if planned else counted
    rows = counted.values_list("pair__query__query_id", "pair__document__doc_id", "rater_id", "grade")
    return [(query_id, doc_id, names[rater], grade) for query_id, doc_id, rater, grade in rows]
