"""Page routes of documents."""

from django.urls import path

from judgments.documents import views

urlpatterns = [
    path("c/<slug:slug>/documents/", views.document_list, name="documents"),
    path("c/<slug:slug>/documents/<uuid:uuid>/", views.document, name="document"),
]
