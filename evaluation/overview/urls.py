"""Page routes of the overview."""

from django.urls import path

from evaluation.overview import views

urlpatterns = [
    path("c/<slug:slug>/", views.collection_page, name="collection"),
]
