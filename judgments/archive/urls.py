"""Page and API routes of the archive."""

from django.urls import path

from judgments.archive import api, views

urlpatterns = [
    path("c/<slug:slug>/archive/", views.archived, name="archive"),
    path("c/<slug:slug>/archive/<str:kind>/<uuid:uuid>/", views.one, name="archive_one"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/archive/", api.Archive.as_view()),
    path("collections/<slug:slug>/restore/", api.Restore.as_view()),
    path("collections/<slug:slug>/delete/", api.Delete.as_view()),
]
