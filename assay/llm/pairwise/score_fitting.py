"""Fit the scores of every query's documents to battles in file form, and choose new battles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.llm.pairwise.battles import Battles, share_of_scores, share_of_votes
from assay.llm.pairwise.bradley_terry import PRIOR, fit, fit_as_zbench, next_pairs, standard_errors


# A cycle arranges the documents in a random ring and compares neighbors, so that every document has two battles and
# all documents are connected. A few cycles give almost as much information as all pairs.
def draw_pairs(documents: int, cycles: int = 4, *, seed: int) -> list[tuple[int, int]]:
    """Draw the distinct pairs of several random cycles.

    Examples
    --------
    >>> draw_pairs(1, seed=1), len(draw_pairs(2, seed=1)), len(draw_pairs(25, 4, seed=1)) <= 100
    ([], 1, True)
    """
    if documents < 0 or cycles < 1:
        raise NotValid(f"cannot draw {amount(documents, 'document')} in {cycles} cycles; use at least one cycle")
    rng = np.random.default_rng(seed)
    seen: dict[tuple[int, int], tuple[int, int]] = {}
    for _ in range(cycles if documents > 1 else 0):
        order = rng.permutation(documents).tolist()
        for first, second in zip(order, [*order[1:], order[0]], strict=True):
            seen.setdefault((min(first, second), max(first, second)), (first, second))
    return list(seen.values())


def swapped(pairs: int, share: float, *, seed: int) -> tuple[list[bool], list[bool]]:
    """Return which battles are shown in reverse order, and which in both orders.

    Examples
    --------
    >>> other, both = swapped(10, 0.2, seed=3)
    >>> len(other), sum(both)
    (10, 2)
    """
    if not 0 <= share <= 1:
        raise NotValid(f"the share shown in both orders is {share:g}; use a number from 0 to 1")
    rng = np.random.default_rng(seed)
    other = rng.random(pairs) < 0.5
    both = np.zeros(pairs, dtype=bool)
    both[rng.permutation(pairs)[: round(share * pairs)]] = True
    return other.tolist(), both.tolist()


Method = Literal["map", "zbench"]
# The standard errors of a query need a document-by-document matrix.
MOST_WITH_ERRORS = 2_000


# Query, the two documents, the score, and the model, if known.
Row = tuple[str, str, str, float | None] | tuple[str, str, str, float | None, str]
# By pair: each answer's share for the second document, with the model that gave it.
Met = dict[tuple[str, str], list[tuple[float, str]]]


@dataclass(frozen=True)
class Fitted:
    """Scores of all queries."""

    scores: list[tuple[str, str, float, float | None]]
    queries: int
    battles: int
    failed: int
    not_converged: int
    voted: int = 0


def fit_queries(
    rows: Iterable[Row],
    *,
    method: Method = "map",
    prior: float = PRIOR,
    documents: Mapping[str, Sequence[str]] | None = None,
) -> Fitted:
    """Fit each query separately.

    Examples
    --------
    >>> rows = [("q", "x", "y", 0.2, "m"), ("q", "y", "x", -0.4, "m"), ("q", "x", "y", None, "m")]
    >>> [(doc, round(score, 2)) for _, doc, score, _ in fit_queries(rows, method="zbench").scores]
    [('y', 0.35), ('x', -0.35)]
    """
    if method not in ("map", "zbench"):
        raise NotValid(f"unknown method {method!r}; use map or zbench")
    queries: dict[str, Met] = {}
    failed = voted = 0
    for row in rows:
        met = queries.setdefault(row[0], {})
        model = row[4] if len(row) == 5 else ""
        share = _share(row[3], model, method)
        if share is None:
            failed += 1
            continue
        voted += row[3] is None
        pair = (row[1], row[2])
        if pair[::-1] in met:
            met[pair[::-1]].append((1 - share, model))
        else:
            met.setdefault(pair, []).append((share, model))
    scores: list[tuple[str, str, float, float | None]] = []
    moving = 0
    for query_id, met in queries.items():
        beside = () if documents is None or method == "map" else documents.get(query_id, ())
        fitted_rows, settled = _fit(met, method, prior, beside)
        scores += [(query_id, *one) for one in fitted_rows]
        moving += not settled
    used = sum(len(answers) for met in queries.values() for answers in met.values())
    return Fitted(scores, len(queries), used - voted, failed, moving, voted)


def _share(score: float | None, model: str, method: Method) -> float | None:
    """Return the second document's share from an answer; None without an answer."""
    if method == "map":
        return None if score is None else share_of_scores([score])
    if score is None:
        return 0.0 if model else None
    return share_of_votes([score])


