"""URL routes of the evaluation app's pages."""

from __future__ import annotations

from django.urls import path

from evaluation.rag.views import comparison, critic, downloads, grading, samples, scorecard, sets
from evaluation.views import (
    answers,
    compare,
    estimates,
    freshness,
    judge,
    overview,
    rater_effect,
    reuse,
    scores,
    scores_history,
    scores_new,
    scoring,
    snapshot_compare,
    turning,
)

urlpatterns = [
    path("c/<slug:slug>/", overview.collection_page, name="collection"),
    path("c/<slug:slug>/freshness/", freshness.freshness_page, name="freshness"),
    path("c/<slug:slug>/freshness/check/", freshness.freshness_check, name="freshness_check"),
    path("c/<slug:slug>/freshness/pool/", freshness.freshness_pool, name="freshness_pool"),
    path("c/<slug:slug>/freshness/feed/", freshness.freshness_feed, name="freshness_feed"),
    path("c/<slug:slug>/freshness/fields/", freshness.freshness_fields, name="freshness_fields"),
    path("c/<slug:slug>/freshness/stratum/", freshness.freshness_stratum, name="freshness_stratum"),
    path("c/<slug:slug>/freshness/history/", freshness.freshness_history, name="freshness_history"),
    path("c/<slug:slug>/freshness/declare/", freshness.freshness_declare, name="freshness_declare"),
    path(
        "c/<slug:slug>/freshness/declare/<uuid:uuid>/withdraw/",
        freshness.freshness_withdraw,
        name="freshness_withdraw",
    ),
    path("c/<slug:slug>/scores/", scores.scores, name="scores"),
    path("c/<slug:slug>/scores/new/", scores_new.scores_new, name="scores_new"),
    path("c/<slug:slug>/scores/history/", scores_history.scores_history, name="scores_history"),
    path("c/<slug:slug>/scores/compare/", compare.compare, name="scores_compare"),
    path("c/<slug:slug>/scores/turning/", turning.turning, name="scores_turning"),
    path("c/<slug:slug>/scores/reuse/", reuse.reuse, name="scores_reuse"),
    path("c/<slug:slug>/scores/query/", answers.answers, name="scores_query"),
    path("c/<slug:slug>/scores/<uuid:uuid>/", scoring.scoring_page, name="scoring"),
    path("c/<slug:slug>/rag/", sets.sample_sets, name="rag"),
    path("c/<slug:slug>/rag/new/", sets.new, name="rag_new"),
    path("c/<slug:slug>/rag/<uuid:uuid>/", scorecard.sample_set, name="rag_set"),
    path("c/<slug:slug>/rag/<uuid:uuid>/grade/", grading.grade, name="rag_grade"),
    path("c/<slug:slug>/rag/<uuid:uuid>/critic/", critic.critic, name="rag_critic"),
    path("c/<slug:slug>/rag/<uuid:uuid>/critic/pause/", critic.pause, name="rag_critic_pause"),
    path("c/<slug:slug>/rag/<uuid:uuid>/critic/go-on/", critic.go_on, name="rag_critic_go_on"),
    path("c/<slug:slug>/rag/<uuid:uuid>/score/", scorecard.score, name="rag_score"),
    path("c/<slug:slug>/rag/<uuid:uuid>/compare/", comparison.compare, name="rag_compare"),
    path("c/<slug:slug>/rag/<uuid:uuid>/samples/", samples.samples, name="rag_samples"),
    path("c/<slug:slug>/rag/<uuid:uuid>/samples/<uuid:sample>/", samples.sample, name="rag_sample"),
    path("c/<slug:slug>/rag/<uuid:uuid>/files/<str:name>/", downloads.set_file, name="rag_file"),
    path("c/<slug:slug>/rag/systems/<uuid:uuid>/baseline/", scorecard.make_baseline, name="rag_baseline"),
    path("c/<slug:slug>/rag/systems/<uuid:uuid>/outputs/", downloads.system_file, name="rag_system_file"),
    path("c/<slug:slug>/snapshots/compare/", snapshot_compare.snapshot_compare, name="snapshots_compare"),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/", judge.judge, name="machine_judge"),
    path("rounds/<uuid:uuid>/judges/<uuid:judge>/estimates/", estimates.judge_estimates, name="judge_estimates"),
    path("rounds/<uuid:uuid>/raters/", rater_effect.rater_effect, name="round_raters"),
]
