"""Fit the scores of every query's documents to battles in file form, and choose new battles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from assay.core.errors import NotValid
from assay.llm.pairwise.battles import Battles, share_of_scores, share_of_votes
from assay.llm.pairwise.bradley_terry import PRIOR, fit, fit_as_zbench, next_pairs, standard_errors
from assay.llm.pairwise.pair_selection import draw_pairs, swapped

Method = Literal["map", "zbench"]
# The standard errors of a query need a document-by-document matrix.
MOST_WITH_ERRORS = 2_000


# Query, the two documents, the score, and the model, if known.
Row = tuple[str, str, str, float | None] | tuple[str, str, str, float | None, str]
# By pair: each answer's share for the second document, with the model that gave it.
Met = dict[tuple[str, str], list[tuple[float, str]]]


@dataclass(frozen=True)
class Fitted:
    """Scores of all queries.

    Parameters
    ----------
    scores : list of (query_id, doc_id, score, standard error or None)
        By query in order of first appearance, best document first.
    queries, battles : int
        Number of queries, and number of answers used.
    failed : int
        Number of rows without a score, which were left out.
    not_converged : int
        Number of queries whose scores still changed in the last step.
    voted : int
        Number of failed calls that count as votes for the first document, as in zbench.
    """

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

    Parameters
    ----------
    rows : iterable of (query_id, a, b, score) or (query_id, a, b, score, model)
        Scores from -1 (a) to 1 (b); None for a failed call, or for a pending battle if no model is named.
    method : {"map", "zbench"}
        ``map``: the most probable scores under a prior, from real-valued outcomes. Several answers about a pair, from
        several models or in both orders, form one battle weighted by the number of answers; a failed call is not an
        answer. ``zbench``: zbench's votes, weights and iteration. The weight of a pair is its number of answers divided
        by the number of models, because zbench's draws repeat pairs and each repeat counts; a score not above 0, or a
        failed call, is a vote for the first document.
    prior : float
        The precision of the prior, for ``map``.
    documents : mapping of str to sequence of str, optional
        All documents of the queries. ``zbench`` includes documents without a battle in the mean.

    Raises
    ------
    NotValid
        The method is unknown, or the prior is not above 0.

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
    """Draw the battles of each query.

    Parameters
    ----------
    documents : mapping of str to sequence of str
        The documents of each query, most likely relevant first.
    cycles : int
        Number of random rounds; see `pair_selection.draw_pairs`.
    seed : int
        Seed, combined with each query's id, so that an additional query does not change the draws of the others.
    most : int, optional
        Maximum number of documents per query, from the first.
    both : float
        The share of pairs shown in both orders.

    Returns
    -------
    list of (query_id, a, b, swapped)
        A pair shown in both orders appears twice.
    """
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
    """Return the pairs of each query whose battles would most reduce its uncertainty.

    Parameters
    ----------
    rows : iterable of (query_id, a, b, score)
        The battles so far, as for `fit_queries`.
    most : int
        Number of pairs per query.
    prior : float
        Precision of the prior, as for the fit.

    Returns
    -------
    list of (query_id, a, b)
        By query, most informative first; pairs already compared are skipped.
    """
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
