"""Page and API routes of freshness."""

from django.urls import path

from evaluation.freshness import api, views

urlpatterns = [
    path("c/<slug:slug>/freshness/", views.freshness_page, name="freshness"),
    path("c/<slug:slug>/freshness/check/", views.freshness_check, name="freshness_check"),
    path("c/<slug:slug>/freshness/pool/", views.freshness_pool, name="freshness_pool"),
    path("c/<slug:slug>/freshness/feed/", views.freshness_feed, name="freshness_feed"),
    path("c/<slug:slug>/freshness/fields/", views.freshness_fields, name="freshness_fields"),
    path("c/<slug:slug>/freshness/stratum/", views.freshness_stratum, name="freshness_stratum"),
    path("c/<slug:slug>/freshness/history/", views.freshness_history, name="freshness_history"),
    path("c/<slug:slug>/freshness/declare/", views.freshness_declare, name="freshness_declare"),
    path(
        "c/<slug:slug>/freshness/declare/<uuid:uuid>/withdraw/",
        views.freshness_withdraw,
        name="freshness_withdraw",
    ),
]

api_urlpatterns = [
    path("collections/<slug:slug>/declarations/", api.Declarations.as_view()),
    path("collections/<slug:slug>/declarations/<uuid:uuid>/", api.OneDeclaration.as_view()),
    path("collections/<slug:slug>/freshness/", api.Freshness.as_view()),
    path("collections/<slug:slug>/freshness/check/", api.Check.as_view()),
    path("collections/<slug:slug>/freshness/pool/", api.RefreshPool.as_view()),
]
