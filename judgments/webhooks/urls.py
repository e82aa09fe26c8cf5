"""Page and API routes of webhooks."""

from django.urls import path

from judgments.webhooks import api, views

urlpatterns = [
    path("c/<slug:slug>/webhooks/", views.webhook_list, name="webhooks"),
    path("c/<slug:slug>/webhooks/new/", views.webhook_new, name="webhook_new"),
    path("c/<slug:slug>/webhooks/<uuid:uuid>/", views.webhook, name="webhook"),
    path("c/<slug:slug>/webhooks/<uuid:uuid>/change/", views.webhook_change, name="webhook_change"),
    path("c/<slug:slug>/webhooks/<uuid:uuid>/remove/", views.webhook_remove, name="webhook_remove"),
    path("c/<slug:slug>/webhooks/<uuid:uuid>/rotate/", views.webhook_rotate, name="webhook_rotate"),
    path("c/<slug:slug>/webhooks/<uuid:uuid>/switch/", views.webhook_switch, name="webhook_switch"),
    path("c/<slug:slug>/webhooks/<uuid:uuid>/test/", views.webhook_test, name="webhook_test"),
    path(
        "c/<slug:slug>/webhooks/<uuid:uuid>/deliveries/<uuid:delivery>/redeliver/",
        views.redeliver,
        name="webhook_redeliver",
    ),
]

api_urlpatterns = [
    path("collections/<slug:slug>/webhooks/", api.Webhooks.as_view()),
    path("collections/<slug:slug>/webhooks/<uuid:uuid>/", api.OneWebhook.as_view()),
    path("collections/<slug:slug>/webhooks/<uuid:uuid>/test/", api.TestWebhook.as_view()),
    path("collections/<slug:slug>/webhooks/<uuid:uuid>/deliveries/", api.Deliveries.as_view()),
]
