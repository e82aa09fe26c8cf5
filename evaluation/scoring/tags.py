"""Template filters that format differences, p-values and metric values."""

from __future__ import annotations

from django import template

from evaluation.scoring import metric_values

register = template.Library()


@register.filter
def signed(value: float | None) -> str:
    """A difference with its sign, a true minus for the minus."""
    return metric_values.signed(value)


@register.filter
def p_value(value: float) -> str:
    """A p without the sign of equality before it."""
    return metric_values.chance(value).removeprefix("= ")


@register.filter
def of_metric(value: float | None, metric: str) -> str:
    """A metric's value; a count as a count."""
    return metric_values.shown(value, metric)
