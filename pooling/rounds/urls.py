"""Page and API routes of rounds."""

from django.urls import path

from pooling.rounds import api, views

urlpatterns = [
    path("c/<slug:slug>/start/", views.start, name="start"),
    path("c/<slug:slug>/rounds/new/", views.round_new, name="round_new"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/rounds/", api.Rounds.as_view()),
    path("rounds/<uuid:uuid>/refill/", api.RefillOfRound.as_view()),
]
