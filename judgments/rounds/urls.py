"""Page and API routes of rounds."""

from __future__ import annotations

from django.urls import path

from judgments.rounds.api import answer_rounds
from judgments.rounds.api import rounds as rounds_api
from judgments.rounds.views import rounds, settings

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
    path("collections/<slug:slug>/answer-rounds/", answer_rounds.AnswerRounds.as_view()),
    path("rounds/<uuid:uuid>/", rounds_api.OneRound.as_view()),
    path("rounds/<uuid:uuid>/open/", rounds_api.OpenRound.as_view()),
    path("rounds/<uuid:uuid>/close/", rounds_api.CloseRound.as_view()),
    path("rounds/<uuid:uuid>/reopen/", rounds_api.ReopenRound.as_view()),
]
