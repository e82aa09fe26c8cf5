"""Page and API routes of rounds."""

from __future__ import annotations

from django.urls import path

from pooling.rounds import api
from pooling.rounds.views import new as round_new
from pooling.rounds.views import start

urlpatterns = [
    path("c/<slug:slug>/start/", start.start, name="start"),
    path("c/<slug:slug>/rounds/new/", round_new.round_new, name="round_new"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/rounds/", api.Rounds.as_view()),
    path("rounds/<uuid:uuid>/refill/", api.RefillOfRound.as_view()),
]
