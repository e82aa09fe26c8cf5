"""Endpoints of RAG evaluation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from assay import rag
from evaluation.models import RagSampleSet, RagSystem
from judgments.jobs import jobs
from judgments.models import Job
from tests.evaluation.rag.conftest import NEW, OLD, SAMPLES, lines, work

pytestmark = pytest.mark.django_db
AT = "/api/v1/collections/shop/rag"


@pytest.fixture
def api(collection: Any, engineer: Any, api_of: Any) -> Any:
    return api_of(engineer)


def posted(client: Any, path: str, content: Any, status: int = 201) -> Any:
    response = client.post(f"{AT}{path}", content, format="json")
    assert response.status_code == status, response.content[:500]
    return response.json()


def test_lists_become_a_scorecard(api: Any) -> None:
    made = posted(api, "/samples/?name=kits", SAMPLES)
    old = posted(api, f"/outputs/?name=old&samples={made['id']}", OLD)
    posted(api, "/outputs/?name=new", NEW)  # finds its samples by their ids
    work(RagSampleSet.objects.get())
    body = api.get(f"{AT}/samples/{made['id']}/scorecards/?per_sample=true").json()
    expected = rag.evaluate(SAMPLES, {"old": OLD, "new": NEW}, "TokenF1")
    assert body["job"] is None
    assert [one["name"] for one in body["systems"]] == ["old", "new"]
    for one, system in zip(body["systems"], expected.systems, strict=True):
        assert one["metrics"]["TokenF1"]["value"] == system.scores["TokenF1"].value
        assert {key: of["TokenF1"] for key, of in one["per_sample"].items()} == system.per_sample_of("TokenF1")
    (f1,) = [row for row in body["comparisons"] if row["metric"] == "TokenF1"]
    (row,) = rag.compare(expected)
    assert (f1["a"], f1["b"], f1["p"]) == ("old", "new", row.p)
    listed = api.get(f"{AT}/outputs/?samples={made['id']}").json()["results"]
    assert [(one["name"], one["baseline"]) for one in listed] == [("new", False), ("old", True)]
    assert api.get(f"{AT}/outputs/?samples=none").json()["results"] == []
    new = next(one for one in listed if one["name"] == "new")
    changed = api.patch(f"{AT}/outputs/{new['id']}/", {"baseline": True}, format="json")
    assert changed.json()["baseline"] is True
    assert api.get(f"{AT}/outputs/{old['id']}/").json()["baseline"] is False


def test_a_large_file_of_outputs_is_stored_by_a_job(api: Any, settings: Any) -> None:
    made = posted(api, "/samples/?name=kits", SAMPLES)
    settings.JOB_FROM_BYTES = 10
    job = posted(api, f"/outputs/?name=old&samples={made['id']}", OLD, 202)
    jobs.work_on_job.func(job["job"])
    assert Job.objects.get(uuid=job["job"]).state == Job.State.DONE
    assert str(RagSystem.objects.get(name="old").sample_set.uuid) == made["id"]


def test_a_file_downloads_unchanged(api: Any) -> None:
    response = api.post(
        f"{AT}/samples/", {"file": SimpleUploadedFile("kits.jsonl", lines(SAMPLES))}, format="multipart"
    )
    assert response.status_code == 201, response.content
    made = RagSampleSet.objects.get()
    body = b"".join(api.get(f"{AT}/samples/{made.uuid}/file/").streaming_content)
    assert [one["sample_id"] for one in map(json.loads, body.splitlines())] == [one["sample_id"] for one in SAMPLES]
    posted(api, "/outputs/?name=old", OLD)
    body = b"".join(api.get(f"{AT}/outputs/{RagSystem.objects.get().uuid}/file/").streaming_content)
    assert [json.loads(line)["response"] for line in body.splitlines()] == [one["response"] for one in OLD]


def test_errors_are_reported_by_field(api: Any) -> None:
    assert "name" in posted(api, "/samples/", SAMPLES, 400)["error"]["fields"]
    assert "file" in posted(api, "/samples/?name=bad", [{"sample_id": "x"}], 400)["error"]["fields"]
    made = posted(api, "/samples/?name=kits", SAMPLES)
    assert "missing" in posted(api, "/outputs/?name=short", OLD[:3], 400)["error"]["fields"]
    assert "samples" in posted(api, "/outputs/?name=strange", [{"id": "z", "answer": "a"}], 400)["error"]["fields"]
    posted(api, "/outputs/?name=short&missing=skip", OLD[:3])
    for body, field in (({"metrics": ["Nonsense"]}, None), ({"slices": ["nothing"]}, "slices"), ({"x": 1}, "x")):
        error = posted(api, f"/samples/{made['id']}/scorecards/", body, 400)["error"]
        assert field is None or field in error["fields"]


def test_metrics_are_chosen_by_name(api: Any) -> None:
    made = posted(api, "/samples/?name=kits", SAMPLES)
    posted(api, "/outputs/?name=old", OLD)
    job = posted(api, f"/samples/{made['id']}/scorecards/", {"metrics": ["recall@5"], "slices": []}, 202)["job"]
    assert api.get(f"{AT}/samples/{made['id']}/scorecards/").json()["job"] == job
    jobs.work_on_job.func(job)
    body = api.get(f"{AT}/samples/{made['id']}/scorecards/").json()
    assert list(body["metrics"]) == ["RecallAtK(k=5)"]
    assert body["systems"][0]["slices"] == {}


def test_queries_become_samples(api: Any, stage: Any) -> None:
    snapshot = stage.whole_way()
    run = snapshot.collection.runs.first()
    body = {"name": "ours", "snapshot": str(snapshot.uuid), "run": str(run.uuid)}
    job = posted(api, "/samples/from-collection/", body, 202)["job"]
    jobs.work_on_job.func(job)
    assert Job.objects.get(uuid=job).state == Job.State.DONE
    (made,) = api.get(f"{AT}/samples/?name=ours").json()["results"]
    assert made["samples"] == 12
    assert "run" in posted(api, "/samples/from-collection/", {"name": "x", "run": made["id"]}, 400)["error"]["fields"]
