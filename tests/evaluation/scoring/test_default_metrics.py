"""Tests of default metrics: binary metrics count from the scale's threshold and name it."""

from __future__ import annotations

import pytest
from django.urls import reverse

from evaluation.scoring import scoring
from evaluation.scoring.scoring import relevant_from, usual_metrics
from judgments.models import Snapshot


@pytest.mark.parametrize("manifest", [{}, {"scale": {}}, {"scale": {"relevant_from": 1}}])
def test_metric_names_have_no_threshold_by_default(manifest):
    assert usual_metrics(Snapshot(manifest=manifest)) == ["nDCG@10", "RR@10", "R@100", "P@10", "AP", "Judged@10"]


@pytest.mark.django_db
def test_a_threshold_goes_from_the_scale_into_manifest_names_and_numbers(stage, collection, engineer, client_of):
    stage.queries()
    stage.documents()
    stage.run("bm25", "0123")
    round_ = stage.round(runs=1, relevant_from=2)
    # Of the three documents of each query one is relevant from 1 on, and one from 2 on.
    stage.graded(round_, lambda pair, place: {"d0": 0, "d1": 1, "d2": 2}[pair.document.doc_id])
    snapshot = stage.frozen(round_)
    assert relevant_from(snapshot) == 2
    initial = client_of(engineer).get(reverse("scores_new", args=[collection.slug])).context["form"].initial
    assert initial["metrics"].split() == usual_metrics(snapshot)
    (scored,) = scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer)
    means = dict(scored.scores.values_list("metric", "mean"))
    assert set(means) == {"nDCG@10", "RR(rel=2)@10", "R(rel=2)@100", "P(rel=2)@10", "AP(rel=2)", "Judged@10"}
    assert means["P(rel=2)@10"] == pytest.approx(0.1)
    # d2 stands third.
    assert means["RR(rel=2)@10"] == pytest.approx(1 / 3)
