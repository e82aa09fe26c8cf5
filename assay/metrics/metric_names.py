"""Parser of metric names.

Names ignore case and blanks; ``@``, ``_`` and ``.`` before a cutoff are equivalent; ``P@5,10`` means two metrics. A
name that another tool computes differently is rejected, with the alternatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from assay.core.errors import NotValid, UnknownName
from assay.metrics import METRICS, TABLE
from assay.metrics.metric import BoundMetric, Metric, Parameter, Value

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
