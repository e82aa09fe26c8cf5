"""Page and API routes of model providers."""

from django.urls import path

from judgments.machines.providers import api, views

urlpatterns = [
    path("c/<slug:slug>/providers/", views.provider_list, name="providers"),
    path("c/<slug:slug>/providers/new/", views.provider_new, name="provider_new"),
    path("c/<slug:slug>/providers/<uuid:uuid>/", views.provider_change, name="provider_change"),
    path("c/<slug:slug>/providers/<uuid:uuid>/remove/", views.provider_remove, name="provider_remove"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/providers/", api.Providers.as_view()),
    path("collections/<slug:slug>/providers/<uuid:uuid>/", api.OneProvider.as_view()),
    path("collections/<slug:slug>/prompts/", api.Prompts.as_view()),
]
