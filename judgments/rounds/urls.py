"""Page and API routes of views."""

from django.urls import path

from judgments.rounds import api, views

urlpatterns = [
    # Rounds: progress, agreement, conflicts, and the rater's own page.
    path("c/<slug:slug>/rounds/", views.round_list, name="rounds"),
    path("rounds/<uuid:uuid>/", views.round_page, name="round"),
    path("rounds/<uuid:uuid>/settings/", views.settings, name="round_settings"),
    path("rounds/<uuid:uuid>/open/", views.open_round, name="round_open"),
    path("rounds/<uuid:uuid>/close/", views.close_round, name="round_close"),
    path("rounds/<uuid:uuid>/reopen/", views.reopen_round, name="round_reopen"),
    path("rounds/<uuid:uuid>/invite/", views.invite, name="round_invite"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/answer-rounds/", api.AnswerRounds.as_view()),
    path("rounds/<uuid:uuid>/", api.OneRound.as_view()),
    path("rounds/<uuid:uuid>/open/", api.OpenRound.as_view()),
    path("rounds/<uuid:uuid>/close/", api.CloseRound.as_view()),
    path("rounds/<uuid:uuid>/reopen/", api.ReopenRound.as_view()),
]
