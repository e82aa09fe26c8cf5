"""Root URL configuration: the API with its schema and docs, the admin, login, and the apps' pages."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerSplitView

from config.schema import schema
from evaluation import urls as evaluation
from judgments import urls as judgments
from judgments.members.views.account import Login, Logout, Password
from pooling import urls as pooling

urlpatterns = [
    # The API, its schema and its docs. The script of the docs is a separate file, as the content security policy
    # requires. The API comes first because it gets the most requests and Django tries routes in order.
    path("api/v1/", include(judgments.api_urlpatterns)),
    path("api/v1/", include(pooling.api_urlpatterns)),
    path("api/v1/", include(evaluation.api_urlpatterns)),
    path("api/schema/", schema, name="schema"),
    path(
        "api/docs/",
        SpectacularSwaggerSplitView.as_view(url_name="schema", http_method_names=["get", "head"]),
        name="api_docs",
    ),
    # The admin has its own login page, on which passwords could be guessed without a limit.
    path("admin/password_change/", RedirectView.as_view(pattern_name="password")),
    # Log-outs from the admin are recorded too.
    path("admin/logout/", Logout.as_view()),
    path("admin/", admin.site.urls),
    path("login/", Login.as_view(), name="login"),
    path("logout/", Logout.as_view(), name="logout"),
    path("password/", Password.as_view(), name="password"),
    # Pages of the apps.
    path("", include("judgments.urls")),
    path("", include("pooling.urls")),
    path("", include("evaluation.urls")),
]

# Programs get JSON errors even for unknown URLs.
handler404 = "judgments.web.error_responses.no_such_address"
handler500 = "judgments.web.error_responses.our_mistake"
