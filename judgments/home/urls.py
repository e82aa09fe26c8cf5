"""Page routes of the home page."""

from django.urls import path

from judgments.home import views

urlpatterns = [
    path("", views.home, name="home"),
]
