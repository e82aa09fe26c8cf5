"""Which pages does this room answer?"""

from __future__ import annotations

from django.urls import path

from evaluation.views import answers, compare, overview, scores, scoring

urlpatterns = [
    path("c/<slug:slug>/", overview.collection_page, name="collection"),
    path("c/<slug:slug>/scores/", scores.scores, name="scores"),
    path("c/<slug:slug>/scores/new/", scores.scores, name="scores_new"),
    path("c/<slug:slug>/scores/compare/", compare.compare, name="scores_compare"),
    path("c/<slug:slug>/scores/query/", answers.answers, name="scores_query"),
    path("c/<slug:slug>/scores/<uuid:uuid>/", scoring.scoring_page, name="scoring"),
]
