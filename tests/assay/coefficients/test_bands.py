"""Tests of the kappa bands: names, advice and default gate match the table of the project's source page."""

from __future__ import annotations

import pytest

from assay.coefficients.gate import BANDS, THRESHOLD, band

# Its table, as it stands there.
TABLE = """
| < 0.20 | Slight - raters are guessing; revise guidelines |
| 0.21-0.40 | Fair - guidelines unclear; calibrate with examples |
| 0.41-0.60 | Moderate - acceptable for exploratory work |
| 0.61-0.80 | Substantial - good for production gates |
| 0.81-1.00 | Almost perfect - target for high-stakes domains |
"""
ROWS = [line.strip("| ").split(" | ") for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize(("values", "says"), ROWS, ids=[values for values, _ in ROWS])
def test_a_band_says_what_the_table_says(values: str, says: str) -> None:
    ends = [float(end) for end in values.removeprefix("< ").split("-")]
    inside = [ends[0] - 0.01, -1.0, 0.0] if len(ends) == 1 else [*ends, sum(ends) / 2]
    for value in inside:
        result = band(value)
        assert f"{result.name.capitalize()} - {result.advice}" == says
    assert len(BANDS) == len(ROWS)


def test_the_gate_is_at_the_band_of_ambiguous_guidelines() -> None:
    assert THRESHOLD == 0.60
