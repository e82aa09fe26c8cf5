"""Which endpoints does this room answer?"""

from __future__ import annotations

from django.urls import path

from evaluation.api import scores

urlpatterns = [
    path("collections/<slug:slug>/scores/", scores.Scores.as_view()),
]
