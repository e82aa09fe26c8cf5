"""Check: a rater's self-consistency on repeats, as quadratic kappa."""

from __future__ import annotations

import math

import numpy as np

from assay.quality.check import Check, Finding, Floats, Record, Z, state_of, too_little

NEEDED = 20
MARK = 0.5


def kappa(table: Floats) -> tuple[float | None, float]:
    """Return Cohen's kappa with quadratic weights and its asymptotic error, after Fleiss, Cohen and Everitt (1969).

    Examples
    --------
    >>> [round(one, 6) for one in kappa(np.array([[20.0, 5.0], [10.0, 15.0]]))]
    [0.4, 0.126996]
    """
    n, size = float(table.sum()), len(table)
    steps = np.subtract.outer(np.arange(size), np.arange(size))
    weights = 1 - (steps / max(size - 1, 1)) ** 2
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, expected = float((shares * weights).sum()), float(rows @ weights @ columns)
    if expected >= 1 - 1e-12:
        return None, 0.0
    value = (observed - expected) / (1 - expected)
    means = np.add.outer(weights @ columns, rows @ weights)
    inner = float((shares * (weights - means * (1 - value)) ** 2).sum()) - (value - expected * (1 - value)) ** 2
    return value, math.sqrt(max(inner, 0.0) / n) / (1 - expected)


def find(record: Record) -> list[Finding]:
    """Compute quadratic kappa of first and repeated grades; alert if the whole interval is below 0.5."""
    size = len(record.scale)
    scale = np.asarray(record.scale)
    cells = np.searchsorted(scale, record.repeats.expected) * size + np.searchsorted(scale, record.repeats.given)
    findings = []
    for code, rater in enumerate(record.raters):
        mine = cells[record.repeats.rater == code]
        findings.append(_of(rater, np.bincount(mine, minlength=size * size).reshape(size, size).astype(float)))
    return findings


def _of(rater: str, table: Floats) -> Finding:
    n, equal = int(table.sum()), int(np.trace(table))
    if n < NEEDED:
        return too_little("consistency", rater, n, NEEDED, numbers={"equal": equal})
    value, error = kappa(table)
    numbers = {"equal": equal}
    if value is None:
        message = f"{equal} of {n} repeats got the same grade. Kappa is undefined because only one grade was used."
        return Finding("consistency", rater, "fine", n, NEEDED, message, threshold=MARK, numbers=numbers)
    low, high = max(value - Z * error, -1.0), min(value + Z * error, 1.0)
    message = f"{equal} of {n} repeats got the same grade; quadratic kappa {value:.2f} ({low:.2f} to {high:.2f})."
    state = state_of(high < MARK)
    return Finding(
        "consistency",
        rater,
        state,
        n,
        NEEDED,
        message,
        value,
        low,
        high,
        MARK,
        numbers=numbers,
    )


CONSISTENCY = Check(
    name="consistency",
    title="Self-consistency",
    asks="Checks whether repeats got the same grade as the first time.",
    advice="Ask which pairs were hard to decide. The line between two grades may need an example in the guidelines.",
    severity="mild",
    needed=NEEDED,
    unit="repeats",
    find=find,
    rings="below",
)
