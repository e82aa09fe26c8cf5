"""Tests of the click API: upload and report."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.pooling.clicks.example import COEC, LOG

pytestmark = pytest.mark.django_db
AT = "/api/v1/collections/shop/clicks/"


def test_a_file_a_list_and_the_grades(example: Any, api_of: Any, lead: Any, engineer: Any) -> None:
    api = api_of(lead)
    response = api.post(AT, {"file": SimpleUploadedFile("c.csv", LOG), "name": "May", "least_impressions": 30})
    assert (response.status_code, response.json()["rows"], response.json()["report"]["errors"]) == (201, 2, 0)
    one = api_of(engineer).get(f"{AT}{response.json()['id']}/").json()
    assert (one["name"], one["labels"], one["impressions"], one["clicks"]) == ("May", 2, 300, 60)
    assert one["ranks"] == [[1, 150, 45, 0.3], [2, 150, 15, 0.1]]
    assert (one["agreement"]["value"], one["agreement"]["pairs"]) == (None, 0)
    assert one["rules"]["model"] == "coec"
    rows = [
        {"query_id": "q1", "doc_id": "d1", "position": 1, "impressions": 60, "clicks": 30},
        {"query_id": "q1", "doc_id": "d2", "position": 1, "impressions": 60, "clicks": 6},
    ]
    listed = api.post(AT, {"rows": rows, "name": "June", "model": "ctr", "cuts": "0.3"}, format="json")
    assert (listed.status_code, listed.json()["rows"]) == (201, 2)
    grades = api.post(f"{AT}{response.json()['id']}/grades/", {"name": "G", "cuts": [COEC["d1"]]}, format="json")
    assert (grades.status_code, grades.json()["labels"]) == (201, 2)
    assert [row["name"] for row in api.get(AT).json()["results"]] == ["G", "June", "May"]
    # They are label sources like any other, and tell that they came from clicks.
    kinds = {row["name"]: row["kind"] for row in api.get("/api/v1/collections/shop/qrels/").json()["results"]}
    assert kinds == {"G": "clicks", "June": "clicks", "May": "clicks"}


def test_errors_are_reported_and_nothing_is_stored(example: Any, api_of: Any, lead: Any) -> None:
    api = api_of(lead)
    row = {"query": "rain jacket", "doc_id": "d1", "position": 1, "impressions": 5, "clicks": 9}
    for body, expected in (
        ({"rows": [row]}, "9 clicks on 5 impressions"),
        ({"rows": [{**row, "clicks": 1}], "cuts": "2,1"}, "not in ascending order"),
        ({"rows": [{**row, "clicks": 1}], "model": "dbn"}, "dbn"),
        ({"rows": [{**row, "clicks": 0}]}, "no clicks"),
        ({"rows": [{**row, "clicks": 1}], "least_impressions": 9}, "at least 9 impressions"),
    ):
        answer = api.post(AT, body, format="json")
        assert (answer.status_code, expected in answer.content.decode()) == (400, True), answer.content
    assert api.get(AT).json()["count"] == 0
