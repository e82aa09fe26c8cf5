"""Page and API routes of comparisons."""

from django.urls import path

from evaluation.comparison import api
from evaluation.comparison.views import decision_critical, runs

urlpatterns = [
    path("c/<slug:slug>/scores/compare/", runs.compare, name="scores_compare"),
    path("c/<slug:slug>/scores/turning/", decision_critical.turning, name="scores_turning"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/scores/compare/", api.Compare.as_view()),
    path("collections/<slug:slug>/scores/turning/", api.Turning.as_view()),
]
