"""Page and API routes of effects."""

from django.urls import path

from evaluation.effects import api, views

urlpatterns = [
    path("c/<slug:slug>/snapshots/compare/", views.snapshot_compare, name="snapshots_compare"),
    path("rounds/<uuid:uuid>/raters/", views.rater_effect, name="round_raters"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/snapshots/compare/", api.CompareSnapshots.as_view()),
    path("rounds/<uuid:uuid>/raters/", api.RaterEffects.as_view()),
]
