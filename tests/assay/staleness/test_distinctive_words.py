"""Tests of distinctive words of a document category."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.stats.contingency import odds_ratio

from assay.staleness.distinctive_words import _standing_out, telling_words

OTHERS = [f"{kind} for {who}" for kind in ("Rain jacket", "Tent", "Trail shoe", "Stove") for who in ("two", "winter")]


def test_common_words_and_numbers_are_not_distinctive():
    inside = [f"Hammock {n} with straps for two" for n in range(6)]
    assert telling_words(inside, OTHERS) == ["hammock", "straps"]
    assert telling_words([], OTHERS) == telling_words(OTHERS, OTHERS) == []


def test_a_word_is_as_a_log_would_hold_it():
    assert telling_words(["ＨÄNGEMATTE Straße"] * 4, OTHERS * 3) == ["hängematte", "strasse"]


def test_a_word_that_is_half_of_all_others_too_is_left_out():
    """It stands out clearly, and would draw the queries of half the shop."""
    inside, outside = ["light hammock"] * 200, ["light tent", "heavy tent"] * 200
    assert telling_words(inside, outside) == ["hammock"]


def test_the_order_of_the_titles_changes_nothing():
    inside, mixed = [f"Hammock {word}" for word in ("net", "tarp", "strap", "net")], list(OTHERS)
    random.Random(3).shuffle(mixed)
    assert telling_words(inside, mixed) == telling_words(inside[::-1], OTHERS)


def test_the_measure_is_the_sample_odds_ratio_of_scipy():
    counts, sizes = (30, 12), (80, 400)
    table = np.array([[counts[0], sizes[0] - counts[0]], [counts[1], sizes[1] - counts[1]]])
    oracle = odds_ratio(table, kind="sample")
    low, high = (np.log(end) for end in oracle.confidence_interval(0.95))
    # Without the added halves, so only near: its interval is symmetric in the log, 1.96 errors to each side.
    summary = np.log(oracle.statistic) / ((high - low) / (2 * 1.959964))
    assert _standing_out(counts, sizes) == pytest.approx(summary, rel=0.02)
