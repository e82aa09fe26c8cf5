"""Page and API routes of scoring."""

from django.urls import path

from evaluation.scoring import api
from evaluation.scoring.views import history, new, query, run, scores

urlpatterns = [
    path("c/<slug:slug>/scores/", scores.scores, name="scores"),
    path("c/<slug:slug>/scores/new/", new.scores_new, name="scores_new"),
    path("c/<slug:slug>/scores/history/", history.scores_history, name="scores_history"),
    path("c/<slug:slug>/scores/query/", query.answers, name="scores_query"),
    path("c/<slug:slug>/scores/<uuid:uuid>/", run.scoring_page, name="scoring"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/scores/", api.Scores.as_view()),
    path("collections/<slug:slug>/scores/history/", api.History.as_view()),
]
