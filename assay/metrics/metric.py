"""Metrics: their declaration, the parser of their names, a metric bound to its cutoff and parameters, and its means.

Each metric's file contains a `Metric`. The parser, the command help, the API's choices and docs/metrics.md use it, so
that each fact about a metric is written only once. Names ignore case and blanks; ``@``, ``_`` and ``.`` before a cutoff
are equivalent; ``P@5,10`` means two metrics. A name that another tool computes differently is rejected, with the
alternatives. All sums of means are exact (`math.fsum`) and therefore the same on every machine and in every order of
queries.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from assay.core.errors import NotValid, UnknownName
from assay.metrics import METRICS, TABLE

if TYPE_CHECKING:
    from assay.metrics.judged_rankings import Floats, JudgedRankings
    from assay.metrics.metric_bounds import Response

MeanKind = Literal["arithmetic", "geometric", "sum"]
"""How query values are combined: their mean, exp of the mean of their logarithms, or their sum."""

LEAST_QUERIES = 10
# Two values of a metric on a query that differ by at most this much are equal up to rounding.
TIE = 1e-9
# Minimum value of a query in a geometric mean, which a single 0 would otherwise make 0; trec_eval's choice.
GEOMETRIC_FLOOR = 1e-5

Value = float | int | bool | str
PerQuery = Callable[..., "Floats"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a metric."""

    name: str
    default: Value | None
    description: str
    choices: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    required: bool = False
    below: float | None = None
    read: Callable[[str], Value] | None = None
    trec: Callable[[Value | None], str] | None = None


REL = Parameter("rel", 1, "The lowest grade that counts as relevant.")
JUDGED_ONLY = Parameter("judged_only", False, "Drop unjudged documents and negative grades first, then renumber ranks.")


@dataclass(frozen=True)
class Metric:
    """Declaration of a metric.

    Parameters
    ----------
    name, title, description : str
        Canonical name (``nDCG``), readable name, and a sentence about its meaning.
    formula, source : str
        The definition per query, and its source.
    per_query : callable
        ``per_query(rankings, cutoff, **parameters)`` returns one float64 for each query of a `JudgedRankings`; `cutoff`
        is None if the name has none.
    cutoff : {"optional", "required", "none", "level"}
        Whether the name takes ``@k``; a level is a share between 0 and 1 instead of a rank.
    parameters : tuple of Parameter
        Parameters in the order of the canonical name. ``judged_only`` is applied before `per_query` is called.
    aliases : mapping of str to dict
        Other names in lower case, with the parameters that each of them sets.
    trec_name, trec_name_at : str
        trec_eval's name without and with a cutoff (``{k}``); empty if trec_eval has none.
    mean : {"arithmetic", "geometric", "sum"}
        How to combine the values of the queries.
    bounded : bool
        Whether every value, and therefore every mean and interval, is between 0 and 1.
    scale_top : str
        The parameter that defaults to the top grade of the scale, if any.
    by_subtopic : bool
        Whether it needs labels that distinguish subtopics.
    response : Response or None
        How the value changes if an unjudged document gets a grade; None if this is not modeled, so that there are no
        bounds and no decision-critical pairs.
    example : str
        A valid name of this metric.
    """

    name: str
    title: str
    description: str
    formula: str
    source: str
    per_query: PerQuery
    cutoff: Literal["optional", "required", "none", "level"] = "optional"
    parameters: tuple[Parameter, ...] = ()
    aliases: Mapping[str, Mapping[str, Value]] = field(default_factory=lambda: MappingProxyType({}))
    trec_name: str = ""
    trec_name_at: str = ""
    mean: MeanKind = "arithmetic"
    bounded: bool = True
    scale_top: str = ""
    by_subtopic: bool = False
    response: Response | None = None
    example: str = ""

    def __post_init__(self) -> None:
        if not self.example:
            object.__setattr__(self, "example", self.name if self.cutoff == "none" else f"{self.name}@10")

    @property
    def pattern(self) -> str:
        """Return the pattern of its name: ``P@k``, ``nDCG, @k`` if the cutoff is optional, ``RBP(p=...), @k``."""
        required = ",".join(f"{parameter.name}=..." for parameter in self.parameters if parameter.required)
        at = {"required": "@k", "optional": ", @k", "none": "", "level": "@r"}[self.cutoff]
        return self.name + (f"({required})" if required else "") + at


