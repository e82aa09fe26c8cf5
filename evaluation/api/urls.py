"""API routes of the evaluation app."""

from __future__ import annotations

from django.urls import path

from evaluation.api import (
    compare,
    estimates,
    freshness,
    history,
    judge_effect,
    rater_effect,
    reuse,
    scores,
    snapshot_compare,
    turning,
)
from evaluation.rag import api as rag

urlpatterns = [
    path("collections/<slug:slug>/declarations/", freshness.Declarations.as_view()),
    path("collections/<slug:slug>/declarations/<uuid:uuid>/", freshness.OneDeclaration.as_view()),
    path("collections/<slug:slug>/freshness/", freshness.Freshness.as_view()),
    path("collections/<slug:slug>/freshness/check/", freshness.Check.as_view()),
    path("collections/<slug:slug>/freshness/pool/", freshness.RefreshPool.as_view()),
    path("collections/<slug:slug>/rag/samples/", rag.Samples.as_view()),
    path("collections/<slug:slug>/rag/samples/from-collection/", rag.FromCollection.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/", rag.OneSampleSet.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/file/", rag.SamplesFile.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/scorecards/", rag.Scorecards.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/people/", rag.People.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/critic/", rag.Critic.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/critic/pause/", rag.PauseCritic.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/critic/go-on/", rag.GoOnWithCritic.as_view()),
    path("collections/<slug:slug>/rag/outputs/", rag.Outputs.as_view()),
    path("collections/<slug:slug>/rag/outputs/<uuid:uuid>/", rag.OneSystem.as_view()),
    path("collections/<slug:slug>/rag/outputs/<uuid:uuid>/file/", rag.OutputsFile.as_view()),
    path("collections/<slug:slug>/scores/", scores.Scores.as_view()),
    path("collections/<slug:slug>/scores/compare/", compare.Compare.as_view()),
    path("collections/<slug:slug>/scores/turning/", turning.Turning.as_view()),
    path("collections/<slug:slug>/scores/reuse/", reuse.Reuse.as_view()),
    path("collections/<slug:slug>/scores/history/", history.History.as_view()),
    path("collections/<slug:slug>/snapshots/compare/", snapshot_compare.CompareSnapshots.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/effect/", judge_effect.JudgeEffect.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/estimates/", estimates.JudgeEstimates.as_view()),
    path("rounds/<uuid:uuid>/raters/", rater_effect.RaterEffects.as_view()),
]
