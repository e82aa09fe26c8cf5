"""Page and API routes of click labels."""

from django.urls import path

from pooling.clicks import api, views

urlpatterns = [
    path("c/<slug:slug>/clicks/", views.source_list, name="clicks"),
    path("c/<slug:slug>/clicks/<uuid:uuid>/", views.source, name="click_source"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/clicks/", api.ClickSources.as_view()),
    path("collections/<slug:slug>/clicks/<uuid:uuid>/", api.OneClickSource.as_view()),
    path("collections/<slug:slug>/clicks/<uuid:uuid>/grades/", api.ClickGrades.as_view()),
]
