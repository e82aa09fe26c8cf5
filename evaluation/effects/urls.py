"""Page and API routes of effects."""

from __future__ import annotations

from django.urls import path

from evaluation.effects.api import estimates as estimates_api
from evaluation.effects.api import judge as judge_api
from evaluation.effects.api import rater_effect as rater_effect_api
from evaluation.effects.api import snapshot_changes as snapshot_changes_api
from evaluation.effects.views import estimates, judge, rater_effect, snapshot_changes

urlpatterns = [
    path("c/<slug:slug>/snapshots/compare/", snapshot_changes.snapshot_compare, name="snapshots_compare"),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/", judge.judge, name="machine_judge"),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/estimates/", estimates.judge_estimates, name="judge_estimates"),
    path("rounds/<uuid:uuid>/raters/", rater_effect.rater_effect, name="round_raters"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/snapshots/compare/", snapshot_changes_api.CompareSnapshots.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/effect/", judge_api.JudgeEffect.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/estimates/", estimates_api.JudgeEstimates.as_view()),
    path("rounds/<uuid:uuid>/raters/", rater_effect_api.RaterEffects.as_view()),
]
