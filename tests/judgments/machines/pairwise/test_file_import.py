"""Tests of pairwise comparison files: complete or refused imports, unchanged exports, compressed files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from assay.core.errors import Conflict, NotValid
from assay.formats import zbench_ai_scores
from judgments.machines.pairwise import file_import, runs
from judgments.machines.pairwise import grades as battle_grades
from judgments.machines.pairwise import scores as battle_scores
from judgments.models import Battle, BattleRun

pytestmark = pytest.mark.django_db
ROWS = [
    {"query_id": "q1", "a": "d1-1", "b": "d1-2", "score": 0.8, "model": "m", "swapped": False, "reason": "b fits"},
    {"query_id": "q1", "a": "d1-1", "b": "d1-2", "score": 0.6, "model": "m", "swapped": True, "reason": None},
    {"query_id": "q1", "a": "d1-3", "b": "d1-2", "score": -0.5, "model": "n", "swapped": False, "reason": "a fits"},
    {"query_id": "q1", "a": "d1-3", "b": "d1-1", "score": None, "model": "n", "swapped": False, "reason": "refused"},
]


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return make_round(queries=2, documents=3, raters=[rater])


def test_in_by_page_and_out_as_it_came(round_: Any, client_of: Any, lead: Any, rater: Any, rate_all: Any) -> None:
    client, place = client_of(lead), reverse("battle_import", args=[round_.uuid])
    file = SimpleUploadedFile("fought.jsonl", lines(*ROWS))
    page = client.post(place, {"file": file, "audit_share": 10}, follow=True)
    run = BattleRun.objects.get()
    assert "fought.jsonl" in page.content.decode()
    assert (run.state, run.calls, run.spent_usd, Battle.objects.count()) == ("done", 0, 0.0, 4)
    out = client.get(reverse("battle_export", args=[round_.uuid, run.uuid])).content
    rows = [json.loads(line) for line in out.splitlines()]
    same = ("query_id", "a", "b", "score", "model", "swapped")
    assert [{name: row[name] for name in same} for row in rows] == [{name: row[name] for name in same} for row in ROWS]
    scores = battle_scores.scores_of(run, None)
    order = sorted(scores, key=lambda key: -scores[key][0])
    assert [doc_id for _, doc_id in order] == ["d1-3", "d1-2", "d1-1"]
    query = round_.pairs.get(document__doc_id="d1-1").query
    assert client.get(reverse("battle_query", args=[round_.uuid, run.uuid, query.uuid])).status_code == 200
    run.round = round_
    rate_all(round_, rater, lambda pair: 1 if pair.document.doc_id == "d1-3" else 0)
    with pytest.raises(NotValid, match="5 anchors"):
        battle_grades.create_judge(run, actor=lead, share=1.0)
    for act in (lambda: runs.resume(run, actor=lead), lambda: runs.further(run, 1, actor=lead)):
        with pytest.raises(Conflict, match="from a file"):
            act()


def test_grades_of_them_name_who_answered(round_: Any, lead: Any, rater: Any, rate_all: Any) -> None:
    rows = [
        {**ROWS[0], "query_id": f"q{query}", "a": f"d{query}-{a}", "b": f"d{query}-{b}", "model": model}
        for query in (1, 2)
        for a, b in ((1, 2), (1, 3), (2, 3))
        for model in ("m", "n")
    ]
    run = file_import.import_battles(round_, lines(*rows), filename="fought.jsonl", actor=lead)
    rate_all(round_, rater, lambda pair: int(pair.document.doc_id.endswith("3")))
    judge = battle_grades.create_judge(run, actor=lead, share=1.0)
    assert (judge.model, judge.parameters["models"]) == ("m, n", ["m", "n"])
    grades = dict(judge.judgments.values_list("pair__document__doc_id", "grade"))
    assert {doc_id for doc_id, grade in grades.items() if grade} == {"d1-3", "d2-3"}


def test_by_api_and_from_zbench(round_: Any, api_of: Any, lead: Any) -> None:
    here = f"/api/v1/rounds/{round_.uuid}/battles/import/"
    made = api_of(lead).post(here, {"battles": ROWS}, format="json")
    assert (made.status_code, made.json()["battles"], made.json()["models"]) == (201, 4, [])
    document = zbench_ai_scores.EXAMPLE.replace("q001", "q1").replace("doc-abc", "d1-1").replace("doc-xyz", "d1-2")
    run = file_import.import_battles(round_, document.encode(), filename="ai_scores.json", actor=lead)
    assert set(Battle.objects.filter(run=run).values_list("requested_model", "score", "swapped")) == {
        ("openai", -0.9, False),
        ("gemini", -0.8, True),
        ("anthropic", None, False),
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lines(ROWS[0], {**ROWS[1], "b": "d9"}), "line 2: 'd9' for the query 'q1'. Remove them"),
        (lines(ROWS[0], {**ROWS[1], "score": 3}), ":2: the score 3 is outside"),
        (lines({**ROWS[0], "score": None, "model": None}), "no answers"),
        (b"", "file"),
        (b"\xff\xfe\x00", "file"),
    ],
)
def test_an_invalid_file_is_refused_whole(content: bytes, message: str, round_: Any, lead: Any) -> None:
    with pytest.raises(NotValid) as refused:
        file_import.import_battles(round_, content, filename="file.jsonl", actor=lead)
    assert message in refused.value.fields["file"]
    assert not BattleRun.objects.exists()


def test_a_small_file_that_unpacks_to_a_large_one_is_not_read(round_: Any, lead: Any) -> None:
    packed = gzip.compress(lines(ROWS[0]) * (file_import.LARGEST // 100))
    assert len(packed) < file_import.LARGEST // 100
    with pytest.raises(NotValid, match="larger than 20 MB"):
        file_import.import_battles(round_, packed, filename="fought.jsonl.gz", actor=lead)


def test_compressed_files_are_read(round_: Any, lead: Any) -> None:
    assert (
        file_import.import_battles(round_, gzip.compress(lines(*ROWS)), filename="fought.gz", actor=lead).battles == 4
    )
    with pytest.raises(NotValid, match="gzip"):
        file_import.import_battles(round_, gzip.compress(lines(*ROWS))[:-9], filename="fought.gz", actor=lead)
