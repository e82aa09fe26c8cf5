"""Page and API routes of tryouts."""

from django.urls import path

from judgments.machines.tryouts import api, views

urlpatterns = [
    path("c/<slug:slug>/prompts/new/", views.prompt_new, name="prompt_new"),
    path("c/<slug:slug>/providers/<uuid:uuid>/try/", views.provider_try, name="provider_try"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/providers/<uuid:uuid>/try/", api.TryProvider.as_view()),
    path("collections/<slug:slug>/prompts/try/", api.TryPrompt.as_view()),
]