@dataclass(frozen=True)
class BoundMetric:
    """A metric with its cutoff and all parameters, such as ``P(rel=2)@10``."""

    metric: Metric
    cutoff: int | float | None
    parameters: Mapping[str, Value | None]
    assumed: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def name(self) -> str:
        """Return the canonical name; parameters at their defaults are left out."""
        settings = ",".join(f"{p.name}={self.parameters[p.name]}" for p in self._changed())
        at = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.metric.name}({settings}){at}" if settings else f"{self.metric.name}{at}"

    @property
    def trec_name(self) -> str:
        """Return trec_eval's name, or the canonical name if trec_eval has none."""
        changed = self._changed()
        if self.cutoff is not None:
            # In trec_eval's names, a cutoff replaces the parameters.
            theirs = "" if changed else self.metric.trec_name_at.format(k=self.cutoff)
        else:
            flags = [p.trec(self.parameters[p.name]) for p in changed if p.trec]
            theirs = self.metric.trec_name if len(flags) == len(changed) else ""
            theirs += "".join(flags) if theirs else ""
        return theirs or self.name

    @property
    def settings(self) -> dict[str, Value | None]:
        """Return the cutoff and all parameters used to compute the metric."""
        return {"cutoff": self.cutoff, **self.parameters, **self.assumed}

    @property
    def arguments(self) -> dict[str, Value | None]:
        """Return all parameters by name, as `Metric.per_query` takes them."""
        return {**self.parameters, **self.assumed}

    @property
    def response(self) -> Response | None:
        """Return its response to new grades; None over condensed lists, where a judgment moves all other documents."""
        return None if self.parameters.get("judged_only") else self.metric.response

    def condensed(self) -> BoundMetric:
        """Return the same metric over judged documents only, or the metric itself if that is meaningless."""
        if "judged_only" not in self.parameters:
            return self
        return replace(self, parameters={**self.parameters, "judged_only": True})

    def on_scale(self, top: float) -> BoundMetric:
        """Return the same metric with the top grade of the scale set."""
        missing = self.metric.scale_top
        if not missing or self.parameters[missing] is not None:
            return self
        return replace(self, assumed={missing: int(top) if float(top).is_integer() else top})

    def __call__(self, rankings: JudgedRankings) -> Floats:
        """Compute the metric for every query."""
        parameters = self.arguments
        if parameters.pop("judged_only", False):
            rankings = rankings.condensed()
        return self.metric.per_query(rankings, self.cutoff, **parameters)

    def _changed(self) -> list[Parameter]:
        return [p for p in self.metric.parameters if self.parameters[p.name] != p.default]


ONE_NAME = re.compile(r"[^\s,(]+(?:\([^)]*\))?(?:@[^\s,(]+)?(?:,\d+(?:\.\d+)?(?![\w.]))*")
SHAPE = re.compile(r"(\d*[a-z][a-z\d_.\-]*?)(?:\(([^)]*)\))?(?:[@_.]?(?<=[@_.])(\d+(?:\.\d+)?))?(?:-l(\d+))?")
# trec_eval's notation for the parameters of two metrics, and ours.
RESPELLED = (
    (re.compile(r"\b(rbp(?:_?resid)?)[._]p=([\d.]+)", re.IGNORECASE), r"\1(p=\2)"),
    (re.compile(r"\bndcg[._]((?:[\d.]+=[\d.]+,?)+)(?<!,)", re.IGNORECASE), r"ndcg(gains={\1})"),
)
MOST_DIGITS = 10
# Messages for rejected names.
MOST_SHOWN = 60
# Names that are rejected only without a cutoff.
CUT = ("ndcg_cut", "map_cut")
REFUSED = {
    "hits": "hits@{k} is a count in one tool and a rate in another; write Success@{k} or P@{k}",
    "unj": "unj_{k} divides by the cutoff, but Judged@{k} divides by the number of documents returned; write "
    "Judged@{k}",
    "rbp_resid": (
        "rbp_resid ignores the ranks below the list if all returned documents are judged, but RBPresid always "
        "counts them; write RBPresid(p=0.8)"
    ),
    "ndcg_cut": (
        "ndcg_cut alone means nine cutoffs in trec_eval; specify cutoffs, as in nDCG@5,10, or write nDCG for no cutoff"
    ),
    "map_cut": "map_cut alone means nine cutoffs in trec_eval; specify cutoffs, as in AP@5,10, or write AP for "
    "no cutoff",
    "official": "official is a set of metrics in trec_eval; list the metrics, as in 'AP GMAP Rprec Bpref RR P@5,10'",
    "all_trec": "all_trec is a set of metrics in trec_eval; list the metrics, as in 'AP nDCG Rprec Bpref RR P@5,10'",
    "ndcg-l": (
        "nDCG takes no relevance threshold, because tools disagree on its effect; write nDCG@{k}, or P(rel=2)@{k}"
    ),
}


