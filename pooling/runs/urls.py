"""Page and API routes of runs."""

from django.urls import path

from pooling.runs import api
from pooling.runs.views import run, runs

urlpatterns = [
    path("c/<slug:slug>/runs/", runs.run_list, name="runs"),
    path("c/<slug:slug>/runs/<uuid:uuid>/", run.run, name="run"),
    path("c/<slug:slug>/runs/<uuid:uuid>/file/", run.run_file, name="run_file"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/runs/", api.Runs.as_view()),
    path("collections/<slug:slug>/runs/<uuid:uuid>/", api.OneRun.as_view()),
    path("collections/<slug:slug>/runs/<uuid:uuid>/health/", api.RunHealth.as_view()),
    path("collections/<slug:slug>/runs/<uuid:uuid>/export/<str:run_format>/", api.RunFile.as_view()),
]
