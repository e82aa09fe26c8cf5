"""Page and API routes of rounds."""

from django.urls import path

from judgments.rounds import api
from judgments.rounds.views import rounds
from judgments.rounds.views import rounds as settings

urlpatterns = [
    # Rounds: progress, agreement, conflicts, and the rater's own page.
    path("c/<slug:slug>/rounds/", rounds.round_list, name="rounds"),
    path("rounds/<uuid:uuid>/", rounds.round_page, name="round"),
    path("rounds/<uuid:uuid>/settings/", settings.settings, name="round_settings"),
    path("rounds/<uuid:uuid>/open/", rounds.open_round, name="round_open"),
    path("rounds/<uuid:uuid>/close/", rounds.close_round, name="round_close"),
    path("rounds/<uuid:uuid>/reopen/", rounds.reopen_round, name="round_reopen"),
    path("rounds/<uuid:uuid>/invite/", rounds.invite, name="round_invite"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/answer-rounds/", api.AnswerRounds.as_view()),
    path("rounds/<uuid:uuid>/", api.OneRound.as_view()),
    path("rounds/<uuid:uuid>/open/", api.OpenRound.as_view()),
    path("rounds/<uuid:uuid>/close/", api.CloseRound.as_view()),
    path("rounds/<uuid:uuid>/reopen/", api.ReopenRound.as_view()),
]