def parse_metrics(names: str | Iterable[str]) -> tuple[BoundMetric, ...]:
    """Parse one or more metric names.

    Parameters
    ----------
    names : str or iterable of str
        Each text may contain several names, separated by blanks or commas.

    Returns
    -------
    tuple of BoundMetric
        The distinct metrics in the given order.

    Raises
    ------
    UnknownName
        When no metric has that name; the message lists the nearest names.
    NotValid
        When a cutoff or parameter is missing, unknown or of the wrong type, or when the name means different things in
        different tools.

    Examples
    --------
    >>> [metric.name for metric in parse_metrics("ndcg_cut_10, MAP P@5,10 AP(rel=2)")]
    ['nDCG@10', 'AP', 'P@5', 'P@10', 'AP(rel=2)']
    """
    texts = [names] if isinstance(names, str) else list(names)
    by_name = {metric.name: metric for text in texts for metric in _parse_text(text)}
    if not by_name:
        raise NotValid("no metric was named; write a metric such as nDCG@10")
    return tuple(by_name.values())


@lru_cache(maxsize=1024)
def _parse_text(text: str) -> tuple[BoundMetric, ...]:
    # Cached for callers that evaluate many small runs, for which parsing a name takes as long as computing the metric.
    return tuple(metric for one in _split(text) for metric in _expand(one))


def _split(text: str) -> list[str]:
    text = _respelled(text)
    closed = re.sub(r"\s*([@(])\s*|\s+(?=\))|(?<=,)\s+(?=\d)", lambda match: match.group(1) or "", text)
    closed = re.sub(r"\([^)]*\)", lambda match: re.sub(r"\s", "", match.group()), closed)
    rest = re.sub(ONE_NAME, "", closed)
    if re.search(r"[^\s,]", rest):
        raise NotValid(f"cannot parse the metric {text!r}; write a metric such as nDCG@10 or P(rel=2)@10")
    return ONE_NAME.findall(closed)


def _respelled(text: str) -> str:
    for theirs, ours in RESPELLED:
        text = theirs.sub(ours, text)
    return text


def _expand(text: str) -> list[BoundMetric]:
    first, *more = re.split(r",(?![^(]*\))", text)
    metric = parse_metric(first)
    return [metric, *(parse_metric(re.sub(r"\d+(?:\.\d+)?$", cutoff, first)) for cutoff in more)]


def parse_metric(text: str) -> BoundMetric:
    """Parse exactly one metric name, such as ``nDCG@10``.

    Parameters
    ----------
    text : str
        The name; see `parse_metrics` for the notation and the errors.

    Returns
    -------
    BoundMetric
        The metric with its cutoff and all parameters.

    Examples
    --------
    >>> parse_metric("MRR@10").name
    'RR@10'
    >>> parse_metric("nDCG(dcg='exp-log2')@10").name
    'nDCG(gain=exp)@10'
    """
    written = _respelled(re.sub(r"\s", "", text).lower())
    shape = SHAPE.fullmatch(written)
    if shape is None:
        raise _misshapen(written, text)
    head, inside, cutoff, level = shape.groups()
    _refuse(head, cutoff, level)
    metric, fixed = _look_up(head.rstrip("_."), text)
    parts = re.split(r",(?![^{}]*\})", inside or "") + ([f"rel={level}"] if level else [])
    given = dict(fixed) | dict(_read(metric, part, text) for part in parts if part)
    parameters = {p.name: given.get(p.name, p.default) for p in metric.parameters}
    _require(metric, given, text)
    return BoundMetric(metric, _cutoff(metric, cutoff, text), parameters)


def _refuse(head: str, cutoff: str | None, level: str | None) -> None:
    key = "ndcg-l" if level and head.startswith("ndcg") else head
    if key in REFUSED and not (key in CUT and cutoff):
        raise NotValid(REFUSED[key].format(k=cutoff or "10"))


