"""Page and API routes of a judge's calibration."""

from django.urls import path

from evaluation.judges import api
from evaluation.judges.views import estimates, judge

urlpatterns = [
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/", judge.judge, name="machine_judge"),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/estimates/", estimates.judge_estimates, name="judge_estimates"),
]

api_urlpatterns = [
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/effect/", api.JudgeEffect.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/estimates/", api.JudgeEstimates.as_view()),
]
