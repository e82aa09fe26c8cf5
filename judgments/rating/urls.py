"""Page and API routes of rating."""

from django.urls import path

from judgments.rating import api
from judgments.rating.views import rater_pages, station, station_data

urlpatterns = [
    path("keys/", rater_pages.keys, name="station_keys"),
    path("rounds/<uuid:uuid>/join/", rater_pages.join, name="round_join"),
    path("rounds/<uuid:uuid>/release/", rater_pages.release, name="round_release"),
    path("rounds/<uuid:uuid>/rate/", station.rate, name="rate"),
    path("rounds/<uuid:uuid>/rate/next/", station_data.next_cards, name="rate_next"),
    path("rounds/<uuid:uuid>/rate/last/", rater_pages.last, name="rate_last"),
    path("rounds/<uuid:uuid>/judge/", station.judge, name="judge"),
]

api_urlpatterns = [
    path("rounds/<uuid:uuid>/batch/", api.Batch.as_view()),
    path("rounds/<uuid:uuid>/release/", api.Release.as_view()),
    path("rounds/<uuid:uuid>/join/", api.Join.as_view()),
    path("rounds/<uuid:uuid>/judgments/", api.Judgments.as_view()),
    path("rounds/<uuid:uuid>/judgments/<uuid:client_id>/undo/", api.Undo.as_view()),
]
