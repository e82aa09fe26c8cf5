"""Which pages does this room answer?"""

from __future__ import annotations

from django.urls import path

from evaluation.views import overview

urlpatterns = [
    path("c/<slug:slug>/", overview.collection_page, name="collection"),
]
