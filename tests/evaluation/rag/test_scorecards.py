"""Imports of samples and outputs, and the scorecards that the job stores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection

from assay import rag
from assay.core.errors import AssayError, Conflict, NotValid, UnreadableInput
from evaluation.models import RagSampleSet, RagScorecard, RagSystem
from evaluation.rag import sample_sets, scorecards, systems
from judgments.models import Job
from tests.evaluation.rag.conftest import NEW, OLD, SAMPLES, lines, work

pytestmark = pytest.mark.django_db


def test_the_numbers_are_those_of_the_library(scored: RagSampleSet) -> None:
    settings = scorecards.settings_of(scored)
    whole = rag.evaluate(SAMPLES, {"new": NEW, "old": OLD}, settings.metrics, slices=settings.slices)
    expected = {system.name: system for system in whole.systems}
    cards = scorecards.cards_of(scored, per_sample=True)
    assert [card.system.name for card in cards] == ["old", "new"]  # the first one is the baseline
    for card in cards:
        system = expected[card.system.name]
        for label, score in system.scores.items():
            assert card.metrics[label] == json.loads(json.dumps(score.to_dict()))
            assert card.per_sample[label] == system.per_sample_of(label)
        assert card.slices.keys() == system.slices.keys()
        assert card.slices["topic"]["care"]["TokenF1"]["value"] == system.slices["topic"]["care"]["TokenF1"].value
    for row in rag.compare(whole):
        first, second = (RagSystem.objects.get(name=name) for name in (row.a, row.b))
        stored = scorecards.comparison(scored, first, second, row.metric)
        assert stored is not None
        assert (stored["p_corrected"], stored["wins"]) == (row.p_corrected, row.wins)
        assert stored["difference"] == pytest.approx(row.difference) if row.difference is not None else True


def test_a_comparison_can_be_read_from_both_sides(scored: RagSampleSet) -> None:
    old, new = RagSystem.objects.get(name="old"), RagSystem.objects.get(name="new")
    one, other = (scorecards.comparison(scored, *pair, "TokenF1") for pair in ((old, new), (new, old)))
    assert one is not None
    assert other is not None
    assert one["difference"] == -other["difference"] > 0
    assert (one["low"], one["wins"]) == (-other["high"], other["losses"])
    assert scorecards.in_words(one) == "better"
    assert scorecards.in_words(other) == "worse"
    faster = scorecards.comparison(scored, old, new, "MeanLatency")
    assert scorecards.in_words(faster, higher_is_better=False) == "better"


def test_unmeasured_metrics_are_not_zero(sample_set: RagSampleSet, store: Any) -> None:
    retrieval_only = [{"sample_id": row["sample_id"], "retrieved": ["d1"]} for row in SAMPLES]
    store("outputs", retrieval_only, "bm25.jsonl", samples=str(sample_set.uuid))
    work(sample_set)
    (card,) = scorecards.cards_of(sample_set)
    assert card.value("TokenF1") is None
    assert card.metrics["TokenF1"]["details"]["skipped"] == {"no_response": 14}
    assert {row["reason"] for row in scorecards.rows_of(sample_set) if row["metric"] == "MeanLatency"} == {
        "the output has no timing for this stage"
    }


def test_outputs_that_do_not_fit_are_refused_unless_chosen(sample_set: RagSampleSet, store: Any) -> None:
    options = {"samples": str(sample_set.uuid)}
    with pytest.raises(NotValid) as error:
        store("outputs", OLD[:-2], "short.jsonl", **options)
    assert "missing" in error.value.fields
    store("outputs", OLD[:-2], "short.jsonl", missing="skip", **options)
    store("outputs", OLD[:-3], "zeros.jsonl", missing="zero", **options)
    work(sample_set)
    numbers = {
        card.system.name: card.metrics["TokenF1"]["details"]["num_samples"] for card in scorecards.cards_of(sample_set)
    }
    assert numbers == {"short": 12, "zeros": 14}
    with pytest.raises(NotValid):
        store("outputs", [{**OLD[0], "sample_id": "strange"}], "strange.jsonl", missing="skip", **options)
    with pytest.raises(NotValid):
        store("outputs", OLD, "x.jsonl", samples="00000000-0000-0000-0000-000000000000")


def test_outputs_find_their_samples(sample_set: RagSampleSet, store: Any) -> None:
    store("samples", [{"id": "other", "question": "Where?"}], "other.jsonl")
    assert RagSystem.objects.get(uuid=store("outputs", OLD, "old.jsonl")["id"]).sample_set == sample_set


def test_without_samples_there_are_no_outputs(collection: Any, store: Any) -> None:
    with pytest.raises(NotValid):
        store("outputs", OLD, "old.jsonl")


def test_nothing_is_stored_twice(scored: RagSampleSet, store: Any) -> None:
    with pytest.raises(Conflict):
        store("samples", SAMPLES, "again.jsonl")
    with pytest.raises(Conflict):
        store("outputs", OLD, "again.jsonl", samples=str(scored.uuid))
    with pytest.raises(Conflict):
        store("outputs", OLD[::-1], "old.jsonl", samples=str(scored.uuid))
    assert scored.systems.count() == 2


def test_a_file_with_a_fault_is_refused_with_its_line(sample_set: RagSampleSet, store: Any) -> None:
    broken = lines(OLD) + b'{"sample_id": "s00", "timings": {"end_to_end": -1}}\n'
    with pytest.raises(UnreadableInput) as error:
        store("outputs", broken, "broken.jsonl", samples=str(sample_set.uuid))
    assert ":15:" in str(error.value)
    assert not sample_set.systems.exists()


def test_variants_of_nothing_and_in_a_circle_are_reported(store: Any) -> None:
    from judgments.models import Upload

    rows = [
        {"id": one, "question": "Q", "ground_truth": "A", "labels": {"variant_of": parent, "scenario": "typo"}}
        for one, parent in (("a", "gone"), ("c", "d"), ("d", "c"), ("e", "e"), ("f", "a"))
    ]
    store("samples", [*rows, {"id": "b", "question": "no reference"}], "odd.jsonl")
    assert Upload.objects.get(filename="odd.jsonl").report["codes"] == {"W60": 1, "W61": 1, "W62": 1}


def test_ragas_rows_are_samples_and_outputs(store: Any) -> None:
    rows = [
        {"question": f"Q{n}", "answer": "glue", "contexts": ["Glue it."], "ground_truth": "glue"} for n in range(12)
    ]
    made = RagSampleSet.objects.get(uuid=store("samples", rows, "ragas.jsonl")["id"])
    store("outputs", rows, "ragas.jsonl", samples=str(made.uuid))
    work(made)
    (card,) = scorecards.cards_of(made)
    assert card.value("ExactMatch") == card.value("EvidenceOverlapFaithfulness") == 1.0


def test_metrics_and_slices_can_be_chosen(scored: RagSampleSet, engineer: Any) -> None:
    scorecards.change(scored, metrics=["TokenF1 recall@5"], slices=["topic"], actor=engineer)
    work(scored)
    card = scorecards.cards_of(scored)[0]
    assert list(card.metrics) == ["TokenF1", "RecallAtK(k=5)"]
    assert list(card.slices) == ["topic"]
    for metrics, slices in ((["Nonsense"], []), (["LLMFaithfulnessScore"], []), (["TokenF1"], ["nothing"])):
        with pytest.raises(NotValid):
            scorecards.change(scored, metrics=metrics, slices=slices, actor=engineer)


def test_a_damaged_file_gives_no_number(scored: RagSampleSet, storage_folder: str, engineer: Any) -> None:
    system = RagSystem.objects.get(name="new")
    path = Path(storage_folder) / system.path
    path.write_bytes(path.read_bytes().replace(b"glue", b"goat"))
    before = RagScorecard.objects.get(system=system).computed_at
    job = scorecards.queue(scored, actor=engineer)
    from judgments.jobs import jobs

    jobs.work_on_job.func(str(job.uuid))
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "hash" in job.error
    assert RagScorecard.objects.get(system=system).computed_at == before
    default_storage.delete(system.path)
    with pytest.raises(AssayError), sample_sets.checked(system):
        pass


def test_one_system_is_the_baseline(scored: RagSampleSet, engineer: Any) -> None:
    systems.set_baseline(RagSystem.objects.get(name="new"), actor=engineer)
    assert list(scored.systems.filter(baseline=True).values_list("name", flat=True)) == ["new"]
    assert scorecards.cards_of(scored)[0].system.name == "new"


@pytest.mark.django_db(transaction=True)
def test_a_system_that_comes_while_the_job_ends_is_scored_too(sample_set: RagSampleSet, store: Any) -> None:
    late = [lambda: store("outputs", NEW, "new.jsonl", samples=str(sample_set.uuid))]

    def before_the_end(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if late and sql.startswith('UPDATE "judgments_job"') and Job.State.DONE in (parameters or ()):
            late.pop()()
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(before_the_end):
        store("outputs", OLD, "old.jsonl", samples=str(sample_set.uuid))
    assert not late
    assert [card.system.name for card in scorecards.cards_of(sample_set)] == ["old", "new"]
    job = scorecards.job_of(sample_set)
    assert job is not None
    assert job.state == Job.State.DONE
