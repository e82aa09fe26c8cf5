"""Page and API routes of comparisons."""

from __future__ import annotations

from django.urls import path

from evaluation.comparison.api import decision_critical as decision_critical_api
from evaluation.comparison.api import runs as runs_api
from evaluation.comparison.views import decision_critical, runs

urlpatterns = [
    path("c/<slug:slug>/scores/compare/", runs.compare, name="scores_compare"),
    path("c/<slug:slug>/scores/turning/", decision_critical.turning, name="scores_turning"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/scores/compare/", runs_api.Compare.as_view()),
    path("collections/<slug:slug>/scores/turning/", decision_critical_api.Turning.as_view()),
]
