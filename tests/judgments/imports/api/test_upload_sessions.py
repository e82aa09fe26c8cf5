"""API tests of uploads in chunks: continue, repeat, refuse, expire, and import the same as a file."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone
from rest_framework.test import APIClient

from judgments.imports import upload_sessions
from judgments.models import Upload, UploadSession
from pooling.models import Run

pytestmark = pytest.mark.django_db
UPLOADS = "/api/v1/collections/shop/uploads/"
RUNS = "/api/v1/collections/shop/runs/"
RUN = b"q1 Q0 d1 1 9.5 bm25\nq1 Q0 d2 2 8.5 bm25\n"


@pytest.fixture
def api(collection: Any, engineer: Any, api_of: Any) -> APIClient:
    return api_of(engineer)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_sessions, "LEAST_CHUNK_BYTES", 5)


def begin(api: APIClient, content: bytes = RUN, kind: str = "runs", **fields: Any) -> Any:
    sha256 = hashlib.sha256(content).hexdigest()
    body = {"kind": kind, "filename": "bm25.run", "bytes": len(content), "sha256": sha256, **fields}
    return api.post(UPLOADS, body, format="json")


def patch(api: APIClient, session: str, content: bytes, offset: int | str) -> Any:
    path, kind = f"{UPLOADS}{session}/", "application/octet-stream"
    return api.generic("PATCH", path, content, content_type=kind, headers={"Upload-Offset": str(offset)})


def sent(api: APIClient, content: bytes = RUN, **fields: Any) -> str:
    session = begin(api, content, **fields).json()["id"]
    assert patch(api, session, content[:20], 0).json()["offset"] == 20
    assert patch(api, session, content[20:], 20).json()["offset"] == len(content)
    return str(session)


def chunk_files() -> list[str]:
    return default_storage.listdir("chunks")[1] if default_storage.exists("chunks") else []


def test_the_chunks_are_imported_as_one_file(api: APIClient) -> None:
    session = sent(api)
    before = len(chunk_files())
    response = api.post(RUNS, {"upload": session, "name": "chunked"}, format="json")
    assert (response.status_code, response.json()["rows"], response.json()["name"]) == (201, 2, "chunked")
    assert Run.objects.get().sha256 == hashlib.sha256(RUN).hexdigest()
    assert len(chunk_files()) == before - 2
    assert not Upload.objects.filter(stored_at__isnull=True).exists()


def test_a_repeated_import_returns_the_same_response(api: APIClient) -> None:
    session = sent(api)
    first = api.post(RUNS, {"upload": session}, format="json")
    again = api.post(RUNS, {"upload": session}, format="json")
    assert (again.status_code, again.json()) == (201, first.json())
    assert Run.objects.count() == 1


def test_a_stored_file_is_not_sent_again(api: APIClient) -> None:
    run = api.post(RUNS, {"upload": sent(api)}, format="json").json()
    body = begin(api).json()
    assert (body["state"], body["id"], body["stored"]) == ("stored", None, {"id": run["id"], "name": run["name"]})


def test_an_interrupted_upload_continues(api: APIClient) -> None:
    first = begin(api)
    patch(api, first.json()["id"], RUN[:20], 0)
    again = begin(api)
    assert (first.status_code, again.status_code) == (201, 200)
    assert (again.json()["id"], again.json()["offset"]) == (first.json()["id"], 20)
    assert api.get(f"{UPLOADS}{again.json()['id']}/").json()["offset"] == 20


@pytest.mark.parametrize("offset", [0, 19, 21])
def test_a_chunk_for_another_place_is_refused(api: APIClient, offset: int) -> None:
    session = begin(api).json()["id"]
    patch(api, session, RUN[:20], 0)
    before = len(chunk_files())
    response = patch(api, session, RUN[20:30], offset)
    assert (response.status_code, list(response.json()["error"]["fields"])) == (409, ["offset"])
    assert len(chunk_files()) == before


def test_chunks_that_are_too_small_too_long_or_unplaced_are_refused(api: APIClient) -> None:
    session = begin(api).json()["id"]
    assert patch(api, session, RUN[:4], 0).status_code == 400
    assert patch(api, session, RUN + b"x", 0).status_code == 400
    assert patch(api, session, RUN, "").status_code == 400
    assert patch(api, session, RUN, "²").status_code == 400
    assert patch(api, session, b"x" * (upload_sessions.MOST_CHUNK_BYTES + 1), 0).status_code == 413
    assert UploadSession.objects.get().offset == 0


def test_an_incomplete_file_is_not_imported(api: APIClient) -> None:
    session = begin(api).json()["id"]
    patch(api, session, RUN[:20], 0)
    assert api.post(RUNS, {"upload": session}, format="json").status_code == 409
    assert UploadSession.objects.get().state == "receiving"


def test_other_bytes_than_announced_are_discarded(api: APIClient) -> None:
    session = sent(api, RUN.replace(b"d1", b"d3"), sha256=hashlib.sha256(RUN).hexdigest())
    before = len(chunk_files())
    response = api.post(RUNS, {"upload": session}, format="json")
    assert (response.status_code, list(response.json()["error"]["fields"])) == (400, ["sha256"])
    assert not UploadSession.objects.exists()
    assert len(chunk_files()) == before - 2


def test_after_a_refusal_the_file_can_be_imported_with_other_options(api: APIClient) -> None:
    content = RUN + b"q1 Q0 d3 3 high bm25\n"
    session = sent(api, content)
    refused = api.post(RUNS, {"upload": session}, format="json")
    assert (refused.status_code, refused.json()["error"]["report"]["errors"]) == (400, 1)
    accepted = api.post(RUNS, {"upload": session, "accept_errors": True}, format="json")
    assert (accepted.status_code, accepted.json()["left_out"]) == (201, 1)


def test_known_documents_are_a_success_without_rows(collection: Any, lead: Any, api_of: Any) -> None:
    api, content = api_of(lead), b'{"doc_id": "d1", "text": "Three layers, taped."}\n'
    documents = "/api/v1/collections/shop/documents/"
    assert api.post(documents, {"upload": sent(api, content, kind="documents")}, format="json").status_code == 201
    again = api.post(documents, {"upload": sent(api, content, kind="documents")}, format="json")
    assert (again.status_code, again.json()["rows"], again.json()["already"]) == (200, 0, True)


def test_a_large_file_becomes_a_job_once(api: APIClient, settings: Any) -> None:
    settings.JOB_FROM_BYTES = 10
    session = sent(api)
    first = api.post(RUNS, {"upload": session}, format="json")
    again = api.post(RUNS, {"upload": session}, format="json")
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json() == again.json()


def test_an_import_in_progress_is_not_started_twice(api: APIClient) -> None:
    session = sent(api)
    rows = UploadSession.objects.filter(uuid=session)
    rows.update(state="importing", touched_at=timezone.now())
    busy = api.post(RUNS, {"upload": session}, format="json")
    assert (busy.status_code, busy.headers["Retry-After"]) == (503, "5")
    rows.update(touched_at=timezone.now() - upload_sessions.INTERRUPTED - timedelta(seconds=1))
    assert api.post(RUNS, {"upload": session}, format="json").status_code == 201


def test_a_session_belongs_to_its_kind_and_to_its_user(api: APIClient, lead: Any, rater: Any, api_of: Any) -> None:
    session = sent(api)
    qrels = api_of(lead).post("/api/v1/collections/shop/qrels/", {"upload": session}, format="json")
    assert qrels.status_code == 404
    assert api_of(lead).get(f"{UPLOADS}{session}/").status_code == 404
    assert patch(api_of(rater), session, RUN, 0).status_code == 403
    samples = api.post("/api/v1/collections/shop/rag/samples/", {"upload": session}, format="json")
    assert (samples.status_code, list(samples.json()["error"]["fields"])) == (400, ["upload"])


def test_the_role_of_the_kind_is_checked_before_bytes_arrive(api: APIClient) -> None:
    assert begin(api, kind="documents").status_code == 403
    assert begin(api, kind="battles").status_code == 400
    assert begin(api, sha256="0" * 63).status_code == 400
    assert begin(api, bytes=0).status_code == 400


def test_the_limits_of_uploads_apply(api: APIClient, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MAX_UPLOAD_BYTES = len(RUN) - 1
    assert begin(api).status_code == 413
    settings.MAX_UPLOAD_BYTES, settings.UPLOAD_QUOTA_MB = 2 << 20, 1
    assert begin(api, bytes=1 << 20).status_code == 413
    settings.UPLOAD_QUOTA_MB = 2
    assert begin(api, bytes=1 << 20).status_code == 201
    assert begin(api, RUN + b" ", bytes=1 << 20).status_code == 413
    monkeypatch.setattr(upload_sessions, "MOST_OPEN", 1)
    assert begin(api, RUN + b"  ").status_code == 429


def test_abandoned_sessions_expire_with_their_chunks(api: APIClient) -> None:
    session = sent(api)
    before = len(chunk_files())
    rows = UploadSession.objects.filter(uuid=session)
    assert upload_sessions.sweep() == 0
    rows.update(touched_at=timezone.now() - upload_sessions.IDLE - timedelta(seconds=1))
    assert upload_sessions.sweep() == 1
    assert len(chunk_files()) == before - 2
    assert api.get(f"{UPLOADS}{session}/").status_code == 404


def test_outcomes_are_remembered_longer(api: APIClient) -> None:
    session = sent(api)
    api.post(RUNS, {"upload": session}, format="json")
    rows = UploadSession.objects.filter(uuid=session)
    rows.update(touched_at=timezone.now() - upload_sessions.IDLE - timedelta(seconds=1))
    assert upload_sessions.sweep() == 0
    rows.update(touched_at=timezone.now() - upload_sessions.REMEMBERED - timedelta(seconds=1))
    assert upload_sessions.sweep() == 1


def test_a_canceled_upload_is_gone(api: APIClient) -> None:
    session = sent(api)
    assert api.delete(f"{UPLOADS}{session}/").status_code == 204
    assert api.get(f"{UPLOADS}{session}/").status_code == 404
