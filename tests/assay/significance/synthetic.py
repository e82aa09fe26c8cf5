"""Synthetic scores for the tests of significance."""

from __future__ import annotations

import numpy as np


def runs(queries: int = 43, number: int = 60) -> np.ndarray:
    """The synthetic scores for which evaluation engines were compared: queries differ more than runs do."""
    random = np.random.default_rng(5)
    difficulty = random.beta(2, 2, size=(queries, 1))
    noise = random.normal(scale=0.15, size=(queries, number))
    return np.clip(difficulty + noise + np.linspace(0, 0.08, number), 0, 1)


def alike(queries: int = 20, pairs: int = 300, seed: int = 11) -> np.ndarray:
    """Pairs of runs, columns 2k and 2k + 1, of which neither is better: each query spreads as it likes."""
    random = np.random.default_rng(seed)
    difficulty = random.beta(2, 2, size=(queries, pairs)).repeat(2, axis=1)
    return difficulty + random.normal(scale=0.15, size=(queries, 2 * pairs))
