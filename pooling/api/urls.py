"""Which endpoints does this room answer?"""

from __future__ import annotations

from django.urls import path

from pooling.api import pools, query_logs, rounds, runs

urlpatterns = [
    path("collections/<slug:slug>/runs/", runs.Runs.as_view()),
    path("collections/<slug:slug>/query-logs/", query_logs.QueryLogs.as_view()),
    path("collections/<slug:slug>/query-logs/<uuid:uuid>/draw/", query_logs.DrawQueries.as_view()),
    path("collections/<slug:slug>/pools/", pools.Pools.as_view()),
    path("collections/<slug:slug>/rounds/", rounds.Rounds.as_view()),
]
