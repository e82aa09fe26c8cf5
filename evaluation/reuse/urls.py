"""Page and API routes of reusability."""

from django.urls import path

from evaluation.reuse import api, views

urlpatterns = [
    path("c/<slug:slug>/scores/reuse/", views.reuse, name="scores_reuse"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/scores/reuse/", api.Reuse.as_view()),
]
