"""Tests of downloads that continue where they were interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import RequestFactory

from judgments.web.downloads import resumable

CONTENT = b"0123456789"


def blocks() -> Iterator[bytes]:
    return iter([CONTENT[:4], CONTENT[4:6], CONTENT[6:]])


def get(**headers: str) -> Any:
    return resumable(RequestFactory().get("/", headers=headers), "labels.txt", blocks, "v1")


def test_without_a_range_the_whole_file_comes() -> None:
    response = get()
    assert (response.status_code, response.getvalue(), response["ETag"]) == (200, CONTENT, '"v1"')
    assert response["Cache-Control"] == "no-store"


@pytest.mark.parametrize("start", range(1, 10))
def test_a_range_returns_the_rest(start: int) -> None:
    response = get(**{"Range": f"bytes={start}-", "If-Range": '"v1"'})
    assert (response.status_code, response.getvalue()) == (206, CONTENT[start:])
    assert response["Content-Range"] == f"bytes {start}-9/10"
    assert response["Content-Length"] == str(10 - start)


@pytest.mark.parametrize(
    "headers",
    [
        {"Range": "bytes=4-"},
        {"Range": "bytes=4-", "If-Range": '"v0"'},
        {"Range": "bytes=4-6", "If-Range": '"v1"'},
        {"Range": "bytes=-4", "If-Range": '"v1"'},
        {"Range": "lines=4-", "If-Range": '"v1"'},
        {"Range": "bytes=0-", "If-Range": '"v1"'},
    ],
)
def test_another_version_or_another_range_returns_the_whole_file(headers: dict[str, str]) -> None:
    response = get(**headers)
    assert (response.status_code, response.getvalue()) == (200, CONTENT)


def test_a_range_behind_the_end_is_refused() -> None:
    response = get(**{"Range": "bytes=10-", "If-Range": '"v1"'})
    assert (response.status_code, response["Content-Range"]) == (416, "bytes */10")
