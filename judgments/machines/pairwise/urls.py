"""Page and API routes of pairwise comparisons."""

from django.urls import path

from judgments.machines.pairwise import api
from judgments.machines.pairwise.views import injection_probe, pairwise, query

urlpatterns = [
    path("rounds/<uuid:uuid>/battles/", pairwise.battle_list, name="battles"),
    path("rounds/<uuid:uuid>/battles/new/", pairwise.battle_new, name="battle_new"),
    path("rounds/<uuid:uuid>/battles/import/", pairwise.battle_import, name="battle_import"),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/", pairwise.battle_run, name="battle_run"),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/pause/", pairwise.pause, name="battle_pause"),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/go-on/", pairwise.go_on, name="battle_go_on"),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/further/", pairwise.further, name="battle_further"),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/grades/", pairwise.to_grades, name="battle_grades"),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/export/", query.export, name="battle_export"),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/canaries/", injection_probe.canaries, name="battle_canaries"),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/queries/<uuid:query>/", query.query, name="battle_query"),
]

api_urlpatterns = [
    path("rounds/<uuid:uuid>/battles/", api.BattleRuns.as_view()),
    path("rounds/<uuid:uuid>/battles/import/", api.ImportBattles.as_view()),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/", api.OneBattleRun.as_view()),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/pause/", api.PauseBattles.as_view()),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/go-on/", api.GoOnWithBattles.as_view()),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/further/", api.FurtherBattles.as_view()),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/grades/", api.GradesOfBattles.as_view()),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/scores/", api.ScoresOfBattles.as_view()),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/answers/", api.AnswersOfBattles.as_view()),
    path("rounds/<uuid:uuid>/battles/<uuid:run>/canaries/", api.CanariesOfBattles.as_view()),
]
