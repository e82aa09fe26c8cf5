"""Page and API routes of queries."""

from django.urls import path

from judgments.queries import api, views

urlpatterns = [
    path("c/<slug:slug>/queries/", views.query_list, name="queries"),
    path("c/<slug:slug>/queries/<uuid:uuid>/", views.query, name="query"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/query-groups/", api.QueryGroups.as_view()),
    path("collections/<slug:slug>/query-groups/<uuid:uuid>/", api.OneQueryGroup.as_view()),
]
