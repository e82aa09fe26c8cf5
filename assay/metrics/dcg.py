"""Discounted cumulative gain (DCG) and its normalized form (nDCG)."""

from __future__ import annotations

import re

import numpy as np

from assay.metrics.judged_rankings import Floats, Integers, JudgedRankings, power_of_two, share
from assay.metrics.metric import JUDGED_ONLY, Metric, Parameter, Value
from assay.metrics.metric_bounds import Additive, Response, nothing, within

# Ten million of these can be summed in float64; no scale comes close.
MOST_GAIN = 1e100
MOST_SHOWN = 40
ONE_GAIN = re.compile(r"(\d+(?:\.\d+)?|\.\d+)[:=](\d+(?:\.\d+)?|\.\d+)")


def dcg(rankings: JudgedRankings, cutoff: int | None = None, gain: str = "linear", gains: str | None = None) -> Floats:
    """Compute the discounted cumulative gain, the sum of gain / log2(rank + 1).

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The last rank that counts.
    gain : {"linear", "exp"}
        The gain of a grade g: g, or 2^g - 1.
    gains : str, optional
        Gains of specific grades, such as ``"{1:3,2:9}"``. `gain` determines the gain of other grades.

    Returns
    -------
    float64 array, shape (queries,)
        0 or more; not comparable between queries. 0 if no document with a positive gain was returned.

    Examples
    --------
    >>> dcg(JudgedRankings.of((3, {1: 3, 2: 0, 3: 1}, [3, 2, 1, 0, 0])), cutoff=3)
    array([3.5])
    """
    gained_there = gained(rankings.grades, gain, gains)
    return rankings.total(gained_there / np.log2(rankings.ranks + 1), rankings.within(cutoff))


def gained(grades: Floats, gain: str, gains: str | None = None) -> Floats:
    """Compute the gains of grades; a negative grade has a gain of 0."""
    positive = np.maximum(grades, 0.0)
    values: Floats = positive if gain == "linear" else power_of_two(positive) - 1.0
    if gains is not None:
        values = values.copy()
        for grade, value in _pairs(gains):
            values[grades == grade] = value
    return values


def gain_of(grades: Floats, gain: str = "linear", gains: str | None = None, **_: object) -> Floats:
    """Compute the gains of grades, ignoring other parameters of the metric."""
    return gained(grades, gain, gains)


def discount(ranks: Integers, cutoff: int | None, **_: object) -> Floats:
    """Compute the discount at each rank."""
    return within(ranks, cutoff) / np.log2(ranks + 1)


def read_gains(text: str) -> Value:
    """Parse ``{1:3,2:9}``, also with ``=`` instead of colons; the result is sorted by grade.

    Raises
    ------
    ValueError
        When the text is not valid or contains a grade twice.

    Examples
    --------
    >>> read_gains("{2=9,1=3.0}")
    '{1:3,2:9}'
    """
    parts = text.removeprefix("{").removesuffix("}").split(",")
    if not all(ONE_GAIN.fullmatch(part) for part in parts):
        raise ValueError(f"must map grades to gains of 0 or more, as in {{1:3,2:9}}, not {text!r}")
    pairs = sorted((float(grade), float(value)) for grade, value in (re.split("[:=]", part) for part in parts))
    if len({grade for grade, _ in pairs}) < len(pairs):
        raise ValueError(f"contains a grade twice: {text!r}")
    if any(max(pair) > MOST_GAIN for pair in pairs):
        shown = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
        raise ValueError(f"allows grades and gains up to {MOST_GAIN:g}, not {shown!r}")
    return "{" + ",".join(f"{_plain(grade)}:{_plain(value)}" for grade, value in pairs) + "}"


def _pairs(gains: str) -> list[tuple[float, float]]:
    return [(float(grade), float(value)) for grade, value in ONE_GAIN.findall(gains)]


def _plain(number: float) -> str:
    return str(int(number)) if number.is_integer() else str(number)


