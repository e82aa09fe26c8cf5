"""Page and API routes of guidelines."""

from django.urls import path

from judgments.guidelines import api, views

urlpatterns = [
    path("c/<slug:slug>/guidelines/", views.version_list, name="guidelines"),
    path("c/<slug:slug>/guidelines/new/", views.new, name="guidelines_new"),
    path("c/<slug:slug>/guidelines/examples/<uuid:uuid>/remove/", views.remove_example, name="example_remove"),
    path("guidelines/<uuid:uuid>/", views.version, name="guidelines_version"),
    path("guidelines/<uuid:uuid>/file/", views.file, name="guidelines_file"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/guidelines/", api.Versions.as_view()),
    path("collections/<slug:slug>/guidelines/<int:number>/", api.OneVersion.as_view()),
    path("collections/<slug:slug>/guidelines/examples/", api.Examples.as_view()),
    path("collections/<slug:slug>/guidelines/examples/<uuid:uuid>/", api.OneExample.as_view()),
]
