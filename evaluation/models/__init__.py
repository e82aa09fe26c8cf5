"""Which rows hold what the judgments say about systems?"""

from evaluation.models.score import Score, Scoring

__all__ = ["Score", "Scoring"]
