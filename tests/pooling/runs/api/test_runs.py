"""Tests of the run API: upload as a list or a file."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from pooling.models import Run
from pooling.runs.runs import ranked
from tests import worked_example as example

pytestmark = pytest.mark.django_db
RUNS = "/api/v1/collections/shop/runs/"
ROWS = [{"query_id": "q1", "doc_id": "d1", "score": 2}, {"query_id": "q1", "doc_id": "d2", "score": 1.5e-7, "rank": 2}]


def test_an_engineer_sends_a_run_as_a_list(collection: Any, engineer: Any, api_of: Any) -> None:
    body = api_of(engineer).post(f"{RUNS}?name=my run", ROWS, format="json").json()
    assert (body["name"], body["rows"]) == ("my run", 2)
    run = Run.objects.get(uuid=body["id"])
    assert (run.rows, run.queries, run.depth) == (2, 1, 2)
    assert ranked(run).name == "my run"


def test_the_name_may_come_with_the_rows(api: Any) -> None:
    assert api.post(RUNS, {"name": "third", "rows": ROWS}, format="json").json()["name"] == "third"


def test_a_list_needs_a_name(api: Any) -> None:
    response = api.post(RUNS, ROWS, format="json")
    assert (response.status_code, set(response.json()["error"]["fields"])) == (400, {"name"})


def test_a_file_is_called_after_itself_or_as_requested(api: Any) -> None:
    for number, (fields, name) in enumerate([({}, "third"), ({"name": "fourth"}, "fourth")]):
        file = SimpleUploadedFile("third.run", f"q1 Q0 d1 1 {number}.5 x\n".encode())
        assert api.post(RUNS, {"file": file, **fields}, format="multipart").json()["name"] == name


def test_the_same_file_and_the_same_name_are_refused(api: Any) -> None:
    again = SimpleUploadedFile("again.run", example.BM25.encode())
    assert api.post(RUNS, {"file": again}, format="multipart").status_code == 409
    assert api.post(f"{RUNS}?name=bm25", ROWS, format="json").status_code == 409


def test_a_line_with_five_fields_is_reported_by_file_and_line(api: Any) -> None:
    file = SimpleUploadedFile("bad.run", b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1.5\n")
    response = api.post(RUNS, {"file": file}, format="multipart")
    assert response.json()["error"]["fields"]["file"].startswith("bad.run:2: 5 fields")
    assert Run.objects.count() == 2


def test_a_table_without_rows_is_reported(api: Any) -> None:
    file = SimpleUploadedFile("empty.csv", b"query_id,doc_id,score\n")
    response = api.post(RUNS, {"file": file}, format="multipart")
    assert (response.status_code, response.json()["error"]["fields"]) == (400, {"file": "The file contains no rows."})


@pytest.mark.parametrize(
    "row",
    [
        {"query_id": "q1", "doc_id": "d 1", "score": 1},
        {"query_id": "q1", "doc_id": "", "score": 1},
        {"query_id": "q1", "doc_id": "d\n1", "score": 1},
        {"query_id": "q1", "doc_id": "d1"},
        {"query_id": "q1", "doc_id": "d1", "score": "high"},
        {"query_id": "q1", "doc_id": "d1", "score": True},
        {"query_id": "q1", "doc_id": "d1", "score": 1, "rank": "first"},
        {"query_id": None, "doc_id": "d1", "score": 1},
        {"query_id": ["q1"], "doc_id": "d1", "score": 1},
        ["q1", "d1", 1],
    ],
)
def test_rows_that_cannot_be_read(api: Any, row: Any) -> None:
    response = api.post(f"{RUNS}?name=third", [ROWS[0], row], format="json")
    assert response.status_code == 400
    assert "Row 2" in response.json()["error"]["fields"]["file"]


def test_an_id_that_looks_like_a_comment_is_stored(api: Any) -> None:
    rows = [{"query_id": "#1", "doc_id": "d1", "score": 1}]
    assert api.post(f"{RUNS}?name=third", rows, format="json").json()["rows"] == 1


def test_a_rank_without_end_is_refused(api: Any) -> None:
    body = '[{"query_id": "q1", "doc_id": "d1", "score": 1, "rank": 1e999}]'
    response = api.post(f"{RUNS}?name=third", body, content_type="application/json")
    assert response.status_code == 400
    assert "rank" in response.json()["error"]["message"]


def test_a_run_its_health_and_its_file(api: Any) -> None:
    run = Run.objects.get(name="bm25")
    address = f"{RUNS}{run.uuid}/"
    body = api.get(address).json()
    assert (body["name"], body["sha256"], body["content_sha256"]) == ("bm25", run.sha256, run.content_sha256)
    health = api.get(f"{address}health/").json()
    assert (health["tied_rows"], health["reordered_rows"], health["against_rows"]) == (2, 2, 0)
    assert health["depths"] == [{"from": 3, "to": 3, "queries": 1}]
    # d1, d3, d2 and d4, d1, d5: one of five in common.
    assert [(other["name"], other["jaccard"]) for other in health["runs"]] == [("neural", 0.2)]
    answer = api.get(f"{address}export/trec-run/", headers={"accept": "text/plain"})
    assert sorted(b"".join(answer.streaming_content).decode().splitlines()) == sorted(example.BM25.splitlines())
    assert api.get(f"{address}export/zip/").status_code == 404
