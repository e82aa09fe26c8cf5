"""Sample sets made from queries, labels and runs of a collection."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from assay.core.errors import Conflict, NotAllowed, NotValid
from assay.formats.trec_qrels import load_qrels
from assay.rag import read_outputs, read_samples
from evaluation.models import RagSampleSet
from evaluation.rag import from_collection, sample_sets, scorecards
from judgments.jobs import jobs
from judgments.models import Job
from judgments.snapshots import snapshots
from pooling.runs import runs
from tests.evaluation.rag.conftest import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def snapshot(stage: Any) -> Any:
    return stage.whole_way()


def made(job: Job) -> RagSampleSet:
    jobs.work_on_job.func(str(job.uuid))
    job.refresh_from_db()
    assert job.state == Job.State.DONE, (job.error, job.traceback)
    return RagSampleSet.objects.get(uuid=job.result["id"])


def test_labels_and_a_run_become_samples_and_a_system(snapshot: Any, collection: Any, engineer: Any) -> None:
    run = collection.runs.order_by("name").first()
    result = made(
        from_collection.start(collection, name="ours", snapshot=snapshot, run=run, threshold=2, depth=2, actor=engineer)
    )
    qrels = load_qrels(snapshots.export(snapshot, "trec-qrels")[1], path="qrels.txt").to_dict()
    with sample_sets.checked(result) as path:
        samples = {one.sample_id: one for one in read_samples(path)}
    assert samples.keys() == qrels.keys()
    texts = dict(collection.queries.values_list("query_id", "text"))
    for query_id, grades in qrels.items():
        assert samples[query_id].query == texts[query_id]
        assert samples[query_id].relevant_ids == {doc_id for doc_id, grade in grades.items() if grade >= 2}
    system = result.systems.get()
    with sample_sets.checked(system) as path:
        outputs = {one.sample_id: one for one in read_outputs(path)}
    ranked = runs.ranked(run).to_dict()
    for query_id, output in outputs.items():
        assert [one.doc.doc_id for one in output.retrieved] == list(ranked[query_id])[:2]
        assert output.retrieved[0].doc.text.startswith("Thing")
    work(result)
    card = scorecards.cards_of(result)[0]
    assert card.value("RecallAtK(k=10)") is not None
    assert card.value("TokenF1") is None


def test_queries_alone_are_questions(stage: Any, collection: Any, engineer: Any) -> None:
    stage.queries(3)
    result = made(from_collection.start(collection, name="ours", actor=engineer))
    assert result.rows == 3
    assert result.figures["with relevant documents"] == 0
    with pytest.raises(Conflict):
        from_collection.start(collection, name="ours", actor=engineer)


def test_a_killed_job_makes_one_set(stage: Any, collection: Any, engineer: Any) -> None:
    stage.queries(3)
    job = from_collection.start(collection, name="ours", actor=engineer)
    made(job)
    Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED)
    jobs.work_on_job.func(str(job.uuid))
    assert collection.rag_sample_sets.count() == 1


def test_nothing_to_make_samples_of(collection: Any, engineer: Any) -> None:
    with pytest.raises(NotValid):
        from_collection.start(collection, name="ours", actor=engineer)


def test_hidden_labels_make_no_samples(
    stage: Any, snapshot: Any, collection: Any, engineer: Any, lead: Any, client_of: Any
) -> None:
    result = made(from_collection.start(collection, name="ours", snapshot=snapshot, actor=engineer))
    address = reverse("rag_set", args=[collection.slug, result.uuid])
    assert client_of(lead).get(address).status_code == 200
    # The lead now rates the same pairs in an open round.
    stage.raters = [lead, *stage.raters]
    stage.round(name="Again")
    assert client_of(lead).get(address).status_code == 403
    assert client_of(engineer).get(address).status_code == 200
    with pytest.raises(NotAllowed):
        from_collection.start(collection, name="other", snapshot=snapshot, actor=lead)