def _misshapen(written: str, text: str) -> NotValid:
    """Return why a name cannot be parsed: the part after the @ if the rest is a metric name."""
    head = re.split(r"[@(]", written)[0]
    if "@" not in written or head in REFUSED:
        return _unknown(text)
    metric, _ = _look_up(head, text)
    return _no_cutoff(metric, text)


def _look_up(head: str, text: str) -> tuple[Metric, dict[str, Value]]:
    # A built-in metric's name must not load other metrics; looking up members of other packages reads the metadata of
    # all packages.
    for name in TABLE:
        if head == name.lower():
            return METRICS[name], {}
    for names in (TABLE.keys, METRICS.names):
        for name in names():
            metric = METRICS[name]
            if head == name.lower():
                return metric, {}
            if head in metric.aliases:
                return metric, dict(metric.aliases[head])
    raise _unknown(text)


def _unknown(text: str) -> UnknownName:
    import difflib

    metrics = [METRICS[name] for name in METRICS.names()]
    spelled = {spelling: metric.example for metric in metrics for spelling in (metric.name.lower(), *metric.aliases)}
    head = re.split(r"[@(]", text.lower())[0]
    near = list(dict.fromkeys(spelled[one] for one in difflib.get_close_matches(head, spelled, n=6, cutoff=0.4)))[:3]
    hint = f"; did you mean {', '.join(near)}?" if near else "."
    return UnknownName(f"unknown metric {text!r}{hint} Known: {', '.join(METRICS.names())}")


def _cutoff(metric: Metric, cutoff: str | None, text: str) -> int | float | None:
    if cutoff is None and metric.cutoff in ("required", "level"):
        raise NotValid(f"the metric {text!r} needs a cutoff; write {metric.example}")
    if cutoff is not None and metric.cutoff == "none":
        raise _no_cutoff(metric, text)
    if cutoff is None:
        return None
    if metric.cutoff == "level":
        if not 0 <= float(cutoff) <= 1:
            raise _no_cutoff(metric, text)
        return float(cutoff)
    if len(cutoff.lstrip("0")) > MOST_DIGITS:
        raise NotValid(f"the cutoff of {text!r} is larger than any run; write a metric such as {metric.example}")
    if not cutoff.isdigit() or int(cutoff) < 1:
        raise _no_cutoff(metric, text)
    return int(cutoff)


def _no_cutoff(metric: Metric, text: str) -> NotValid:
    if metric.cutoff == "none":
        return NotValid(f"the metric {text!r} takes no cutoff; write {metric.example}")
    allowed = "between 0 and 1" if metric.cutoff == "level" else "a whole number from 1"
    return NotValid(f"the part after @ in {text!r} is not {allowed}; write a metric such as {metric.example}")


def _require(metric: Metric, given: Mapping[str, Value], text: str) -> None:
    for parameter in metric.parameters:
        if parameter.required and parameter.name not in given:
            raise NotValid(f"the metric {text!r} needs {parameter.name}; write a metric such as {metric.example}")


def _read(metric: Metric, part: str, text: str) -> tuple[str, Value]:
    name, _, value = part.replace("'", "").replace('"', "").partition("=")
    for parameter in metric.parameters:
        also = {key.lower(): meant for key, meant in parameter.also.items()}
        if f"{name}={value}" in also:
            return parameter.name, also[f"{name}={value}"]
        if name == parameter.name.lower():
            return parameter.name, _value(parameter, value, text)
    known = ", ".join(p.name for p in metric.parameters) or "none"
    raise NotValid(f"the metric {text!r} has no parameter {name!r}; parameters of {metric.name}: {known}")


def _value(parameter: Parameter, value: str, text: str) -> Value:
    if parameter.choices:
        if value in parameter.choices:
            return value
        raise NotValid(f"in {text!r}, {parameter.name} must be one of {', '.join(parameter.choices)}, not {value!r}")
    if parameter.read is not None:
        try:
            return parameter.read(value)
        except ValueError as fault:
            shown = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
            raise NotValid(f"in {shown!r}, {parameter.name} {fault}") from None
    if isinstance(parameter.default, bool):
        if value in ("true", "false", "1", "0"):
            return value in ("true", "1")
        raise NotValid(f"in {text!r}, {parameter.name} must be True or False, not {value!r}")
    most = parameter.below or float("inf")
    if re.fullmatch(r"\d+(\.\d*)?|\.\d+", value) and 0 < float(value) < most:
        return int(value) if value.isdigit() else float(value)
    limit = "above 0" if parameter.below is None else f"above 0 and below {parameter.below:g}"
    raise NotValid(f"in {text!r}, {parameter.name} must be a number {limit}, not {value!r}")


