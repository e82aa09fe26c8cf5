"""Template filters that format differences, p-values and metric values."""

from __future__ import annotations

from django import template

from evaluation.scoring import metric_values

register = template.Library()


@register.filter
def signed(value: float | None) -> str:
    """Format a difference with its sign, using a true minus."""
    return metric_values.signed(value)


@register.filter
def p_value(value: float) -> str:
    """Format a p-value without a preceding equals sign."""
    return metric_values.chance(value).removeprefix("= ")


@register.filter
def of_metric(value: float | None, metric: str) -> str:
    """Format a metric's value; counts have no decimals."""
    return metric_values.shown(value, metric)
