"""Tests of request bodies: oversized ones are not read, and only allowed users can upload files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from rest_framework.parsers import MultiPartParser

from assay.core.errors import TooLarge
from judgments.web.middleware import coming
from tests.addresses import routes

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]
SECRET = "a" * 32


@pytest.fixture(autouse=True)
def no_temporary_folder(settings: Any, tmp_path: Path) -> None:
    """Writing a file there fails the test."""
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path / "nowhere")


def file(megabytes: float = 3.0) -> SimpleUploadedFile:
    return SimpleUploadedFile("a.csv", b"x" * int(megabytes * 1024 * 1024))


def forger() -> Client:
    """A client that checks CSRF as browsers have it, with a cookie that anybody can make."""
    client = Client(enforce_csrf_checks=True)
    client.cookies["csrftoken"] = SECRET
    return client


@pytest.mark.parametrize("megabytes", [0.1, 3.0])
def test_a_stranger_can_send_no_file_to_any_page(collection: Any, megabytes: float) -> None:
    pages = ["/login/", "/admin/login/", "/invite/", "/password/", "/c/shop/runs/new/"]
    for page in [*pages, "/c/shop/start/", "/logout/", "/api/v1/collections/shop/runs/", "/api/schema/"]:
        assert forger().post(page, {"file": file(megabytes)}).status_code == 413, page
        body = "x=" + "x" * int(megabytes * 1024 * 1024)
        assert forger().post(page, body, content_type="application/x-www-form-urlencoded").status_code == 413, page


def test_a_wrong_token_sends_no_file(collection: Any) -> None:
    more = {"HTTP_AUTHORIZATION": "Bearer wrong"}
    assert Client().post("/api/v1/collections/shop/runs/", {"file": file()}, **more).status_code == 401


def test_pages_without_files_take_none_from_those_who_are_logged_in(client_of: Any, lead: Any, collection: Any) -> None:
    for page in ("/password/", "/c/new/", "/logout/", "/login/", "/admin/login/"):
        assert client_of(lead).post(page, {"file": file()}).status_code == 413, page
    # With a header that says nothing the session counts.
    for more in ({}, {"HTTP_AUTHORIZATION": "Nothing at all"}):
        answer = client_of(lead).post("/api/v1/collections/shop/rounds/", {"file": file()}, **more)
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_pages_with_files_take_them_up_to_the_limit(
    client_of: Any, lead: Any, collection: Any, settings: Any, tmp_path: Path
) -> None:
    page = reverse("documents_new", args=[collection.slug])
    settings.MAX_UPLOAD_BYTES = 1 << 20
    assert client_of(lead).post(page, {"file": file()}).status_code == 413
    settings.MAX_UPLOAD_BYTES, settings.FILE_UPLOAD_TEMP_DIR = 1 << 23, str(tmp_path)
    assert client_of(lead).post(page, {"file": file()}).status_code == 302


def test_users_without_a_collection_cannot_upload(client_of: Any, rater: Any, collection: Any) -> None:
    """A rater came by a link, perhaps: what they send would fill the temporary folder before it is refused."""
    collection.memberships.filter(user=rater).update(role="rater")
    browser = client_of(rater)
    for path in ("/c/shop/runs/new/", "/c/none/runs/new/", "/c/shop/start/", "/api/v1/collections/shop/runs/"):
        assert browser.post(path, {"file": file()}).status_code == 413, path


def test_running_uploads_count_towards_the_quota(
    client_of: Any, lead: Any, engineer: Any, collection: Any, settings: Any, tmp_path: Path
) -> None:
    """Many large bodies at once would each find the quota unused."""
    settings.UPLOAD_QUOTA_MB = 4
    with coming(lead, 4 << 20):
        for path in ("/c/shop/runs/new/", "/api/v1/collections/shop/runs/"):
            assert client_of(lead).post(path, {"file": file()}).status_code == 413, path
        with pytest.raises(TooLarge), coming(lead, 1):
            pass
        settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
        assert client_of(engineer).post("/c/shop/runs/new/", {"file": file()}).status_code != 413
    with coming(lead, 1):
        pass
    assert client_of(lead).post("/c/shop/documents/new/", {"file": file()}).status_code == 302


def test_a_program_counts_what_it_sends(api_of: Any, lead: Any, collection: Any, settings: Any) -> None:
    settings.UPLOAD_QUOTA_MB = 1
    with coming(lead, 1 << 20):
        answer = api_of(lead).post("/api/v1/collections/shop/runs/", {"file": file(0.1)}, format="multipart")
    assert answer.status_code == 413
    small = SimpleUploadedFile("a.run", b"q1 Q0 d1 1 1 x\n")
    assert api_of(lead).post("/api/v1/collections/shop/runs/", {"file": small}, format="multipart").status_code == 201


def test_every_view_that_reads_files_says_so() -> None:
    """A page that lacks it would refuse large files; one that has it without need could fill the temporary folder."""
    reading = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for app in ("judgments", "pooling", "evaluation")
        for path in (ROOT / app).rglob("*.py")
        if (path.name == "views.py" or path.parent.name == "views")
        and re.search(r"\brequest\.FILES\b", path.read_text(encoding="utf-8"))
    }
    views = [pattern.callback for _, pattern in routes()]
    saying = {view.__module__ for view in views if getattr(view, "takes_files", False)}
    assert saying == reading
    endpoints = [view.cls for view in views if hasattr(view, "cls") and ".api." in view.cls.__module__]
    for endpoint in endpoints:
        assert getattr(endpoint, "takes_files", False) == (MultiPartParser in endpoint.parser_classes), endpoint
