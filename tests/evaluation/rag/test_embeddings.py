"""Metrics that compare embeddings on scorecards: refused without extra or grant, computed with a real model."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from assay.core.errors import NotValid
from evaluation.models import RagSampleSet
from evaluation.rag import scorecards
from judgments.jobs import jobs
from judgments.members import grants
from judgments.models import Grant, Job
from tests.assay.llm.judges.test_semantic import MODEL, needs_model
from tests.evaluation.rag.conftest import work

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore")]
METRICS = [
    f"EmbeddingSimilarity(model='{MODEL}')",
    f"BertScoreMetric(model_type='{MODEL}', num_layers=6)",
    f"IntraListDiversity(model='{MODEL}')",
]


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="the extra semantic is installed")
@pytest.mark.parametrize("metric", [*METRICS, f"NoiseRobustness({METRICS[0]})"])
def test_without_the_extra_the_message_names_it(scored: RagSampleSet, engineer: Any, metric: str) -> None:
    with pytest.raises(NotValid) as error:
        scorecards.change(scored, metrics=[metric], slices=[], actor=engineer)
    assert "assay[semantic]" in error.value.fields["metrics"]


@needs_model
def test_a_model_is_loaded_where_it_is_granted(
    scored: RagSampleSet, engineer: Any, collection: Any, settings: Any
) -> None:
    settings.LOCAL_MODELS = [MODEL]
    for row in Grant.objects.filter(collection=collection, kind=Grant.Kind.LOCAL_MODEL):
        grants.revoke(row)
    for metric in METRICS:
        with pytest.raises(NotValid) as error:
            scorecards.change(scored, metrics=[metric], slices=[], actor=engineer)
        assert "LOCAL_MODELS" in error.value.fields["metrics"]
    grants.grant(collection, kind=Grant.Kind.LOCAL_MODEL, value=MODEL)
    scorecards.change(scored, metrics=METRICS, slices=["topic"], actor=engineer)
    work(scored)
    old, new = scorecards.cards_of(scored)
    for label in new.metrics:
        assert new.metrics[label]["details"]["num_samples"] >= 12, label
    similarity = next(label for label in new.metrics if label.startswith("Embedding"))
    assert (new.value(similarity) or 0) > (old.value(similarity) or 0)
    settings.LOCAL_MODELS = []
    job = scorecards.queue(scored, actor=engineer)
    jobs.work_on_job.func(str(job.uuid))
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "LOCAL_MODELS" in job.error
