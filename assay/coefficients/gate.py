"""Agreement gate: passed, failed or undecided, with the number of pairs that would probably decide it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, Literal

from assay.coefficients.coefficient import REASONS
from assay.coefficients.rater_pairs import ENOUGH_QUERIES, ENOUGH_UNITS
from assay.core.text_rules import amount


@dataclass(frozen=True)
class Band:
    """Conventional name and advice for a range of kappa."""

    top: float
    name: str
    advice: str


# Advice as the end of a sentence, without a period.
BANDS = (
    Band(0.20, "slight", "raters are guessing; revise guidelines"),
    Band(0.40, "fair", "guidelines unclear; calibrate with examples"),
    Band(0.60, "moderate", "acceptable for exploratory work"),
    Band(0.80, "substantial", "good for production gates"),
    Band(1.00, "almost perfect", "target for high-stakes domains"),
)

# Krippendorff's own reading of alpha, after Content Analysis (2nd ed. 2004, 11.4): stricter than the bands for kappa.
READINGS = (
    Band(0.667, "not reliable", "draw no conclusions from these grades"),
    Band(0.80, "tentative", "draw only tentative conclusions"),
    Band(1.00, "reliable", "good enough for conclusions"),
)


def reading(value: float) -> Band:
    """Return Krippendorff's interpretation of an alpha.

    Examples
    --------
    >>> [reading(value).name for value in (0.66, 0.667, 0.8, 0.9)]
    ['not reliable', 'tentative', 'reliable', 'reliable']
    """
    return next((one for one in READINGS if value < one.top), READINGS[-1])


def band(value: float) -> Band:
    """Return the band of a coefficient. The bands are conventions, not tests.

    Parameters
    ----------
    value : float
        A coefficient, at most 1; values below 0 also count as slight.

    Examples
    --------
    >>> [band(value).name for value in (-0.1, 0.2, 0.41, 0.659, 0.81)]
    ['slight', 'slight', 'moderate', 'substantial', 'almost perfect']
    """
    return next((one for one in BANDS if round(value, 2) <= one.top), BANDS[-1])


def reason_in_words(reason: str | None) -> str:
    """Return why a coefficient is undefined, without the leading "undefined because".

    Examples
    --------
    >>> reason_in_words("no_overlap"), reason_in_words(None)
    ('no pair was graded by two raters', '')
    """
    return REASONS.get(reason or "", reason or "").removeprefix("undefined because ")


# The usual threshold in the field, below which grades are not reliable enough for decisions.
THRESHOLD = 0.60
COEFFICIENT = "alpha-ordinal"
# Ratio of the distance to the threshold and half an interval for which the next sample decides with 80% probability:
# (1.96 + 0.84) / 1.96 standard errors.
FOUR_OF_FIVE = (1.959964 + 0.841621) / 1.959964
# Beyond this multiple of the current overlap, more overlap is not useful advice.
HOPELESS = 50

State = Literal["passed", "undecided", "failed", "undefined"]


@dataclass(frozen=True)
class GateAnswer:
    """Result of an agreement gate."""

    state: State
    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    threshold: float
    n: int
    queries: int
    more_pairs: int | None
    advice: str

    @property
    def needed(self) -> int | None:
        """Return the total number of overlapping pairs that would decide the gate, if known."""
        return None if self.more_pairs is None else self.n + self.more_pairs

    @property
    def little(self) -> bool:
        """Return whether there is too little overlap to decide."""
        return self.n < ENOUGH_UNITS or self.queries < ENOUGH_QUERIES

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def decide(
    report: Mapping[str, Any], coefficient: str = COEFFICIENT, threshold: float = THRESHOLD, *, over: bool = False
) -> GateAnswer:
    """Compare one coefficient of a report with a threshold.

    Parameters
    ----------
    report : mapping
        The JSON of `AgreementReport`.
    coefficient : str
        Name of a coefficient; for coefficients of two raters, the mean over rater pairs is used.
    threshold : float
        From -1 to 1.
    over : bool
        Whether the round is closed: an undecided gate then stays undecided, and only another round can decide.

    Raises
    ------
    NotValid
        When there is no such coefficient in the report.

    Examples
    --------
    >>> leaf = {"value": 0.7, "low": 0.65, "high": 0.75, "n": 400, "reason": None}
    >>> told = {"coefficients": {"ac1": leaf}, "overlap_queries": 40}
    >>> [decide(told, "ac1", at).state for at in (0.6, 0.7, 0.8)]
    ['passed', 'undecided', 'failed']
    >>> decide(told, "ac1", 0.66).more_pairs
    878
    """
    leaf, queries = _leaf(report, coefficient), int(report["overlap_queries"])
    value, low, high, n = leaf["value"], leaf["low"], leaf["high"], int(leaf["n"])
    more = None
    if value is None:
        state: State = "undefined"
        advice = f"The coefficient is undefined: {reason_in_words(leaf['reason'])}."
    elif low is None or high is None:
        state, advice = "undecided", "The gate needs an interval to decide."
    else:
        state = _state(low, high, threshold, n, queries)
        more = more_pairs(value, low, high, threshold, n, queries) if state == "undecided" else None
        advice = _advice(state, more, threshold, n, queries, over)
    return GateAnswer(state, coefficient, value, low, high, threshold, n, queries, more, advice)


def _leaf(report: Mapping[str, Any], coefficient: str) -> Mapping[str, Any]:
    known: Mapping[str, Mapping[str, Any]] = report["coefficients"]
    if coefficient not in known:
        from assay.core.errors import NotValid

        raise NotValid(f"unknown coefficient {coefficient!r}; known: {', '.join(known)}")
    return known[coefficient]


def _state(low: float, high: float, threshold: float, n: int, queries: int) -> State:
    if n < ENOUGH_UNITS or queries < ENOUGH_QUERIES:
        return "undecided"
    if low >= threshold:
        return "passed"
    return "failed" if high < threshold else "undecided"


def more_pairs(value: float, low: float, high: float, threshold: float, n: int, queries: int) -> int | None:
    """Return how many more overlapping pairs would decide a gate with 80% probability.

    An interval narrows with the square root of the number of pairs, provided that they come from more queries with the
    same number of pairs per query, so that the dependence within queries stays the same. The coefficient is assumed not
    to change. The result never falls below the minimum overlap.

    Parameters
    ----------
    value, low, high : float
        The coefficient and its interval.
    threshold : float
        The threshold of the gate.
    n, queries : int
        Pairs with two or more grades, and their queries.

    Returns
    -------
    int or None
        None if the coefficient is so close to the threshold that no reasonable number of pairs suffices.

    Examples
    --------
    >>> more_pairs(0.7, 0.6, 0.8, 0.65, n=400, queries=40), more_pairs(0.7, 0.6, 0.8, 0.699, n=400, queries=40)
    (2870, None)
    >>> more_pairs(0.9, 0.7, 1.0, 0.6, n=20, queries=10)
    180
    """
    least = max(ENOUGH_UNITS, ceil(n * ENOUGH_QUERIES / max(queries, 1)) if queries < ENOUGH_QUERIES else 0)
    half, distance = (value - low, value - threshold) if value >= threshold else (high - value, threshold - value)
    if half * FOUR_OF_FIVE > distance * HOPELESS**0.5:
        return None
    needed = n * (half / distance * FOUR_OF_FIVE) ** 2 if half > 0 else 0.0
    return max(ceil(max(needed, least) - n), 1)


def _advice(state: State, more: int | None, threshold: float, n: int, queries: int, over: bool) -> str:
    at = f"the gate of {threshold:.2f}"
    if state == "passed":
        return f"The whole interval is at or above {at}. You can base decisions on these labels."
    if state == "failed":
        return f"The whole interval is below {at}. Do not base decisions on these labels yet."
    little = n < ENOUGH_UNITS or queries < ENOUGH_QUERIES
    if little:
        there = f"{amount(n, 'overlapping pair')} from {amount(queries, 'query', 'queries')}"
        why = f"{there}: too few to decide. The gate needs at least {ENOUGH_UNITS} pairs from {ENOUGH_QUERIES} queries."
    else:
        why = f"{at[0].upper()}{at[1:]} is inside the interval."
    if more is None:
        return (
            f"{why} The value is so close to it that more overlap is unlikely to decide the gate. Improve the "
            "agreement instead."
        )
    if over:
        wide = (
            f"from {ENOUGH_QUERIES} queries or more"
            if queries < ENOUGH_QUERIES
            else "with the same number of pairs per query"
        )
        return (
            f"{why} The round is closed, so this stays undecided. A round with about {n + more:,} overlapping "
            f"pairs, {wide}, has an 80% chance of deciding the gate if the raters agree at the same rate."
        )
    further = "from more queries" if queries < ENOUGH_QUERIES else "with the same number of pairs per query"
    return (
        f"{why} About {amount(more, 'more overlapping pair')}, {further}, have an 80% chance of deciding the "
        "gate if the raters agree at the same rate."
    )
