"""Page and API routes of imports."""

from django.urls import path

from judgments.hooks import IMPORT_KINDS
from judgments.imports import api, upload_sessions_api, views

urlpatterns = [
    # All kinds of import have the same pages, including those of the apps above.
    *(
        path(f"c/<slug:slug>/{kind}/new/", views.new, {"kind": kind}, name=f"{kind.replace('-', '_')}_new")
        for kind in IMPORT_KINDS
    ),
    path("c/<slug:slug>/files/<slug:kind>/", views.together, name="uploads_together"),
    path("uploads/<uuid:uuid>/", views.upload, name="upload"),
    path("uploads/<uuid:uuid>/read/", views.read_again, name="upload_read"),
    path("uploads/<uuid:uuid>/throw-away/", views.throw_away, name="upload_throw_away"),
    path("c/<slug:slug>/qrels/", views.source_list, name="qrels"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/documents/", api.Documents.as_view()),
    path("collections/<slug:slug>/queries/", api.Queries.as_view()),
    path("collections/<slug:slug>/queries/<uuid:uuid>/", api.OneQuery.as_view()),
    path("collections/<slug:slug>/qrels/", api.LabelSources.as_view()),
    path("collections/<slug:slug>/judgments/", api.ImportedRounds.as_view()),
    path("collections/<slug:slug>/uploads/", upload_sessions_api.Uploads.as_view()),
    path("collections/<slug:slug>/uploads/<uuid:uuid>/", upload_sessions_api.OneUpload.as_view()),
]
