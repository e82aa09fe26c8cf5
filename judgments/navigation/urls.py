"""Routes of the search of the command palette and of the help pages."""

from django.urls import path

from judgments.navigation import views

urlpatterns = [
    path("find/", views.find, name="find"),
    path("help/", views.help_page, name="help"),
    path("help/<path:name>/", views.help_page, name="help_page"),
    path("help-files/<path:name>", views.help_file, name="help_file"),
]
