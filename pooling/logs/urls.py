"""Page and API routes of query logs."""

from django.urls import path

from pooling.logs import api, views

urlpatterns = [
    path("c/<slug:slug>/query-logs/", views.log_list, name="query_logs"),
    path("c/<slug:slug>/query-logs/<uuid:uuid>/", views.query_log, name="query_log"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/query-logs/", api.QueryLogs.as_view()),
    path("collections/<slug:slug>/query-logs/<uuid:uuid>/draw/", api.DrawQueries.as_view()),
]
