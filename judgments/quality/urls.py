"""Page and API routes of quality."""

from django.urls import path

from judgments.quality import api
from judgments.quality.views import gold_pairs, qualification, quality, rater_judgments
from judgments.quality.views import quality as alerts

urlpatterns = [
    path("rounds/<uuid:uuid>/quality/", quality.quality, name="round_quality"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/", quality.rater, name="round_rater"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/judgments/", rater_judgments.answers, name="rater_answers"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/alarms/<str:check>/", alerts.alarm, name="rater_alarm"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/pause/", rater_judgments.pause, name="rater_pause"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/resume/", rater_judgments.resume, name="rater_resume"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/let-pass/", rater_judgments.let_pass, name="rater_let_pass"),
    path("rounds/<uuid:uuid>/quality/<str:rater>/requeue/", rater_judgments.requeue, name="rater_requeue"),
    path("rounds/<uuid:uuid>/calibration/", gold_pairs.page, name="calibration"),
    path("rounds/<uuid:uuid>/calibrate/", qualification.calibrate, name="calibrate"),
]

api_urlpatterns = [
    path("rounds/<uuid:uuid>/quality/", api.Quality.as_view()),
    path("rounds/<uuid:uuid>/raters/<str:rater>/judgments/", api.AnswersOfRater.as_view()),
    path("rounds/<uuid:uuid>/raters/<str:rater>/alarms/<str:check>/", api.Alarm.as_view()),
    path("rounds/<uuid:uuid>/raters/<str:rater>/pause/", api.Pause.as_view()),
    path("rounds/<uuid:uuid>/raters/<str:rater>/resume/", api.Resume.as_view()),
    path("rounds/<uuid:uuid>/raters/<str:rater>/let-pass/", api.LetPass.as_view()),
    path("rounds/<uuid:uuid>/raters/<str:rater>/requeue/", api.Requeue.as_view()),
    path("rounds/<uuid:uuid>/gold/", api.Gold.as_view()),
    path("rounds/<uuid:uuid>/gold/<uuid:gold_pair>/", api.OneGold.as_view()),
    path("rounds/<uuid:uuid>/calibration/", api.Calibration.as_view()),
]