GAIN = Parameter(
    "gain",
    "linear",
    "The gain of a grade g: `linear` is g, `exp` is 2^g - 1.",
    choices=("linear", "exp"),
    also={"dcg=exp-log2": "exp", "dcg=log2": "linear"},
)
GAINS = Parameter(
    "gains",
    None,
    "The gains of specific grades, as in `{1:3,2:9}`; the gains of other grades depend on `gain`.",
    read=read_gains,
    trec=lambda gains: "_" + str(gains)[1:-1].replace(":", "="),
)

DCG = Metric(
    name="DCG",
    bounded=False,
    title="Discounted cumulative gain",
    description="The gain of the top k documents, discounted by rank but not normalized; compare it only within "
    "a query.",
    formula="sum over ranks i of gain(g_i) / log2(i + 1); unjudged documents and negative grades gain 0.",
    source="Järvelin and Kekäläinen 2002; the discount of trec_eval's ndcg_cut. gain=exp: Burges and others 2005.",
    per_query=dcg,
    parameters=(GAIN, GAINS),
    aliases={"dcg_burges": {"gain": "exp"}, "dcg_exp": {"gain": "exp"}},
    response=Response("rising", Additive(gain_of, discount)),
)


def ndcg(rankings: JudgedRankings, cutoff: int | None = None, gain: str = "linear", gains: str | None = None) -> Floats:
    """Compute the normalized discounted cumulative gain.

    Parameters
    ----------
    rankings : JudgedRankings
        The ranks of the judged documents of each query.
    cutoff : int, optional
        The last rank that counts, for the run and the ideal.
    gain : {"linear", "exp"}
        The gain of a grade g: g, or 2^g - 1.
    gains : str, optional
        Gains of specific grades, such as ``"{1:3,2:9}"``. `gain` determines the gain of other grades; the ideal is
        sorted by gain.

    Returns
    -------
    float64 array, shape (queries,)
        Between 0 and 1; 0 if no document has a positive gain. The ideal ranking contains all judged documents for the
        query, returned or not. Without a cutoff it is not truncated, so a short run cannot reach 1.

    Examples
    --------
    >>> rankings = JudgedRankings.of((3, {1: 3, 2: 0, 3: 1}, [3, 2, 1, 0, 0]))
    >>> ndcg(rankings, cutoff=3).round(4)
    array([0.735])
    """
    place = rankings.judged_place
    best = gained(rankings.judged, gain, gains)
    if gains is not None:
        best = best[np.lexsort((-best, rankings.judged_query))]
    ideal = rankings.judged_total(best / np.log2(place + 1), None if cutoff is None else place <= cutoff)
    return share(dcg(rankings, cutoff, gain, gains), ideal)


def _best(counts: Integers, cutoff: int | None, **_: object) -> Floats:
    """Compute the value of this many documents with a gain of 1 in the best order."""
    ranks = np.arange(1, int(counts.max(initial=0)) + 1)
    ideal: Floats = np.concatenate(([0.0], np.cumsum(discount(ranks, cutoff))))[counts]
    return ideal


NDCG = Metric(
    name="nDCG",
    title="Normalized discounted cumulative gain",
    description="How close the ranking is to the ideal ranking; high grades at the top count most.",
    formula="DCG@k / IDCG@k; DCG = sum over ranks i of gain(g_i) / log2(i + 1); IDCG is the DCG of all judged "
    "documents for the query, sorted by gain. 0 if no gain is positive.",
    source="Järvelin and Kekäläinen 2002; the discount of trec_eval's ndcg_cut. gain=exp: Burges and others 2005.",
    per_query=ndcg,
    parameters=(GAIN, GAINS, JUDGED_ONLY),
    aliases={"ndcg_cut": {}, "ndcg_burges": {"gain": "exp"}, "ndcg_exp": {"gain": "exp"}},
    trec_name="ndcg",
    trec_name_at="ndcg_cut_{k}",
    response=Response("promoted", Additive(gain_of, discount, base=nothing, ideal=_best)),
)
