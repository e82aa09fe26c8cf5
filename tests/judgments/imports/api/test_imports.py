"""API tests of imports: files and lists, column mapping, atomic storage, reported problems."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import openpyxl
import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from judgments.models import Document, Query, Upload
from judgments.web.endpoints import LARGE_BODY, large_bodies

pytestmark = pytest.mark.django_db
SHOP = "/api/v1/collections/shop"
DOCUMENTS = [
    {"doc_id": "d1", "title": "Fell jacket", "text": "Taped.", "price": 89},
    {"id": "d2", "name": "Ünïcode ✓"},
]


@pytest.fixture
def api(collection: Any, lead: Any, api_of: Any) -> APIClient:
    return api_of(lead)


def send(api: APIClient, kind: str, content: str | bytes, name: str = "file.txt", **fields: Any) -> Any:
    """Upload a file as a form would."""
    body = content.encode() if isinstance(content, str) else content
    return api.post(f"{SHOP}/{kind}/", {"file": SimpleUploadedFile(name, body), **fields}, format="multipart")


def post(api: APIClient, kind: str, rows: Any, query: str = "") -> Any:
    return api.post(f"{SHOP}/{kind}/{query}", rows, format="json")


def test_documents_as_a_list(api: APIClient) -> None:
    response = post(api, "documents", DOCUMENTS)
    body = response.json()
    assert (response.status_code, body["rows"], body["new"], body["left_out"]) == (201, 2, 2, 0)
    first, second = api.get(f"{SHOP}/documents/").json()["results"]
    assert (first["doc_id"], first["fields"], first["stub"]) == ("d1", {"price": 89}, False)
    assert (second["doc_id"], second["title"]) == ("d2", "Ünïcode ✓")


def test_the_same_documents_as_a_file_make_the_same_rows(api: APIClient) -> None:
    post(api, "documents", DOCUMENTS)
    lines = "".join(f"{json.dumps(row)}\n" for row in DOCUMENTS)
    response = send(api, "documents", gzip.compress(lines.encode()), "documents.jsonl.gz")
    assert "already contains all rows" in response.json()["error"]["fields"]["file"]


def test_documents_as_csv_detected_from_the_content(api: APIClient) -> None:
    assert send(api, "documents", "doc_id,title\nd1,Fell jacket\n").json()["report"]["format"] == "documents-csv"


def test_one_document_by_its_id(api: APIClient) -> None:
    post(api, "documents", DOCUMENTS)
    assert [row["doc_id"] for row in api.get(f"{SHOP}/documents/?doc_id=d2").json()["results"]] == ["d2"]


def test_queries_as_a_list_keep_every_character(api: APIClient) -> None:
    rows = [
        {"query_id": "q1", "query": '=sum, "quoted"\nnext line', "weight": -0.0, "tier": "head"},
        {"query_id": 2, "query": "'tis", "frequency": 7, "narrative": None},
    ]
    assert post(api, "queries", rows).status_code == 201, post(api, "queries", rows).json()
    result = {query.query_id: query for query in Query.objects.all()}
    assert result["q1"].text == '=sum, "quoted"\nnext line'
    assert (result["2"].text, result["2"].frequency) == ("'tis", 7)


def test_queries_without_ids_are_numbered(api: APIClient) -> None:
    post(api, "queries", [{"query": "rain jacket"}, {"query": "tent"}])
    ids = [row["query_id"] for row in api.get(f"{SHOP}/queries/").json()["results"]]
    # Under a prefix of their own: another file may have a q001.
    assert [query_id.rpartition("-")[2] for query_id in ids] == ["001", "002"]
    assert len({query_id.rpartition("-")[0] for query_id in ids} - {"", "q"}) == 1


def test_columns_can_be_called_something_else(api: APIClient) -> None:
    content = "term,searches\nrain jacket,12\n"
    response = send(api, "queries", content, format="queries-csv", columns="query=term, frequency=searches")
    assert response.status_code == 201, response.json()
    assert Query.objects.get().frequency == 12


def test_labels_as_a_judgment_list(api: APIClient) -> None:
    rows = [{"query_id": "q1", "query": "rain jacket", "ratings": [{"doc_id": "d1", "rating": 3}]}]
    assert post(api, "qrels", rows, "?name=old").json()["name"] == "old"
    (source,) = api.get(f"{SHOP}/qrels/").json()["results"]
    assert (source["name"], source["labels"], source["kind"]) == ("old", 1, "import")


def test_labels_as_rows(api: APIClient) -> None:
    post(api, "queries", [{"query_id": "#1", "query": "rain jacket"}])
    response = post(api, "qrels", [{"query_id": "#1", "doc_id": "d1", "grade": 3}])
    assert (response.status_code, response.json()["rows"]) == (201, 1), response.json()


def test_an_id_with_a_space_is_refused_where_the_format_cannot_hold_it(api: APIClient) -> None:
    error = post(api, "qrels", [{"query_id": "q 1", "doc_id": "d1", "grade": 3}]).json()["error"]
    assert "Row 1" in error["fields"]["file"]


def test_one_bad_row_keeps_all_out_and_is_reported(api: APIClient) -> None:
    response = post(api, "documents", [*DOCUMENTS, {"title": "no id"}])
    error = response.json()["error"]
    assert (response.status_code, error["code"], set(error["fields"])) == (400, "not_valid", {"file"})
    assert (error["report"]["errors"], error["report"]["problems"][0]["line"]) == (1, 3)
    assert not Document.objects.exists()
    assert not Upload.objects.exists()


def test_good_rows_are_imported_on_request(api: APIClient) -> None:
    response = post(api, "documents", [*DOCUMENTS, {"title": "no id"}], "?accept_errors=true")
    assert (response.status_code, response.json()["left_out"]) == (201, 1)
    assert Document.objects.count() == 2


def test_good_lines_of_a_file_are_imported_on_request(api: APIClient) -> None:
    response = send(api, "documents", '{"doc_id": "d1"}\nno json\n', "documents.jsonl", accept_errors="true")
    assert (response.status_code, response.json()["report"]["errors"]) == (201, 1)


def test_at_most_a_hundred_problems_are_listed(api: APIClient) -> None:
    rows: list[Any] = [{"doc_id": "d1"}, *([{"title": "no id"}] * 150)]
    report = post(api, "documents", rows).json()["error"]["report"]
    assert (report["errors"], len(report["problems"])) == (150, 100)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\xff\xfe\x00", "UTF-16"),
        (b'{"doc_id": "d\xe9"}\n', "not valid UTF-8"),
        (gzip.compress(b'{"doc_id": "d1"}\n', mtime=0)[:-6], "gzip"),
        (b"PK\x03\x04\x00\x00", "zip archive"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(api: APIClient, content: bytes, message: str) -> None:
    response = send(api, "documents", content, "mine.jsonl", format="documents-jsonl")
    file = response.json()["error"]["fields"]["file"]
    assert response.status_code == 400
    assert file.startswith("mine.jsonl")
    assert message in file


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("documents", []),
        ("documents", {}),
        ("documents", None),
        ("documents", [[1]]),
        ("documents", [{"doc_id": "\ud800"}]),
        ("documents", [{"doc_id": "a\x00"}]),
        ("queries", [{"query": ["x"]}]),
        ("queries", [{"query": "\ud800"}]),
        ("queries", [{"query": True}]),
        ("queries", [{}]),
        ("queries", ["rain jacket"]),
        ("qrels", [{"query_id": "q1", "doc_id": "d1", "grade": "3"}]),
        ("qrels", [{"query_id": "q1", "grade": 3}]),
        ("qrels", [{"query_id": "q1", "query": "x", "ratings": "none"}]),
        ("qrels", ["q1 0 d1 3"]),
    ],
)
def test_lists_that_cannot_be_read_are_the_callers_mistake(api: APIClient, kind: str, body: Any) -> None:
    response = api.generic("POST", f"{SHOP}/{kind}/", json.dumps(body), content_type="application/json")
    assert (response.status_code, response.json()["error"]["code"]) == (400, "not_valid"), response.content
    assert response.json()["error"]["fields"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"format": "nothing"}, "format"),
        ({"format": "trec-run"}, "format"),
        ({"columns": "count"}, "columns"),
        ({"grades": "3"}, "grades"),
        ({"encoding": "utf-99"}, "encoding"),
        ({"conflicts": "random"}, "conflicts"),
        ({"grades": "0:3"}, "grades"),
    ],
)
def test_options_that_are_none(api: APIClient, fields: dict[str, str], named: str) -> None:
    response = send(api, "documents", '{"doc_id": "d1"}\n', **fields)
    assert (response.status_code, set(response.json()["error"]["fields"])) == (400, {named})


def test_the_same_labels_twice(api: APIClient) -> None:
    post(api, "queries", [{"query_id": "q1", "query": "rain jacket"}])
    send(api, "qrels", "q1 0 d1 3\n", "old.qrels")
    response = send(api, "qrels", "q1 0 d1 3\n", "again.qrels")
    assert (response.status_code, response.json()["error"]["code"]) == (409, "conflict")


def test_a_grade_off_the_scale(api: APIClient) -> None:
    post(api, "queries", [{"query_id": "q1", "query": "rain jacket"}])
    file = send(api, "qrels", "q1 0 d1 7\n", "old.qrels", grades="0:3").json()["error"]["fields"]["file"]
    assert file.startswith("old.qrels:1")


def test_a_large_file_is_worked_as_a_job(
    api: APIClient, settings: LazySettings, django_capture_on_commit_callbacks: Any
) -> None:
    settings.JOB_FROM_BYTES = 10
    with django_capture_on_commit_callbacks(execute=True):
        response = post(api, "documents", DOCUMENTS)
    assert response.status_code == 202
    job = api.get(f"/api/v1/jobs/{response.json()['job']}/").json()
    assert (job["state"], job["result"]["rows"], job["error"]) == ("done", 2, "")
    assert Document.objects.count() == 2


def test_the_job_of_a_large_file_with_errors_fails_and_leaves_nothing(
    api: APIClient, settings: LazySettings, django_capture_on_commit_callbacks: Any
) -> None:
    settings.JOB_FROM_BYTES = 10
    with django_capture_on_commit_callbacks(execute=True):
        response = post(api, "documents", [{"title": "no id"}])
    assert response.status_code == 202
    job = api.get(f"/api/v1/jobs/{response.json()['job']}/").json()
    assert (job["state"], ":1: " in job["error"]) == ("failed", True)
    assert not Upload.objects.exists()
    assert not Document.objects.exists()


def test_a_file_that_is_too_large(api: APIClient, settings: LazySettings) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    response = send(api, "documents", '{"doc_id": "d1"}\n', "documents.jsonl")
    assert (response.status_code, response.json()["error"]["code"]) == (413, "too_large")
    assert not Upload.objects.exists()


def test_of_large_json_bodies_one_is_taken_at_a_time(
    api: APIClient, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = [{"doc_id": "d1", "text": "x" * LARGE_BODY}]
    with large_bodies().turn(), monkeypatch.context() as impatient:
        impatient.setattr(large_bodies(), "seconds", 0.0)
        answer = post(api, "documents", long)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
        for kind in ("application/json; a=multipart", "application/json; boundary=multipart/form-data", "text/plain"):
            answer = api.post(f"{SHOP}/documents/", json.dumps(long), content_type=kind)
            assert answer.status_code == 503, kind
        assert post(api, "documents", DOCUMENTS).status_code == 201
    assert post(api, "documents", long).status_code == 201
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = LARGE_BODY
    assert post(api, "documents", long).status_code == 413


def test_an_engineer_sends_no_documents(collection: Any, engineer: Any, api_of: Any) -> None:
    assert post(api_of(engineer), "documents", DOCUMENTS).status_code == 403


@pytest.mark.parametrize("levels", [100, 850, 900, 950, 2000])
def test_deeply_nested_input_is_refused(api: APIClient, levels: int) -> None:
    line = '{"doc_id": "d1", "field": ' + "[" * levels + "]" * levels + "}"
    assert send(api, "documents", f"{line}\n").status_code == 400
    assert api.post(f"{SHOP}/documents/", f"[{line}]", content_type="application/json").status_code == 400


@pytest.mark.parametrize(("query", "text"), [("", "mail jo@example.org"), ("?redact=true", "mail [e-mail]")])
def test_personal_data_in_queries_is_reported(api: APIClient, query: str, text: str) -> None:
    response = post(api, "queries", [{"query_id": "q1", "query": "mail jo@example.org"}], query)
    (data,) = response.json()["report"]["problems"]
    assert (response.status_code, data["code"], data["line"]) == (201, "W59", 2)
    assert Query.objects.get().text == text


def test_a_workbook_of_ratings_becomes_a_round(api: APIClient) -> None:
    """A book with a formula is refused with its cell; the corrected one is stored."""
    post(api, "queries", [{"query_id": "q1", "query": "rain jacket"}])
    post(api, "documents", [{"doc_id": "d1", "title": "Fell jacket"}])

    def workbook(grade: object) -> bytes:
        book, stream = openpyxl.Workbook(), io.BytesIO()
        book.active.append(["note"])
        sheet = book.create_sheet("Grades")
        sheet.append(["query_id", "query_text", "doc_id", "grade", "rater_id", "notes"])
        sheet.append(["q1", "rain jacket", "d1", grade, "r01", "dry"])
        book.save(stream)
        return stream.getvalue()

    refused = send(api, "judgments", workbook("=1+2"), "book.xlsx")
    problems = refused.json()["error"]["report"]["problems"]
    assert (refused.status_code, [(one["code"], one["line"]) for one in problems]) == (400, [("W69", None), ("E28", 2)])
    stored = send(api, "judgments", workbook(3), "book.xlsx", sheet="Grades")
    assert (stored.status_code, stored.json()["rows"], stored.json()["report"]["format"]) == (201, 1, "ratings-xlsx")


def test_one_search_configuration_of_an_experiment_becomes_a_run(api: APIClient) -> None:
    post(api, "queries", [{"query_id": "q1", "query": "rain jacket"}])
    lists = [{"searchConfigurationId": name, "docIds": [doc_id]} for name, doc_id in (("old", "d1"), ("new", "d2"))]
    experiment = {
        "searchConfigurationList": ["old", "new"],
        "results": [{"query_text": "rain jacket", "snapshots": lists}],
    }
    refused = send(api, "runs", json.dumps(experiment), "experiment.json")
    assert (refused.status_code, "'old', 'new'" in refused.json()["error"]["message"]) == (400, True)
    stored = send(api, "runs", json.dumps(experiment), "experiment.json", snapshot="new")
    assert (stored.status_code, stored.json()["rows"], stored.json()["report"]["format"]) == (201, 1, "srw-experiment")
