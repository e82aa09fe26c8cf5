"""Display format of metric values, differences and p-values: shares with three decimals, counts as counts."""

from __future__ import annotations

from functools import lru_cache

from assay.core.errors import AssayError
from evaluation.scoring.stored_scores import mean_kind
from judgments.web.figures import number


def shown(value: float | None, metric: str) -> str:
    """Format a value; a count has no decimals, or one if weights or an interval made it fractional."""
    return number(value, _digits(value, metric))


def shown_difference(value: float | None, metric: str) -> str:
    """Format a difference with its sign; the mean difference of counts may be fractional."""
    return signed(value, _digits(value, metric) and 3)


def signed(value: float | None, digits: int = 3) -> str:
    """Format a difference with its sign, using a true minus."""
    if value is None:
        return ""
    return f"{value:+.{digits}f}".replace("-", "−") if value else f"{0:.{digits}f}"


def chance(value: float, smallest: float | None = None) -> str:
    """Format a p-value; at the smallest value of the test, only an upper bound is known."""
    sign = "≤" if smallest is not None and value <= smallest else "="
    return f"{sign} {value:.3f}" if value >= 0.001 else f"{sign} {value:.5f}"


def _digits(value: float | None, metric: str) -> int:
    return 3 if value is None or not counts(metric) else 0 if float(value).is_integer() else 1


@lru_cache(maxsize=1000)
def counts(metric: str) -> bool:
    """Return whether a metric counts documents, so that its values are whole and a sum over queries makes sense."""
    try:
        return mean_kind(metric) == "sum"
    except AssayError:
        return False  # the run was scored with a metric of a package that is no longer installed
