"""Page and API routes of machine judges."""

from django.urls import path

from judgments.machines.judge_runs import api
from judgments.machines.judge_runs.views import answers, judges
from judgments.machines.judge_runs.views import judges as auto_accept

urlpatterns = [
    # Machine judges. The page of a judge belongs to the evaluation app, because it shows metrics.
    path("rounds/<uuid:uuid>/judges/", judges.judge_list, name="judges"),
    path("rounds/<uuid:uuid>/judges/new/", judges.judge_new, name="judge_new"),
    path("rounds/<uuid:uuid>/judges/routing/", answers.routed, name="routing"),
    path("rounds/<uuid:uuid>/judges/pairs/", judges.pairs, name="judge_pairs"),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/answers/", answers.answers, name="judge_answers"),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/ledger/", answers.ledger, name="judge_ledger"),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/labels/", judges.labels, name="judge_labels"),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/pause/", judges.pause, name="judge_pause"),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/go-on/", judges.go_on, name="judge_go_on"),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/accept/", auto_accept.accept, name="judge_accept"),
]

api_urlpatterns = [
    path("rounds/<uuid:uuid>/judges/", api.Judges.as_view()),
    path("rounds/<uuid:uuid>/judges/routing/", api.Routing.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/", api.OneJudge.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/pause/", api.PauseJudge.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/go-on/", api.GoOnWithJudge.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/answers/", api.AnswersOfJudge.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/labels/", api.LabelsOfJudge.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/ledger/", api.LedgerOfJudge.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/accept/", api.Accept.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/accept/draft/", api.DraftWithout.as_view()),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/people/", api.HeldAgainstPeople.as_view()),
]
