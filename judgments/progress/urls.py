"""Page and API routes of progress."""

from django.urls import path

from judgments.progress import api, views

urlpatterns = [
    path("rounds/<uuid:uuid>/progress/", views.progress, name="round_progress"),
]

api_urlpatterns = [
    path("rounds/<uuid:uuid>/progress/", api.Progress.as_view()),
]
