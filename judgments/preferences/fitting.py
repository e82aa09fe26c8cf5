"""What are the scores of every query's documents, from rows of battles as files hold them?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from judgments.core.errors import NotValid
from judgments.preferences.battles import Battles, share_of_scores, share_of_votes
from judgments.preferences.bradley_terry import PRIOR, fit, fit_as_zbench, next_pairs, standard_errors
from judgments.preferences.cycles import draw_pairs, swapped

Method = Literal["map", "zbench"]
# The standard errors of a query need a matrix of its documents by its documents.
MOST_WITH_ERRORS = 2_000


@dataclass(frozen=True)
class Fitted:
    """The scores of all queries.

    Parameters
    ----------
    scores : list of (query_id, doc_id, score, standard error or None)
        By query in the order in which they first come, best document first.
    queries, battles : int
        How many queries there are, and how many answers were used.
    failed : int
        Rows without a score: they were left out.
    not_converged : int
        Queries whose scores still moved at the last step.
    """

    scores: list[tuple[str, str, float, float | None]]
    queries: int
    battles: int
    failed: int
    not_converged: int


def fit_queries(
    rows: Iterable[tuple[str, str, str, float | None]], *, method: Method = "map", prior: float = PRIOR
) -> Fitted:
    """Fit each query by itself.

    Parameters
    ----------
    rows : iterable of (query_id, a, b, score)
        Scores from -1 (a) to 1 (b); None is a call that failed. Several rows of one pair, of several models or in both
        orders, are one battle that counts as often as there are answers.
    method : {"map", "zbench"}
        The most probable scores under a prior, from real-valued outcomes; or zbench's votes and iteration.
    prior : float
        The precision of the prior, for ``map``.

    Raises
    ------
    NotValid
        An unknown method, or a prior not above 0.
    """
    if method not in ("map", "zbench"):
        raise NotValid(f"the method is map or zbench, not {method!r}")
    queries: dict[str, dict[tuple[str, str], list[float]]] = {}
    failed = 0
    for query_id, a, b, score in rows:
        met = queries.setdefault(query_id, {})
        if score is None:
            failed += 1
        elif (b, a) in met:
            met[b, a].append(-score)
        else:
            met.setdefault((a, b), []).append(score)
    scores: list[tuple[str, str, float, float | None]] = []
    moving = 0
    for query_id, met in queries.items():
        found, settled = _fit(met, method, prior)
        scores += [(query_id, *row) for row in found]
        moving += not settled
    used = sum(len(answers) for met in queries.values() for answers in met.values())
    return Fitted(scores, len(queries), used, failed, moving)


def _fit(
    met: Mapping[tuple[str, str], Sequence[float]], method: Method, prior: float
) -> tuple[list[tuple[str, float, float | None]], bool]:
    places = {doc_id: place for place, doc_id in enumerate(dict.fromkeys(doc for pair in met for doc in pair))}
    share = share_of_scores if method == "map" else share_of_votes
    rows = [(places[a], places[b], share(answers) or 0.0) for (a, b), answers in met.items()]
    # zbench counts each pair once, however many models answered.
    weights = [float(len(answers)) if method == "map" else 1.0 for answers in met.values()]
    battles = Battles.of(len(places), rows, weights)
    fitted = fit(battles, prior=prior) if method == "map" else fit_as_zbench(battles)
    errors: list[float | None] = [None] * len(places)
    if method == "map" and len(places) <= MOST_WITH_ERRORS:
        errors = list(standard_errors(battles, fitted, prior=prior).tolist())
    found = [(doc_id, float(fitted.scores[place]), errors[place]) for doc_id, place in places.items()]
    return sorted(found, key=lambda row: (-row[1], row[0].encode())), fitted.converged


def drawn_battles(
    documents: Mapping[str, Sequence[str]], *, cycles: int, seed: int, most: int | None = None, both: float = 0.0
) -> list[tuple[str, str, str, bool]]:
    """Draw who meets whom in each query.

    Parameters
    ----------
    documents : mapping of str to sequence of str
        The documents of each query, the likeliest first.
    cycles : int
        Random rounds: see `cycles.draw_pairs`.
    seed : int
        Each query draws by it and its own id, so that one more query changes nothing for the others.
    most : int, optional
        Only so many documents of each query, from the first.
    both : float
        The share of pairs that is shown in both orders.

    Returns
    -------
    list of (query_id, a, b, swapped)
        A pair that is shown in both orders stands there twice.
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
    """Name the pairs whose battles would make the scores of each query surer soonest.

    Parameters
    ----------
    rows : iterable of (query_id, a, b, score)
        Fought so far, as `fit_queries` takes them.
    most : int
        How many of each query.
    prior : float
        As for the fit.

    Returns
    -------
    list of (query_id, a, b)
        By query, the most telling first; pairs that met already are passed over.
    """
    queries: dict[str, list[tuple[str, str, float]]] = {}
    for query_id, a, b, score in rows:
        if score is not None:
            queries.setdefault(query_id, []).append((a, b, score))
    found: list[tuple[str, str, str]] = []
    for query_id, met in queries.items():
        names = list(dict.fromkeys(doc for a, b, _ in met for doc in (a, b)))
        places = {name: place for place, name in enumerate(names)}
        battles = Battles.of(
            len(names), [(places[a], places[b], share_of_scores([score]) or 0.0) for a, b, score in met]
        )
        worth = next_pairs(battles, fit(battles, prior=prior), most, prior=prior)
        found += [(query_id, names[a], names[b]) for a, b, _ in worth]
    return found


def _seed_of(seed: int, query_id: str) -> int:
    import hashlib

    return int.from_bytes(hashlib.sha256(f"{seed} {query_id}".encode()).digest()[:6], "big")
