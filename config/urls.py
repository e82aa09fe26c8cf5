"""Which address leads to which room?"""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import include, path

from judgments.views.login import Login

urlpatterns = [
    path("admin/", admin.site.urls),
    path("login/", Login.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    # Pages: each room names its own.
    path("", include("judgments.urls")),
    path("", include("pooling.urls")),
    path("", include("evaluation.urls")),
    # The API under api/v1/, its schema and its docs.
]
