"""Test of the pairs download: it holds what a judge in the round receives, and `assay judge` reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from assay.cli import main
from judgments.machines.judge_runs.estimate import context_of

pytestmark = pytest.mark.django_db


def test_a_round_is_judged_from_its_file(
    make_round: Callable[..., Any],
    rater: Any,
    rate_all: Any,
    lead: Any,
    client_of: Any,
    tmp_path: Path,
    django_assert_max_num_queries: Any,
) -> None:
    round_ = make_round(queries=2, documents=3, raters=[rater], ratings_per_pair=1)
    rate_all(round_, rater, lambda pair: 3)
    client = client_of(lead)
    assert (
        reverse("judge_pairs", args=[round_.uuid]) in client.get(reverse("judges", args=[round_.uuid])).content.decode()
    )
    with django_assert_max_num_queries(12):
        answer = client.get(reverse("judge_pairs", args=[round_.uuid]))
        payload = b"".join(answer.streaming_content)
    assert "attachment" in answer.headers["Content-Disposition"]
    rows = [json.loads(line) for line in payload.splitlines()]
    pairs = round_.pairs.select_related("query", "document").order_by("position")
    assert [(row["query_id"], row["doc_id"], row["text"], row["narrative"]) for row in rows] == [
        (pair.query.query_id, pair.document.doc_id, context_of(pair).text, pair.query.narrative) for pair in pairs
    ]
    assert {name for row in rows for name in row} == {"query_id", "query", "narrative", "doc_id", "text", "expected"}
    file, out = tmp_path / "pairs.jsonl", tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps({**row, "expected": "Document 1-1"}) + "\n" for row in rows))
    assert main(["judge", str(file), "--judge", "token_overlap", "--min-tokens", "3", "--out", str(out)]) == 0
    labels = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["doc_id"] for row in labels if row["relevant"]] == ["d1-1"]
