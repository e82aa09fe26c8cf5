"""Template filters for grades, numbers, intervals and states, so that every page shows them alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

HOLE = SafeString('<span class="grade" data-grade="hole"><span class="sr">unjudged</span></span>')

# Letters of right-to-left scripts, and the control characters that change the text direction.
TURNING = {"R", "AL", "RLE", "LRE", "RLO", "LRO", "RLI", "LRI"}

# The text alternatives of state shapes.
STATE_WORDS = {
    "done": "done",
    "doing": "in progress",
    "todo": "not started",
    "warn": "needs attention",
    "fail": "failed",
}


@register.filter
def number(value: Any, digits: int | None = None) -> str:
    """Return a number with thousands separators and a true minus sign; a float with three decimals by default."""
    if value is None or value == "":
        return ""
    if isinstance(value, float | Decimal) or digits is not None:
        shown = f"{float(value):,.{3 if digits is None else int(digits)}f}"
    else:
        shown = f"{int(value):,}"
    return shown.replace("-", "−")


@register.filter
def percent(value: float | None) -> str:
    """Return a share as a percentage: whole above 10%, with one decimal below."""
    if value is None:
        return ""
    share = float(value) * 100
    return f"{share:.1f}%" if 0 < share < 10 else f"{share:.0f}%"


@register.filter
def isolated(name: str) -> str:
    r"""Return a name with its right-to-left direction isolated from the rest of the sentence."""
    turns = any(unicodedata.bidirectional(letter) in TURNING for letter in name)
    return f"\u2068{name}\u2069" if turns else name


@register.filter
def short_hash(value: str) -> str:
    """Return the first and last characters of a SHA-256; show the whole one in a title or a download."""
    return f"{value[:6]}…{value[-4:]}" if len(value) > 12 else value


@register.simple_tag
def grade(value: int | None, top: int = 3, label: str = "") -> SafeString:
    """Return a grade as a chip that always shows its digit; None is an unjudged document."""
    if value is None or value == "":
        return HOLE
    chip = format_html('<span class="grade" {}="{}">{}</span>', *_place(int(value), int(top)), value)
    return format_html('<span class="row row--tight nowrap">{} <span>{}</span></span>', chip, label) if label else chip


@register.filter
def chips(values: Iterable[int | None], top: int) -> list[SafeString]:
    """Return grades as chips, such as the headings of a table."""
    return [SafeString("none") if value is None else grade(value, top) for value in values]


def _place(value: int, top: int) -> tuple[SafeString, int]:
    if top == 3 and 0 <= value <= 3:
        return SafeString("data-grade"), value
    share = min(max(value / top, 0), 1) if top > 0 else 0
    return SafeString("data-eighth"), round(share * 8)


@register.simple_tag
def interval(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    n: int | None = None,
    unit: str = "pairs",
    reason: str = "",
) -> SafeString:
    """Return a number with its interval and n, or the reason why there is none."""
    if value is None:
        return undefined(reason)
    inside = [f"{number(low)}–{number(high)}"] if low is not None and high is not None else []
    inside += [f"{n:,} {unit}"] if n is not None else []
    shown = number(value)
    return format_html('{} <span class="muted">({})</span>', shown, ", ".join(inside)) if inside else SafeString(shown)


@register.simple_tag
def undefined(reason: str = "") -> SafeString:
    """Return the placeholder of an undefined statistic."""
    return format_html('<span class="muted">not defined{}{}</span>', ": " if reason else "", reason)


@register.simple_tag
def state(key: str, words: str = "") -> SafeString:
    """Return a state as a shape with its words; without words only screen readers get its meaning."""
    if words:
        return format_html('<span class="state" data-state="{}">{}</span>', key, words)
    return format_html(
        '<span class="state" data-state="{}"><span class="sr">{}: </span></span>', key, STATE_WORDS.get(key, key)
    )


@register.filter
def duration(value: timedelta | float | None) -> str:
    """Return a duration in its two largest units."""
    if value is None:
        return ""
    left = round(value.total_seconds() if isinstance(value, timedelta) else value)
    parts = []
    for name, size in (("day", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        many, left = divmod(left, size)
        plural = "s" if name == "day" and many != 1 else ""
        parts += [f"{many} {name}{plural}"] if many else []
    return " ".join(parts[:2]) or "0 s"


@register.filter
def or_muted(value: Any, words: str = "none") -> Any:
    """Return the value, or instead of none the words, less prominent."""
    return format_html('<span class="muted">{}</span>', words) if value is None or value == "" else value


@register.filter
def bounds(estimate: Any, form: Any = None) -> str:
    """Return the interval of an estimate as ``low–high``, in percent or with this many digits; empty without one."""
    own = estimate.get if isinstance(estimate, Mapping) else partial(getattr, estimate)
    low, high = own("low", None), own("high", None)
    if low is None or high is None:
        return ""
    if form == "percent":
        return f"{percent(low)}–{percent(high)}"
    return f"{number(low, form)}–{number(high, form)}"
