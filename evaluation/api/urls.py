"""Which endpoints does this room answer?"""

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

urlpatterns = [
    path("collections/<slug:slug>/declarations/", freshness.Declarations.as_view()),
    path("collections/<slug:slug>/declarations/<uuid:uuid>/", freshness.OneDeclaration.as_view()),
    path("collections/<slug:slug>/freshness/", freshness.Freshness.as_view()),
    path("collections/<slug:slug>/freshness/check/", freshness.Check.as_view()),
    path("collections/<slug:slug>/freshness/pool/", freshness.RefreshPool.as_view()),
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
