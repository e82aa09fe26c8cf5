"""Page and API routes of guidelines."""

from __future__ import annotations

from django.urls import path

from judgments.guidelines import api
from judgments.guidelines.views import guidelines, new_version

urlpatterns = [
    path("c/<slug:slug>/guidelines/", guidelines.version_list, name="guidelines"),
    path("c/<slug:slug>/guidelines/new/", new_version.new, name="guidelines_new"),
    path("c/<slug:slug>/guidelines/examples/<uuid:uuid>/remove/", new_version.remove_example, name="example_remove"),
    path("guidelines/<uuid:uuid>/", guidelines.version, name="guidelines_version"),
    path("guidelines/<uuid:uuid>/file/", guidelines.file, name="guidelines_file"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/guidelines/", api.Versions.as_view()),
    path("collections/<slug:slug>/guidelines/<int:number>/", api.OneVersion.as_view()),
    path("collections/<slug:slug>/guidelines/examples/", api.Examples.as_view()),
    path("collections/<slug:slug>/guidelines/examples/<uuid:uuid>/", api.OneExample.as_view()),
]
