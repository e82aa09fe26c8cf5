"""Page routes of prompts."""

from django.urls import path

from judgments.machines.prompts import views

urlpatterns = [
    path("c/<slug:slug>/prompts/", views.prompt_list, name="prompts"),
    path("prompts/<uuid:uuid>/", views.prompt, name="prompt"),
]