@dataclass(frozen=True)
class Interval:
    """An interval around a mean; ``low`` and ``high`` are None exactly when ``reason`` is set."""

    low: float | None
    high: float | None
    reason: str | None = None


def within(interval: Interval) -> Interval:
    """Limit an interval to 0..1, the range of the mean of a bounded metric.

    Examples
    --------
    >>> within(Interval(-0.2, 0.7))
    Interval(low=0.0, high=0.7, reason=None)
    """
    if interval.low is None or interval.high is None:
        return interval
    return Interval(max(0.0, interval.low), min(1.0, interval.high), interval.reason)


def mean(values: Sequence[float], kind: MeanKind = "arithmetic") -> float | None:
    """Compute the unweighted mean; None without values.

    Parameters
    ----------
    values : sequence of float
        The metric of each query.
    kind : {"arithmetic", "geometric", "sum"}
        ``geometric`` is exp(mean ln max(m, 1e-5)), trec_eval's GMAP; ``sum`` adds up counts.

    Examples
    --------
    >>> mean([0.1] * 3)
    0.1
    >>> round(mean([1.0, 0.0], "geometric"), 6)
    0.003162
    >>> mean([3.0, 4.0], "sum")
    7.0
    """
    if not values:
        return None
    if kind == "sum":
        return math.fsum(values)
    if kind == "geometric":
        return math.exp(_between(math.fsum(logs := _logs(values)) / len(logs), logs))
    return _between(math.fsum(values) / len(values), values)


def hajek_mean(values: Sequence[float], weights: Sequence[float], kind: MeanKind = "arithmetic") -> float | None:
    """Compute the weighted mean sum(w/p m) / sum(w/p) of a sampled set of queries.

    Parameters
    ----------
    values : sequence of float
        The metric m of each query.
    weights : sequence of float
        For each query its share of traffic w divided by its inclusion probability p.
    kind : {"arithmetic", "geometric", "sum"}
        As in `mean`. A sum has no weighted form.

    Returns
    -------
    float or None
        None when the weights sum to 0, and for a sum. Source: Hájek 1971; Särndal, Swensson and Wretman 1992,
        section 5.7.

    Examples
    --------
    >>> hajek_mean([1.0, 0.0], [3.0, 1.0])
    0.75
    """
    total = math.fsum(weights)
    if kind == "sum" or not total > 0:
        return None
    if kind == "geometric":
        return math.exp(_ratio(_logs(values), weights, total))
    return _ratio(values, weights, total)


def effective_queries(weights: Sequence[float]) -> float | None:
    """Compute the equivalent number of equally weighted queries: (sum w)^2 / sum w^2.

    Examples
    --------
    >>> effective_queries([1.0, 1.0, 2.0])
    2.6666666666666665
    """
    squares = math.fsum(w * w for w in weights)
    return math.fsum(weights) ** 2 / squares if squares > 0 else None


def printed(name: str, value: float | None) -> str:
    """Format the value of a metric with four decimals, of a count without decimals, ``-`` if undefined.

    Examples
    --------
    >>> printed("AP", 0.5), printed("NumRel(rel=2)", 561.0), printed("AP", None)
    ('0.5000', '561', '-')
    """
    return "-" if value is None else f"{value:.{0 if name.startswith('Num') else 4}f}"


def _ratio(values: Sequence[float], weights: Sequence[float], total: float) -> float:
    counted = [value for value, weight in zip(values, weights, strict=True) if weight > 0]
    return _between(math.fsum(w * m for w, m in zip(weights, values, strict=True)) / total, counted)


def _logs(values: Sequence[float]) -> list[float]:
    return [math.log(max(value, GEOMETRIC_FLOOR)) for value in values]


def _between(value: float, values: Sequence[float]) -> float:
    """Limit the mean to the range of the values, which rounding could exceed."""
    return min(max(value, min(values)), max(values))
