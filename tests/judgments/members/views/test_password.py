"""Tests of the password page: change, continued session, errors at their field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.django_db
GOOD = {"old_password": "pass", "new_password1": "larch-and-ridge-9", "new_password2": "larch-and-ridge-9"}


def test_the_new_password_holds_and_the_session_stays(client_of: Callable[[Any], Any], rater: Any) -> None:
    client = client_of(rater)
    assert client.post("/password/", GOOD).status_code == 302
    rater.refresh_from_db()
    assert rater.check_password("larch-and-ridge-9")
    assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    ("change", "word"),
    [({"old_password": "other"}, "old password"), ({"new_password2": "another"}, "match"), ({"new_password1": ""}, "")],
)
def test_an_error_is_reported_and_changes_nothing(
    client_of: Callable[[Any], Any], rater: Any, change: dict[str, str], word: str
) -> None:
    answer = client_of(rater).post("/password/", GOOD | change)
    assert answer.status_code == 422
    assert word in answer.content.decode()
    rater.refresh_from_db()
    assert rater.check_password("pass")
