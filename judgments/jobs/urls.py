"""Page and API routes of views."""

from django.urls import path

from judgments.jobs import api, views

urlpatterns = [
    path("c/<slug:slug>/activity/", views.activity, name="activity"),
    path("c/<slug:slug>/jobs/", views.job_list, name="jobs"),
    path("jobs/<uuid:uuid>/", views.job, name="job"),
    path("jobs/<uuid:uuid>/cancel/", views.cancel, name="job_cancel"),
]

api_urlpatterns = [
    path("jobs/<uuid:uuid>/", api.OneJob.as_view()),
    path("jobs/<uuid:uuid>/cancel/", api.CancelJob.as_view()),
]
