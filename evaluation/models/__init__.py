"""Database models of the evaluation app."""

from evaluation.models.decision import Candidate, Decision, ListJudge, ListPreference
from evaluation.models.gate import GateVerdict
from evaluation.models.rag import (
    RagCriticCall,
    RagCriticRun,
    RagGrading,
    RagOutput,
    RagSample,
    RagSampleSet,
    RagScorecard,
    RagSystem,
)
from evaluation.models.score import FreshnessCheck, FreshnessReading, RoundEffect, Score, Scoring

__all__ = [
    "Candidate",
    "Decision",
    "FreshnessCheck",
    "FreshnessReading",
    "GateVerdict",
    "ListJudge",
    "ListPreference",
    "RagCriticCall",
    "RagCriticRun",
    "RagGrading",
    "RagOutput",
    "RagSample",
    "RagSampleSet",
    "RagScorecard",
    "RagSystem",
    "RoundEffect",
    "Score",
    "Scoring",
]