def _fit(
    met: Met, method: Method, prior: float, beside: Sequence[str]
) -> tuple[list[tuple[str, float, float | None]], bool]:
    named = dict.fromkeys([*(doc for pair in met for doc in pair), *beside]) if met else {}
    places = {doc_id: place for place, doc_id in enumerate(named)}
    rows = [(places[a], places[b], fmean(share for share, _ in answers)) for (a, b), answers in met.items()]
    battles = Battles.of(len(places), rows, [_weight(answers, method) for answers in met.values()])
    fitted = fit(battles, prior=prior) if method == "map" else fit_as_zbench(battles)
    errors: list[float | None] = [None] * len(places)
    if method == "map" and len(places) <= MOST_WITH_ERRORS:
        errors = list(standard_errors(battles, fitted, prior=prior).tolist())
    fitted_rows = [(doc_id, float(fitted.scores[place]), errors[place]) for doc_id, place in places.items()]
    return sorted(fitted_rows, key=lambda row: (-row[1], row[0].encode())), fitted.converged


def _weight(answers: Sequence[tuple[float, str]], method: Method) -> float:
    return len(answers) / (1 if method == "map" else len({model for _, model in answers}))


def drawn_battles(
    documents: Mapping[str, Sequence[str]], *, cycles: int, seed: int, most: int | None = None, both: float = 0.0
) -> list[tuple[str, str, str, bool]]:
    """Draw the battles of each query."""
    rows: list[tuple[str, str, str, bool]] = []
    for query_id, listed in documents.items():
        taken = list(listed)[:most]
        own = _seed_of(seed, query_id)
        pairs = draw_pairs(len(taken), cycles, seed=own)
        other, twice = swapped(len(pairs), both, seed=own + 1)
        for (a, b), turned, again in zip(pairs, other, twice, strict=True):
            rows.append((query_id, taken[a], taken[b], turned))
            if again:
                rows.append((query_id, taken[a], taken[b], not turned))
    return rows


def most_telling(
    rows: Iterable[tuple[str, str, str, float | None]], most: int, *, prior: float = PRIOR
) -> list[tuple[str, str, str]]:
    """Return the pairs of each query whose battles would most reduce its uncertainty."""
    queries: dict[str, list[tuple[str, str, float]]] = {}
    for query_id, a, b, score in rows:
        if score is not None:
            queries.setdefault(query_id, []).append((a, b, score))
    pairs: list[tuple[str, str, str]] = []
    for query_id, met in queries.items():
        names = list(dict.fromkeys(doc for a, b, _ in met for doc in (a, b)))
        places = {name: place for place, name in enumerate(names)}
        battles = Battles.of(
            len(names), [(places[a], places[b], share_of_scores([score]) or 0.0) for a, b, score in met]
        )
        worth = next_pairs(battles, fit(battles, prior=prior), most, prior=prior)
        pairs += [(query_id, names[a], names[b]) for a, b, _ in worth]
    return pairs


def _seed_of(seed: int, query_id: str) -> int:
    import hashlib

    return int.from_bytes(hashlib.sha256(f"{seed} {query_id}".encode()).digest()[:6], "big")
