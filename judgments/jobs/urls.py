"""Page and API routes of jobs."""

from django.urls import path

from judgments.jobs import api
from judgments.jobs.views import jobs
from judgments.jobs.views import jobs as activity

urlpatterns = [
    path("c/<slug:slug>/activity/", activity.activity, name="activity"),
    path("c/<slug:slug>/jobs/", jobs.job_list, name="jobs"),
    path("jobs/<uuid:uuid>/", jobs.job, name="job"),
    path("jobs/<uuid:uuid>/cancel/", jobs.cancel, name="job_cancel"),
]

api_urlpatterns = [
    path("jobs/<uuid:uuid>/", api.OneJob.as_view()),
    path("jobs/<uuid:uuid>/cancel/", api.CancelJob.as_view()),
]
