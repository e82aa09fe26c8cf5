"""Page and API routes of snapshots."""

from django.urls import path

from judgments.snapshots import api
from judgments.snapshots.views import changed_pairs, snapshots
from judgments.snapshots.views import snapshots as freeze

urlpatterns = [
    path("c/<slug:slug>/snapshots/", snapshots.snapshot_list, name="snapshots"),
    path("c/<slug:slug>/snapshots/new/", freeze.new, name="snapshot_new"),
    path("c/<slug:slug>/snapshots/new/changes/", changed_pairs.changes, name="snapshot_changes"),
    path("c/<slug:slug>/snapshots/new/stale/", changed_pairs.stale, name="snapshot_stale"),
    path("snapshots/<uuid:uuid>/", snapshots.snapshot, name="snapshot"),
    path("snapshots/<uuid:uuid>/export/<str:format>/", snapshots.export, name="snapshot_export"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/snapshots/", api.Snapshots.as_view()),
    path("collections/<slug:slug>/bundles/", api.Bundles.as_view()),
    path("collections/<slug:slug>/snapshots/preview/", api.Preview.as_view()),
    path("snapshots/<uuid:uuid>/", api.OneSnapshot.as_view()),
    path("snapshots/<uuid:uuid>/manifest/", api.Manifest.as_view()),
    # Not called <format>, because DRF would use it as the format of its own response.
    path("snapshots/<uuid:uuid>/export/<str:name>/", api.Export.as_view()),
]
