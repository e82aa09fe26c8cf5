"""Label rules in which every rater counts the same: median, majority, mean, lowest and highest grade."""

from __future__ import annotations

import numpy as np

from assay.aggregation.label_rule import Rule, Verdicts, Votes


def lower_median(votes: Votes) -> Verdicts:
    """Return the middle grade, or the lower of two middle grades."""
    total = votes.counts.sum(axis=1)
    upto = np.cumsum(votes.counts, axis=1)
    lower = (upto >= ((total + 1) // 2)[:, None]).argmax(axis=1)
    upper = (upto >= (total // 2 + 1)[:, None]).argmax(axis=1)
    return Verdicts(votes.values[lower], lower != upper)


def majority(votes: Votes) -> Verdicts:
    """Return the most frequent grade."""
    most = votes.counts.max(axis=1)
    tie = (votes.counts == most[:, None]).sum(axis=1) > 1
    return Verdicts(np.where(tie, np.nan, votes.values[votes.counts.argmax(axis=1)]), tie)


def exact_mean(votes: Votes) -> Verdicts:
    """Return the mean as a fraction, for gains but not for qrels with whole grades."""
    return Verdicts(votes.counts @ votes.values / votes.counts.sum(axis=1), np.zeros(len(votes.counts), dtype=bool))


def rounded_mean(votes: Votes) -> Verdicts:
    """Return the grade of the scale nearest to the mean."""
    mean = exact_mean(votes).grades
    middle = (votes.values[:-1] + votes.values[1:]) / 2
    low, high = np.searchsorted(middle, mean, side="left"), np.searchsorted(middle, mean, side="right")
    return Verdicts(votes.values[low], low != high)


def lowest(votes: Votes) -> Verdicts:
    """Return the lowest grade given."""
    return Verdicts(votes.values[(votes.counts > 0).argmax(axis=1)], np.zeros(len(votes.counts), dtype=bool))


def highest(votes: Votes) -> Verdicts:
    """Return the highest grade given."""
    last = votes.counts.shape[1] - 1 - (votes.counts[:, ::-1] > 0).argmax(axis=1)
    return Verdicts(votes.values[last], np.zeros(len(votes.counts), dtype=bool))


MEDIAN = Rule(
    name="median",
    title="Lower median",
    description="The middle grade, or the lower of two middle grades. The default for up to four ratings per pair.",
    formula="the smallest grade that at least half of the grades do not exceed",
    settle=lower_median,
)
MAJORITY = Rule(
    name="majority",
    title="Majority",
    description="The most frequent grade; a lead resolves ties.",
    formula="the grade given by the largest number of raters; none in a tie",
    settle=majority,
)
MEAN = Rule(
    name="mean",
    title="Mean, rounded to the scale",
    description="The grade nearest to the mean; halfway values round down.",
    formula="the grade nearest to sum of grades / raters; the lower grade if halfway",
    settle=rounded_mean,
)
REAL_MEAN = Rule(
    name="real-mean",
    title="Mean",
    description="The mean as a fraction; use it for gains, not for whole grades.",
    formula="sum of grades / raters",
    settle=exact_mean,
)
MIN = Rule(
    name="min",
    title="Lowest",
    description="The lowest grade: the strictest rater decides.",
    formula="the smallest grade given",
    settle=lowest,
)
MAX = Rule(
    name="max",
    title="Highest",
    description="The highest grade: the most lenient rater decides.",
    formula="the largest grade given",
    settle=highest,
)
