"""Page and API routes of effects."""

from __future__ import annotations

from django.urls import path

from evaluation.effects import api
from evaluation.effects.views import rater_effect, snapshot_changes

urlpatterns = [
    path("c/<slug:slug>/snapshots/compare/", snapshot_changes.snapshot_compare, name="snapshots_compare"),
    path("rounds/<uuid:uuid>/raters/", rater_effect.rater_effect, name="round_raters"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/snapshots/compare/", api.CompareSnapshots.as_view()),
    path("rounds/<uuid:uuid>/raters/", api.RaterEffects.as_view()),
]
