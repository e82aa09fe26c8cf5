"""Which pages does this room answer?"""

from __future__ import annotations

from django.urls import path

from evaluation.views import answers, compare, overview, reuse, scores, scores_history, scores_new, scoring, turning

urlpatterns = [
    path("c/<slug:slug>/", overview.collection_page, name="collection"),
    path("c/<slug:slug>/scores/", scores.scores, name="scores"),
    path("c/<slug:slug>/scores/new/", scores_new.scores_new, name="scores_new"),
    path("c/<slug:slug>/scores/history/", scores_history.scores_history, name="scores_history"),
    path("c/<slug:slug>/scores/compare/", compare.compare, name="scores_compare"),
    path("c/<slug:slug>/scores/turning/", turning.turning, name="scores_turning"),
    path("c/<slug:slug>/scores/reuse/", reuse.reuse, name="scores_reuse"),
    path("c/<slug:slug>/scores/query/", answers.answers, name="scores_query"),
    path("c/<slug:slug>/scores/<uuid:uuid>/", scoring.scoring_page, name="scoring"),
]
