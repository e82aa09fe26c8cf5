"""Page and API routes of imports."""

from __future__ import annotations

from django.urls import path

from judgments.hooks import IMPORT_KINDS
from judgments.imports import api
from judgments.imports.views import imports, label_sources

urlpatterns = [
    # All kinds of import have the same pages, including those of the apps above.
    *(
        path(f"c/<slug:slug>/{kind}/new/", imports.new, {"kind": kind}, name=f"{kind.replace('-', '_')}_new")
        for kind in IMPORT_KINDS
    ),
    path("c/<slug:slug>/files/<slug:kind>/", imports.together, name="uploads_together"),
    path("uploads/<uuid:uuid>/", imports.upload, name="upload"),
    path("uploads/<uuid:uuid>/read/", imports.read_again, name="upload_read"),
    path("uploads/<uuid:uuid>/throw-away/", imports.throw_away, name="upload_throw_away"),
    path("c/<slug:slug>/qrels/", label_sources.source_list, name="qrels"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/documents/", api.Documents.as_view()),
    path("collections/<slug:slug>/queries/", api.Queries.as_view()),
    path("collections/<slug:slug>/queries/<uuid:uuid>/", api.OneQuery.as_view()),
    path("collections/<slug:slug>/qrels/", api.LabelSources.as_view()),
    path("collections/<slug:slug>/judgments/", api.ImportedRounds.as_view()),
]
