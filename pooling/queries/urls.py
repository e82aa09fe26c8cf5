"""Page routes of query groups and narratives."""

from django.urls import path

from pooling.queries.views import group_list, needs, query_group

urlpatterns = [
    path("c/<slug:slug>/queries/needs/", needs, name="queries_needs"),
    path("c/<slug:slug>/queries/groups/", group_list, name="query_groups"),
    path("c/<slug:slug>/queries/groups/<uuid:uuid>/", query_group, name="query_group"),
]
