"""How do differences and chances stand on a page of scores? As on the page that compares two runs."""

from __future__ import annotations

from django import template

from evaluation import verdict

register = template.Library()


@register.filter
def signed(value: float | None) -> str:
    """A difference with its sign, a true minus for the minus."""
    return verdict.signed(value)


@register.filter
def p_value(value: float) -> str:
    """A p without the sign of equality before it."""
    return verdict.chance(value).removeprefix("= ")
