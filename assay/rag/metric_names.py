"""Names of metrics: ``TokenF1``, ``RecallAtK(k=5)``, ``recall@5``, ``NoiseRobustness(TokenF1)``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, NoReturn

from assay.core.errors import NotValid
from assay.rag.metric import Metric
from assay.rag.metrics import METRICS

EXAMPLE = "TokenF1, RecallAtK(k=5) or recall@5"


def parse_metric(text: str, services: Mapping[str, Any] | None = None) -> Metric:
    """Parse a metric.

    Parameters
    ----------
    text : str
        A class name, with parameters in parentheses if they differ from the defaults, or a name such as ``recall@5``. A
        single word needs no quotation marks.
    services : mapping, optional
        Objects that are passed to each metric that takes them: ``critic``, ``embed_fn``, ``model``.

    Returns
    -------
    Metric
        The metric.

    Raises
    ------
    NotValid
        When the metric or a parameter is unknown, or the value of a parameter is invalid.

    Examples
    --------
    >>> parse_metric("RecallAtK(k=5)") == parse_metric("recall@5")
    True
    >>> parse_metric("NoiseRobustness(TokenF1, noise_scenarios=[typo])").label
    'NoiseRobustness(TokenF1, noise_scenarios=[typo])'
    """
    name = text.strip()
    if not name:
        raise NotValid(f"a metric name is empty; write a metric such as {EXAMPLE}")
    metric = _by_name(name)
    if metric is None:
        try:
            tree = ast.parse(name, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            _refuse(name, "cannot be parsed; put texts of more than one word in quotation marks")
        metric = _metric(tree, name)
    return with_services(metric, services or {})


def parse_metrics(texts: Iterable[str], services: Mapping[str, Any] | None = None) -> list[Metric]:
    """Parse several metrics; a text may contain several, separated by blanks or commas outside parentheses.

    Examples
    --------
    >>> [metric.label for metric in parse_metrics(["TokenF1, RecallAtK(k=5) mrr"])]
    ['TokenF1', 'RecallAtK(k=5)', 'MRRAtK']
    """
    return [parse_metric(part, services) for text in texts for part in split(text)]


def split(text: str) -> list[str]:
    """Split a text at blanks and commas outside brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and (sign.isspace() or sign == ","):
            parts.append("")
        else:
            parts[-1] += sign
    return [part for part in parts if part]


def with_services(metric: Metric, services: Mapping[str, Any]) -> Metric:
    """Pass services to a metric and its inner metric, unless they have their own."""
    changes: dict[str, Any] = {}
    for one in fields(metric):
        value = getattr(metric, one.name)
        if isinstance(value, Metric):
            changes[one.name] = with_services(value, services)
        elif one.name in services and not one.metadata and value is None:
            changes[one.name] = services[one.name]
    return replace(metric, **changes) if changes else metric


def asking(metric: Metric) -> Metric | None:
    """Return the metric that uses a critic: this metric, its inner metric, or None."""
    if hasattr(metric, "critic"):
        return metric
    inner = getattr(metric, "metric", None)
    return asking(inner) if isinstance(inner, Metric) else None


def _by_name(text: str) -> Metric | None:
    for cls in METRICS.values():
        if (metric := cls.from_name(text)) is not None:
            return metric
    return None


def _metric(tree: ast.expr, text: str) -> Metric:
    if isinstance(tree, ast.Name):
        cls, positional, named = _class(tree.id), [], []
    elif isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        cls, positional, named = _class(tree.func.id), tree.args, tree.keywords
    else:
        _refuse(text, "cannot be parsed")
    takes = {one.name: one for one in fields(cls) if one.init and (one.metadata or _is_metric(one))}
    values: dict[str, Any] = {}
    if len(positional) > len(takes):
        _refuse(text, f"{cls.__name__} has {len(takes)} parameters")
    pairs = [*zip(takes, positional, strict=False), *((word.arg or "**", word.value) for word in named)]
    for name, value in pairs:
        if name not in takes:
            _refuse(text, f"{cls.__name__} has no parameter {name!r}; parameters: {', '.join(takes) or 'none'}")
        if name in values:
            _refuse(text, f"{name} is given twice")
        values[name] = _value(value, takes[name], text)
    for name, one in takes.items():
        if name not in values and one.default is MISSING:
            _refuse(text, f"{cls.__name__} needs {name}, for example {cls.__name__}(TokenF1)")
    return cls(**values)


def _class(name: str) -> type[Metric]:
    return next((cls for cls in METRICS.values() if cls.called == name), None) or METRICS[name]


def _is_metric(one: Any) -> bool:
    return "Metric" in str(one.type)


def _value(tree: ast.expr, one: Any, text: str) -> Any:
    if _is_metric(one):
        return parse_metric(
            str(tree.value) if isinstance(tree, ast.Constant) else ast.get_source_segment(text, tree) or ""
        )
    if isinstance(tree, ast.Name):
        if tree.id in one.metadata["choices"]:
            return tree.id
        return {"none": None, "true": True, "false": False}.get(tree.id.lower(), tree.id)
    if isinstance(tree, ast.List | ast.Tuple):
        return tuple(_value(part, one, text) for part in tree.elts)
    try:
        return ast.literal_eval(tree)
    except ValueError:
        return ast.get_source_segment(text, tree)


def _refuse(text: str, problem: str) -> NoReturn:
    raise NotValid(f"the metric {text!r}: {problem}; write a metric such as {EXAMPLE}")
