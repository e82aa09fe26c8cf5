"""Template filters for grades, numbers, intervals and states, so that every page shows them alike."""

from __future__ import annotations

import unicodedata
from datetime import timedelta
from decimal import Decimal
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
    """Return a number with thousands separators and a true minus sign; a float with three decimals by default.

    Examples
    --------
    >>> number(1234567), number(0.65914), number(0.5, 1), number(None), number(-0.0721)
    ('1,234,567', '0.659', '0.5', '', '−0.072')
    """
    if value is None or value == "":
        return ""
    if isinstance(value, float | Decimal) or digits is not None:
        shown = f"{float(value):,.{3 if digits is None else int(digits)}f}"
    else:
        shown = f"{int(value):,}"
    return shown.replace("-", "−")


@register.filter
def percent(value: float | None) -> str:
    """Return a share as a percentage: whole above 10%, with one decimal below.

    Examples
    --------
    >>> percent(0.714), percent(0.004), percent(0)
    ('71%', '0.4%', '0%')
    """
    if value is None:
        return ""
    share = float(value) * 100
    return f"{share:.1f}%" if 0 < share < 10 else f"{share:.0f}%"


@register.filter
def isolated(name: str) -> str:
    r"""Return a name with its right-to-left direction isolated from the rest of the sentence.

    Examples
    --------
    >>> isolated("bm25"), [ord(letter) for letter in isolated("\N{ARABIC LETTER TEH}")]
    ('bm25', [8296, 1578, 8297])
    """
    turns = any(unicodedata.bidirectional(letter) in TURNING for letter in name)
    return f"\u2068{name}\u2069" if turns else name


@register.filter
def short_hash(value: str) -> str:
    """Return the first and last characters of a SHA-256; show the whole one in a title or a download.

    Examples
    --------
    >>> short_hash("9c41f0" + "0" * 54 + "be27")
    '9c41f0…be27'
    """
    return f"{value[:6]}…{value[-4:]}" if len(value) > 12 else value


@register.simple_tag
def grade(value: int | None, top: int = 3, label: str = "") -> SafeString:
    """Return a grade as a chip that always shows its digit; None is an unjudged document.

    Parameters
    ----------
    value : int or None
        The grade.
    top : int
        The highest grade of the scale, which sets the shade.
    label : str
        The name of the grade, shown next to the chip.
    """
    if value is None or value == "":
        return HOLE
    chip = format_html('<span class="grade" {}="{}">{}</span>', *_place(int(value), int(top)), value)
    return format_html('<span class="row row--tight nowrap">{} <span>{}</span></span>', chip, label) if label else chip


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
    """Return a number with its interval and n, or the reason why there is none.

    Examples
    --------
    >>> interval(0.659, 0.6301, 0.693, 1798)
    '0.659 <span class="muted">(0.630–0.693, 1,798 pairs)</span>'
    >>> interval(-0.07, -0.16, 0.01, 280).partition(" ")[2]
    '<span class="muted">(−0.160–0.010, 280 pairs)</span>'
    >>> interval(None, reason="one rater only")
    '<span class="muted">not defined: one rater only</span>'
    """
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
    """Return a duration in its two largest units.

    Examples
    --------
    >>> duration(42), duration(90), duration(7260), duration(timedelta(days=1, hours=5))
    ('42 s', '1 min 30 s', '2 h 1 min', '1 day 5 h')
    """
    if value is None:
        return ""
    left = round(value.total_seconds() if isinstance(value, timedelta) else value)
    parts = []
    for name, size in (("day", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        many, left = divmod(left, size)
        plural = "s" if name == "day" and many != 1 else ""
        parts += [f"{many} {name}{plural}"] if many else []
    return " ".join(parts[:2]) or "0 s"
