"""Page and API routes of gates."""

from django.urls import path

from evaluation.gates import api, views

urlpatterns = [
    path("c/<slug:slug>/gates/", views.gates, name="gates"),
    path("c/<slug:slug>/gates/<uuid:uuid>/", views.gate, name="gate"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/gates/", api.Gates.as_view()),
    path("collections/<slug:slug>/gates/<uuid:uuid>/", api.OneGate.as_view()),
]
