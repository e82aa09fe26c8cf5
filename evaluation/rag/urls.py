"""Page and API routes of RAG evaluation."""

from django.urls import path

from evaluation.rag import api
from evaluation.rag.views import comparison, critic, samples, scorecard, sets

urlpatterns = [
    path("c/<slug:slug>/rag/", sets.sample_sets, name="rag"),
    path("c/<slug:slug>/rag/new/", sets.new, name="rag_new"),
    path("c/<slug:slug>/rag/<uuid:uuid>/", scorecard.sample_set, name="rag_set"),
    path("c/<slug:slug>/rag/<uuid:uuid>/grade/", sets.grade, name="rag_grade"),
    path("c/<slug:slug>/rag/<uuid:uuid>/critic/", critic.critic, name="rag_critic"),
    path("c/<slug:slug>/rag/<uuid:uuid>/critic/pause/", critic.pause, name="rag_critic_pause"),
    path("c/<slug:slug>/rag/<uuid:uuid>/critic/go-on/", critic.go_on, name="rag_critic_go_on"),
    path("c/<slug:slug>/rag/<uuid:uuid>/score/", scorecard.score, name="rag_score"),
    path("c/<slug:slug>/rag/<uuid:uuid>/compare/", comparison.compare, name="rag_compare"),
    path("c/<slug:slug>/rag/<uuid:uuid>/samples/", samples.samples, name="rag_samples"),
    path("c/<slug:slug>/rag/<uuid:uuid>/samples/<uuid:sample>/", samples.sample, name="rag_sample"),
    path("c/<slug:slug>/rag/<uuid:uuid>/files/<str:name>/", sets.set_file, name="rag_file"),
    path("c/<slug:slug>/rag/systems/<uuid:uuid>/baseline/", scorecard.make_baseline, name="rag_baseline"),
    path("c/<slug:slug>/rag/systems/<uuid:uuid>/outputs/", sets.system_file, name="rag_system_file"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/rag/samples/", api.Samples.as_view()),
    path("collections/<slug:slug>/rag/samples/from-collection/", api.FromCollection.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/", api.OneSampleSet.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/file/", api.SamplesFile.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/scorecards/", api.Scorecards.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/people/", api.People.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/critic/", api.Critic.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/critic/pause/", api.PauseCritic.as_view()),
    path("collections/<slug:slug>/rag/samples/<uuid:uuid>/critic/go-on/", api.GoOnWithCritic.as_view()),
    path("collections/<slug:slug>/rag/outputs/", api.Outputs.as_view()),
    path("collections/<slug:slug>/rag/outputs/<uuid:uuid>/", api.OneSystem.as_view()),
    path("collections/<slug:slug>/rag/outputs/<uuid:uuid>/file/", api.OutputsFile.as_view()),
]
