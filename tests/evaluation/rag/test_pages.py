"""Pages of RAG evaluation."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from django.urls import reverse

from assay import rag
from evaluation.models import RagSample, RagSampleSet, RagSystem
from evaluation.rag import scorecards
from judgments.models import Job, Upload
from tests.evaluation.rag.conftest import NEW, OLD, SAMPLES, lines, work

pytestmark = pytest.mark.django_db


def at(name: str, row: Any, *more: Any, **query: str) -> str:
    from urllib.parse import urlencode

    path = reverse(name, args=[row.collection.slug, row.uuid, *more])
    return f"{path}?{urlencode(query)}" if query else path


def body(response: Any) -> str:
    assert response.status_code == 200
    return (b"".join(response.streaming_content) if response.streaming else response.content).decode()


def test_an_empty_list_leads_to_the_import(collection: Any, client_of: Any, engineer: Any) -> None:
    page = body(client_of(engineer).get(reverse("rag", args=[collection.slug])))
    assert reverse("samples_new", args=[collection.slug]) in page
    assert "<table" not in page


def test_a_file_is_previewed_stored_and_scored(collection: Any, client_of: Any, engineer: Any) -> None:
    client = client_of(engineer)
    check = client.post(reverse("samples_new", args=["shop"]), {"file": io.BytesIO(lines(SAMPLES))})["Location"]
    page = body(client.get(check))
    assert "What does kit 3 contain?" in page
    assert "<td>3 rubber seals and a tube of glue</td>" in re.sub(r"<td[^>]*>\s*(.*?)\s*</td>", r"<td>\1</td>", page)
    stored = client.post(check, {"name": "kits"})
    made = RagSampleSet.objects.get()
    assert stored["Location"] == at("rag_set", made)
    check = client.post(reverse("outputs_new", args=["shop"]), {"file": io.BytesIO(lines(OLD[:-1]))})["Location"]
    page = body(client.get(check))
    assert f'<option value="{made.uuid}" selected>' in page
    refused = client.post(check, {"name": "old", "samples": str(made.uuid), "missing": "error"})
    assert refused.status_code == 422
    assert not RagSystem.objects.exists()
    stored = client.post(check, {"name": "old", "samples": str(made.uuid), "missing": "zero"})
    assert stored["Location"] == at("rag_set", made)
    assert RagSystem.objects.get().figures["samples without an output"] == 1
    work(made)
    page = body(client.get(at("rag_set", made)))
    assert "counted 1 sample without an output as 0" in page


def test_a_file_can_be_discarded(collection: Any, client_of: Any, engineer: Any) -> None:
    client = client_of(engineer)
    check = client.post(reverse("samples_new", args=["shop"]), {"file": io.BytesIO(lines(SAMPLES))})["Location"]
    client.post(f"{check}throw-away/")
    assert not Upload.objects.exists()
    assert not RagSampleSet.objects.exists()


def test_the_scorecard_shows_the_stored_numbers(scored: RagSampleSet, client_of: Any, engineer: Any) -> None:
    page = body(client_of(engineer).get(at("rag_set", scored, slice="topic", metric="TokenF1")))
    card = scorecards.cards_of(scored)[1]
    f1 = card.metrics["TokenF1"]
    assert f"<b>{f1['value']:.3f}</b>" in page
    assert f"{f1['low']:.3f}–{f1['high']:.3f}" in page
    assert f"<b>{card.slices['topic']['care']['TokenF1']['value']:.3f}</b>" in page
    assert 'data-sign="better"' in page
    assert "not measured" in page  # nothing here has embeddings


def test_no_page_computes(
    scored: RagSampleSet, client_of: Any, engineer: Any, django_assert_max_num_queries: Any
) -> None:
    RagSystem.objects.update(path="gone.jsonl")  # a page that reads the outputs would fail
    client = client_of(engineer)
    with django_assert_max_num_queries(60):
        body(client.get(at("rag_set", scored)))
    with django_assert_max_num_queries(60):
        body(client.get(at("rag_compare", scored)))


def test_many_systems_are_cut_and_can_be_chosen(scored: RagSampleSet, client_of: Any, engineer: Any) -> None:
    card = scorecards.cards_of(scored, per_sample=True)[1]
    for number in range(10):
        system = RagSystem.objects.create(
            collection=scored.collection, sample_set=scored, name=f"more {number}", rows=1, missing="zero", path="x"
        )
        card.pk, card.system = None, system
        card.save()
    client = client_of(engineer)
    page = body(client.get(at("rag_set", scored)))
    assert len(re.findall(r'<th scope="col">more', page)) == 2 * 5  # on the scorecard and by label, beside the baseline
    last = RagSystem.objects.get(name="more 9")
    page = body(client.get(at("rag_set", scored, system=str(last.uuid))))
    assert '<th scope="col">more 9' in page.replace("\n", "")


def test_descriptions_have_a_column_where_there_is_one(scored: RagSampleSet, client_of: Any, engineer: Any) -> None:
    client = client_of(engineer)
    columns = body(client.get(at("rag_set", scored))).count('scope="col"')
    scored.systems.filter(name="new").update(description="bm25 over titles")
    assert body(client.get(at("rag_set", scored))).count('scope="col"') == columns + 1


def test_answers_are_compared_worst_first(scored: RagSampleSet, client_of: Any, engineer: Any) -> None:
    client = client_of(engineer)
    old, new = RagSystem.objects.get(name="old"), RagSystem.objects.get(name="new")
    request = {"a": str(new.uuid), "b": str(old.uuid), "metric": "TokenF1"}
    answer = client.get(at("rag_compare", scored, **request, format="csv"))
    rows = list(csv.DictReader(io.StringIO(body(answer))))
    values = [rag.evaluate(SAMPLES, outputs, "TokenF1").systems[0].per_sample_of("TokenF1") for outputs in (NEW, OLD)]
    gains = {key: values[1][key] - values[0][key] for key in values[0] if values[0][key] is not None}
    assert [row["change"] for row in rows[:2]] == ["worse", "worse"]
    assert {row["sample_id"]: float(row["gain"]) for row in rows if row["gain"]} == pytest.approx(gains)
    answer = client.get(at("rag_compare", scored, **request, format="csv", change="better"))
    assert {row["change"] for row in csv.DictReader(io.StringIO(body(answer)))} <= {"better"}
    page = body(client.get(at("rag_compare", scored, **request)))
    assert "Worse" in page
    # For latency less is better: what is slower counts as worse.
    answer = client.get(at("rag_compare", scored, **(request | {"metric": "MeanLatency"}), format="csv"))
    assert {row["change"] for row in csv.DictReader(io.StringIO(body(answer)))} == {"worse"}


def test_one_system_has_nothing_to_be_compared_with(
    sample_set: RagSampleSet, store: Any, client_of: Any, lead: Any
) -> None:
    store("outputs", OLD, "old.jsonl", samples=str(sample_set.uuid))
    work(sample_set)
    assert "<table" not in body(client_of(lead).get(at("rag_compare", sample_set)))


def test_a_sample_shows_answers_evidence_and_what_changed(scored: RagSampleSet, client_of: Any, engineer: Any) -> None:
    one = RagSample.objects.get(sample_id="s04")
    old, new = RagSystem.objects.get(name="old"), RagSystem.objects.get(name="new")
    page = body(client_of(engineer).get(at("rag_sample", scored, one.uuid, a=str(old.uuid), b=str(new.uuid))))
    assert "<mark>It contains 4 rubber seals and a tube of glue.</mark>" in page
    assert "<ins>4 rubber seals and a tube of glue</ins>" in page
    assert "relevant</span>" in page
    variant = body(client_of(engineer).get(at("rag_sample", scored, RagSample.objects.get(sample_id="t00").uuid)))
    assert at("rag_sample", scored, RagSample.objects.get(sample_id="s00").uuid) in variant
    assert client_of(engineer).get(at("rag_sample", scored, scored.uuid)).status_code == 404


def test_texts_of_others_are_escaped(store: Any, client_of: Any, engineer: Any) -> None:
    evil = "<script>alert(1)</script> is it."
    row = {"id": evil, "question": evil, "ground_truth": evil, "labels": {evil: evil}}
    made = RagSampleSet.objects.get(uuid=store("samples", [row], "evil.jsonl")["id"])
    docs = [{"doc_id": evil, "text": evil}]
    for name, text in (("a", evil), ("b", f"{evil} {evil}")):
        store("outputs", [{"id": evil, "response": text, "retrieved": docs}], f"{name}.jsonl", samples=str(made.uuid))
    work(made)
    client = client_of(engineer)
    a, b = RagSystem.objects.all()
    two = {"a": str(a.uuid), "b": str(b.uuid)}
    for path in (
        at("rag_set", made),
        at("rag_samples", made),
        at("rag_compare", made, **two),
        at("rag_sample", made, made.samples.get().uuid, **two),
    ):
        assert "<script>alert" not in body(client.get(path))


def test_a_huge_answer_is_cut_on_its_page(store: Any, client_of: Any, engineer: Any) -> None:
    made = RagSampleSet.objects.get(uuid=store("samples", [{"id": "1", "question": "Q"}], "q.jsonl")["id"])
    store("outputs", [{"id": "1", "answer": "word " * 400_000}], "huge.jsonl", samples=str(made.uuid))
    work(made)
    page = client_of(engineer).get(at("rag_sample", made, made.samples.get().uuid))
    assert len(page.content) < 40_000


def test_a_long_question_is_cut_in_headings_and_lists(store: Any, client_of: Any, engineer: Any) -> None:
    long = "Why is it so? " * 100
    made = RagSampleSet.objects.get(uuid=store("samples", [{"id": "1", "question": long}], "q.jsonl")["id"])
    client = client_of(engineer)
    page = body(client.get(at("rag_sample", made, made.samples.get().uuid)))
    (heading,) = re.findall(r"<h1[^>]*>(.*?)</h1>", page)
    assert len(heading) == 200
    assert long.strip() in page
    assert long.strip() not in body(client.get(at("rag_samples", made)))
    assert long.strip() in body(client.get(at("rag_samples", made, format="csv")))


def test_samples_are_filtered_by_label(scored: RagSampleSet, client_of: Any, engineer: Any) -> None:
    client = client_of(engineer)
    label = list(scored.labels).index("topic")
    answer = client.get(at("rag_samples", scored, **{f"label-{label}": "repair", "format": "csv"}))
    rows = list(csv.DictReader(io.StringIO(body(answer))))
    assert [row["sample_id"] for row in rows] == [f"s{n:02d}" for n in range(1, 12, 2)]


def test_files_are_those_of_the_command(scored: RagSampleSet, client_of: Any, engineer: Any, tmp_path: Any) -> None:
    client = client_of(engineer)
    (tmp_path / "samples.jsonl").write_text(body(client.get(at("rag_file", scored, "samples.jsonl"))))
    system = RagSystem.objects.get(name="new")
    (tmp_path / "outputs.jsonl").write_text(body(client.get(at("rag_system_file", system))))
    result = rag.evaluate(tmp_path / "samples.jsonl", {"new": tmp_path / "outputs.jsonl"}, ["TokenF1", "MeanLatency"])
    stored = json.loads(body(client.get(at("rag_file", scored, "scorecards.json"))))
    (new,) = [one for one in stored["systems"] if one["name"] == "new"]
    for label, score in result.systems[0].scores.items():
        assert new["metrics"][label]["value"] == score.value
        assert {key: of[label] for key, of in new["per_sample"].items()} == result.systems[0].per_sample_of(label)
    rows = list(csv.DictReader(io.StringIO(body(client.get(at("rag_file", scored, "scorecards.csv"))))))
    (row,) = [one for one in rows if (one["system"], one["metric"], one["slice"]) == ("new", "TokenF1", "")]
    assert float(row["value"]) == new["metrics"]["TokenF1"]["value"]
    assert all(one["value"] == "" for one in rows if one["metric"] == "IntraListDiversity")
    values = body(client.get(at("rag_file", scored, "per-sample.csv"))).splitlines()
    assert values[0] == "system,sample_id,metric,value"
    assert client.get(at("rag_file", scored, "other.txt")).status_code == 404


def test_scores_can_be_computed_again(scored: RagSampleSet, client_of: Any, engineer: Any) -> None:
    client = client_of(engineer)
    wrong = client.post(at("rag_score", scored), {"metrics": "Nonsense"})
    assert wrong.status_code == 422
    answer = client.post(at("rag_score", scored), {"metrics": "TokenF1, recall@3", "slices": ["topic"]})
    assert answer["Location"] == reverse("job", args=[scorecards.job_of(scored).uuid])
    work(scored)
    assert list(scorecards.cards_of(scored)[0].metrics) == ["TokenF1", "RecallAtK(k=3)"]


def test_a_failed_job_is_shown(scored: RagSampleSet, client_of: Any, engineer: Any) -> None:
    Job.objects.filter(kind=scorecards.KIND).update(state=Job.State.FAILED, error="the disk is full")
    assert "the disk is full" in body(client_of(engineer).get(at("rag_set", scored)))


def test_a_lead_can_archive_and_delete(scored: RagSampleSet, client_of: Any, lead: Any) -> None:
    client = client_of(lead)
    system = RagSystem.objects.get(name="new")
    page = reverse("archive_one", args=["shop", "rag-system", system.uuid])
    client.post(page, {"act": "archive"})
    assert [card.system.name for card in scorecards.cards_of(scored)] == ["old"]
    client.post(page, {"act": "delete"})
    assert not RagSystem.objects.filter(name="new").exists()
    blocked = reverse("archive_one", args=["shop", "rag-samples", scored.uuid])
    client.post(blocked, {"act": "delete"})
    assert RagSampleSet.objects.filter(pk=scored.pk).exists()
    client.post(reverse("archive_one", args=["shop", "rag-system", RagSystem.objects.get().uuid]), {"act": "delete"})
    client.post(blocked, {"act": "delete"})
    assert not RagSampleSet.objects.filter(pk=scored.pk).exists()
