"""Tests of metrics compared with people's grades: corrected means stay on the metric's scale."""

from __future__ import annotations

from assay.rag.human_grades import compare_values


def test_corrected_means_and_intervals_stay_within_the_metric() -> None:
    known = {(f"s{n}", "bot"): n % 4 / 4 for n in range(40)}
    for grade in (0, 2):
        # One odd grade among five: Student's interval of so few reaches far beyond the scale.
        grades = {(f"s{n}", "bot"): 1 if n == 0 else grade for n in range(5)}
        (one,) = compare_values("TokenF1", ["bot"], known, grades, (0, 1, 2)).systems
        assert one.estimate is not None
        assert one.estimate.human_only is not None
        ends = (one.estimate.low, one.estimate.high, *one.estimate.human_only)
        assert all(end is not None and 0 <= end <= 1 for end in ends)
