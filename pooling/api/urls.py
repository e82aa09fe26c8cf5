"""API routes of the pooling app."""

from __future__ import annotations

from django.urls import path

from pooling.api import clicks, connectors, pools, query_logs, rounds, runs
from pooling.api.strata import Drafts, Proposals, Strata

urlpatterns = [
    path("collections/<slug:slug>/strata/", Strata.as_view()),
    path("collections/<slug:slug>/query-groups/proposals/", Proposals.as_view()),
    path("collections/<slug:slug>/queries/drafts/", Drafts.as_view()),
    path("collections/<slug:slug>/runs/", runs.Runs.as_view()),
    path("collections/<slug:slug>/runs/<uuid:uuid>/", runs.OneRun.as_view()),
    path("collections/<slug:slug>/runs/<uuid:uuid>/health/", runs.RunHealth.as_view()),
    path("collections/<slug:slug>/runs/<uuid:uuid>/export/<str:run_format>/", runs.RunFile.as_view()),
    path("collections/<slug:slug>/query-logs/", query_logs.QueryLogs.as_view()),
    path("collections/<slug:slug>/query-logs/<uuid:uuid>/draw/", query_logs.DrawQueries.as_view()),
    path("collections/<slug:slug>/clicks/", clicks.ClickSources.as_view()),
    path("collections/<slug:slug>/clicks/<uuid:uuid>/", clicks.OneClickSource.as_view()),
    path("collections/<slug:slug>/clicks/<uuid:uuid>/grades/", clicks.ClickGrades.as_view()),
    path("collections/<slug:slug>/connectors/", connectors.Connectors.as_view()),
    path("collections/<slug:slug>/connectors/<uuid:uuid>/", connectors.OneConnector.as_view()),
    path("collections/<slug:slug>/connectors/<uuid:uuid>/try/", connectors.TryConnector.as_view()),
    path("collections/<slug:slug>/connectors/<uuid:uuid>/fetches/", connectors.Fetches.as_view()),
    path(
        "collections/<slug:slug>/connectors/<uuid:uuid>/fetches/<uuid:fetch>/go-on/", connectors.GoOnWithFetch.as_view()
    ),
    path("collections/<slug:slug>/pools/", pools.Pools.as_view()),
    path("collections/<slug:slug>/pools/<uuid:uuid>/duplicates/", pools.PoolDuplicates.as_view()),
    path("collections/<slug:slug>/rounds/", rounds.Rounds.as_view()),
    path("rounds/<uuid:uuid>/refill/", rounds.RefillOfRound.as_view()),
]
