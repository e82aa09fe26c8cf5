"""URL routes of the pooling app's pages."""

from __future__ import annotations

from django.urls import path

from pooling.views import (
    clicks,
    connector,
    connectors,
    discovery,
    duplicates,
    pool_new,
    pools,
    query_logs,
    round_new,
    run,
    runs,
    start,
)
from pooling.views.needs import needs
from pooling.views.query_groups import group_list, query_group
from pooling.views.strata import stratum_list

urlpatterns = [
    path("c/<slug:slug>/queries/needs/", needs, name="queries_needs"),
    path("c/<slug:slug>/queries/groups/", group_list, name="query_groups"),
    path("c/<slug:slug>/queries/groups/<uuid:uuid>/", query_group, name="query_group"),
    path("c/<slug:slug>/strata/", stratum_list, name="strata"),
    path("c/<slug:slug>/start/", start.start, name="start"),
    path("c/<slug:slug>/query-logs/", query_logs.log_list, name="query_logs"),
    path("c/<slug:slug>/query-logs/<uuid:uuid>/", query_logs.query_log, name="query_log"),
    path("c/<slug:slug>/clicks/", clicks.source_list, name="clicks"),
    path("c/<slug:slug>/clicks/<uuid:uuid>/", clicks.source, name="click_source"),
    path("c/<slug:slug>/runs/", runs.run_list, name="runs"),
    path("c/<slug:slug>/runs/<uuid:uuid>/", run.run, name="run"),
    path("c/<slug:slug>/runs/<uuid:uuid>/file/", run.run_file, name="run_file"),
    path("c/<slug:slug>/connectors/", connectors.connector_list, name="connectors"),
    path("c/<slug:slug>/connectors/new/", connectors.connector_new, name="connector_new"),
    path("c/<slug:slug>/connectors/<uuid:uuid>/", connector.connector, name="connector"),
    path("c/<slug:slug>/connectors/<uuid:uuid>/change/", connectors.connector_change, name="connector_change"),
    path("c/<slug:slug>/connectors/<uuid:uuid>/remove/", connectors.connector_remove, name="connector_remove"),
    path("c/<slug:slug>/connectors/<uuid:uuid>/try/", connector.connector_try, name="connector_try"),
    path("c/<slug:slug>/connectors/<uuid:uuid>/go-on/", connector.fetch_go_on, name="fetch_go_on"),
    path("c/<slug:slug>/pools/", pools.pool_list, name="pools"),
    path("c/<slug:slug>/pools/new/", pool_new.pool_new, name="pool_new"),
    path("c/<slug:slug>/pools/<uuid:uuid>/", pools.pool, name="pool"),
    path("c/<slug:slug>/pools/<uuid:uuid>/apart/", duplicates.pool_apart, name="pool_apart"),
    path("c/<slug:slug>/rounds/new/", round_new.round_new, name="round_new"),
    path("rounds/<uuid:uuid>/discovery/", discovery.round_discovery, name="round_discovery"),
    path("rounds/<uuid:uuid>/refill/", discovery.round_refill, name="round_refill"),
]
