"""Display format of metric values, differences and p-values: shares with three decimals, counts as counts."""

from __future__ import annotations

from functools import lru_cache

from assay.core.errors import AssayError
from evaluation.scoring.stored_scores import mean_kind
from judgments.web.figures import number


def shown(value: float | None, metric: str) -> str:
    """A value in digits; a count without decimals, or with one where weights or an interval made a fraction of it.

    Examples
    --------
    >>> shown(0.41234, "nDCG@10"), shown(1331.0, "NumRet"), shown(12.34, "NumRel"), shown(None, "NumRel")
    ('0.412', '1,331', '12.3', '')
    """
    return number(value, _digits(value, metric))


def shown_difference(value: float | None, metric: str) -> str:
    """The same for a difference, with its sign; of counts the mean over queries is a fraction.

    Examples
    --------
    >>> shown_difference(-0.2, "AP"), shown_difference(-3.0, "NumRelRet"), shown_difference(0.02, "NumRet")
    ('−0.200', '−3', '+0.020')
    """
    return signed(value, _digits(value, metric) and 3)


def signed(value: float | None, digits: int = 3) -> str:
    """A difference with its sign, a true minus for the minus.

    Examples
    --------
    >>> signed(0.0412), signed(-0.2), signed(0.0)
    ('+0.041', '−0.200', '0.000')
    """
    if value is None:
        return ""
    return f"{value:+.{digits}f}".replace("-", "−") if value else f"{0:.{digits}f}"


def chance(value: float, smallest: float | None = None) -> str:
    """A p as it stands on the page; one at the floor of the test is only known to be so small.

    Examples
    --------
    >>> chance(0.0312), chance(0.00001, 0.00001), chance(1.0)
    ('= 0.031', '≤ 0.00001', '= 1.000')
    """
    sign = "≤" if smallest is not None and value <= smallest else "="
    return f"{sign} {value:.3f}" if value >= 0.001 else f"{sign} {value:.5f}"


def _digits(value: float | None, metric: str) -> int:
    return 3 if value is None or not counts(metric) else 0 if float(value).is_integer() else 1


@lru_cache(maxsize=1000)
def counts(metric: str) -> bool:
    """Whether a metric counts something: its values are whole, and its sum over the queries is told."""
    try:
        return mean_kind(metric) == "sum"
    except AssayError:
        return False  # scored by a metric of another package that is here no longer
