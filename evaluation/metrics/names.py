"""Which metric does a written name mean?

Names are matched without case and without blanks; ``@``, ``_`` and ``.`` before a cutoff are equal; ``P@5,10`` is two
metrics. What another tool computes differently under the same name is refused, with the alternatives.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from evaluation.metrics import METRICS, TABLE
from evaluation.metrics.declaration import BoundMetric, Metric, Parameter, Value
from judgments.core.errors import NotValid, UnknownName

ONE_NAME = re.compile(r"[^\s,(]+(?:\([^)]*\))?(?:@[^\s,(]+)?(?:,\d+(?![\w.]))*")
SHAPE = re.compile(r"([a-z][a-z_.\-]*?)(?:\(([^)]*)\))?(?:[@_.]?(?<=[@_.])(\d+))?(?:-l(\d+))?")
REFUSED = {
    "hits": "hits@{k} is a count in one tool and a rate in another; write Success@{k} or P@{k}",
    "unj": "unj_{k} divides by the cutoff, Judged@{k} by what was returned; write Judged@{k}",
    "ndcg-l": "nDCG takes no relevance threshold: tools disagree on what it would do; write nDCG@{k}, or P(rel=2)@{k}",
}


def parse_metrics(names: str | Iterable[str]) -> tuple[BoundMetric, ...]:
    """Read one or more metric names.

    Parameters
    ----------
    names : str or iterable of str
        Each text may hold several names, separated by blanks or commas.

    Returns
    -------
    tuple of BoundMetric
        In the order given, each once.

    Raises
    ------
    UnknownName
        When no metric has that name; the message gives the nearest ones.
    NotValid
        When a cutoff or parameter is missing, unknown or of the wrong type, or when the name means different things in
        different tools.

    Examples
    --------
    >>> [metric.name for metric in parse_metrics("ndcg_cut_10, MAP P@5,10 AP(rel=2)")]
    ['nDCG@10', 'AP', 'P@5', 'P@10', 'AP(rel=2)']
    """
    texts = [names] if isinstance(names, str) else list(names)
    found = {metric.name: metric for text in texts for one in _split(text) for metric in _expand(one)}
    if not found:
        raise NotValid("no metric is named; write for example nDCG@10")
    return tuple(found.values())


def _split(text: str) -> list[str]:
    closed = re.sub(r"\s*([@(])\s*|\s+(?=\))|(?<=,)\s+(?=\d)", lambda match: match.group(1) or "", text)
    closed = re.sub(r"\([^)]*\)", lambda match: re.sub(r"\s", "", match.group()), closed)
    rest = re.sub(ONE_NAME, "", closed)
    if re.search(r"[^\s,]", rest):
        raise NotValid(f"the metric {text!r} cannot be read; write for example nDCG@10 or P(rel=2)@10")
    return ONE_NAME.findall(closed)


def _expand(text: str) -> list[BoundMetric]:
    first, *more = re.split(r",(?![^(]*\))", text)
    metric = parse_metric(first)
    return [metric, *(parse_metric(re.sub(r"\d+$", cutoff, first)) for cutoff in more)]


def parse_metric(text: str) -> BoundMetric:
    """Read exactly one metric name, such as ``nDCG@10``.

    Parameters
    ----------
    text : str
        The name; see `parse_metrics` for what is accepted and what is raised.

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
    written = re.sub(r"\s", "", text).lower()
    shape = SHAPE.fullmatch(written)
    if shape is None:
        raise _unknown(text)
    head, inside, cutoff, level = shape.groups()
    _refuse(head, cutoff or "10", level)
    metric, fixed = _look_up(head.rstrip("_."), text)
    given = dict(fixed) | dict(_read(metric, part, text) for part in (inside or "").split(",") if part)
    if level:
        given["rel"] = int(level)
    parameters = {p.name: given.get(p.name, p.default) for p in metric.parameters}
    return BoundMetric(metric, _cutoff(metric, cutoff, text), parameters)


def _refuse(head: str, cutoff: str, level: str | None) -> None:
    key = "ndcg-l" if level and head.startswith("ndcg") else head
    if key in REFUSED:
        raise NotValid(REFUSED[key].format(k=cutoff))


def _look_up(head: str, text: str) -> tuple[Metric, dict[str, Value]]:
    # The built-in names are tried first: asking for members of other packages reads the metadata of all of them.
    for names in (list(TABLE), METRICS.names()):
        for name in names:
            metric = METRICS[name]
            if head == name.lower():
                return metric, {}
            if head in metric.aliases:
                return metric, dict(metric.aliases[head])
    raise _unknown(text)


def _unknown(text: str) -> UnknownName:
    metrics = [METRICS[name] for name in METRICS.names()]
    spelled = {spelling: metric.example for metric in metrics for spelling in (metric.name.lower(), *metric.aliases)}
    head = re.split(r"[@(]", text.lower())[0]
    near = list(dict.fromkeys(spelled[one] for one in difflib.get_close_matches(head, spelled, n=6, cutoff=0.4)))[:3]
    hint = f"; did you mean {', '.join(near)}?" if near else "."
    return UnknownName(f"there is no metric {text!r}{hint} Known: {', '.join(METRICS.names())}")


def _cutoff(metric: Metric, cutoff: str | None, text: str) -> int | None:
    if cutoff is None and metric.cutoff == "required":
        raise NotValid(f"the metric {text!r} needs a cutoff; write {metric.name}@10")
    if cutoff is not None and metric.cutoff == "none":
        raise NotValid(f"the metric {text!r} takes no cutoff; write {metric.name}")
    if cutoff is not None and int(cutoff) < 1:
        raise NotValid(f"the cutoff of {text!r} is below 1; write for example {metric.name}@10")
    return None if cutoff is None else int(cutoff)


def _read(metric: Metric, part: str, text: str) -> tuple[str, Value]:
    name, _, value = part.replace("'", "").replace('"', "").partition("=")
    for parameter in metric.parameters:
        also = {key.lower(): meant for key, meant in parameter.also.items()}
        if f"{name}={value}" in also:
            return parameter.name, also[f"{name}={value}"]
        if name == parameter.name:
            return parameter.name, _value(parameter, value, text)
    known = ", ".join(p.name for p in metric.parameters) or "none"
    raise NotValid(f"the metric {text!r} has no parameter {name!r}; {metric.name} knows: {known}")


def _value(parameter: Parameter, value: str, text: str) -> Value:
    if parameter.choices:
        if value in parameter.choices:
            return value
        raise NotValid(f"in {text!r}, {parameter.name} is one of {', '.join(parameter.choices)}, not {value!r}")
    if isinstance(parameter.default, bool):
        if value in ("true", "false", "1", "0"):
            return value in ("true", "1")
        raise NotValid(f"in {text!r}, {parameter.name} is True or False, not {value!r}")
    if re.fullmatch(r"\d+(\.\d+)?", value) and float(value) > 0:
        return int(value) if value.isdigit() else float(value)
    raise NotValid(f"in {text!r}, {parameter.name} is a number above 0, not {value!r}")
