"""Tests of ``assay judge`` with a real embedding model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.assay.llm.judges.test_semantic import D1, D2, E1, E2, MODEL, QUERY, needs_model


@needs_model
def test_labels_name_the_model_and_no_bar_is_drawn(tmp_path: Path) -> None:
    rows = [
        {"query_id": "q1", "query": QUERY, "doc_id": doc_id, "text": text, "expected": [E2, E1]}
        for doc_id, text in (("d1", D1), ("d2", D2))
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-m", "assay", "judge", "pairs.jsonl", "--judge", "semantic", "--model", MODEL]
    done = subprocess.run(
        [*command, "--out", "labels.jsonl"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "2 pairs judged: 2 graded\n")
    labels: list[dict[str, Any]] = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [(label["judge"], label["model"], label["grade"]) for label in labels] == [
        ("semantic", MODEL, 1),
        ("semantic", MODEL, 0),
    ]


@needs_model
def test_expected_answers_are_matched_by_meaning(tmp_path: Path) -> None:
    question = {"query_id": "q1", "query": QUERY, "expected_answers": [E1, E2]}
    output = {"query_id": "q1", "retrieved": [{"doc_id": "d1", "text": D1}, {"doc_id": "d2", "text": D2}]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question) + "\n")
    (tmp_path / "retrieved.jsonl").write_text(json.dumps(output) + "\n")
    command = [sys.executable, "-m", "assay", "rag", "questions.jsonl", "retrieved.jsonl", "--judge", "semantic"]
    command += ["--judge-model", MODEL, "-m", "recall@2 precision@2 hit_rate@2", "--format", "json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (system,) = json.loads(done.stdout)["systems"]
    assert [one["value"] for one in system["metrics"].values()] == [0.5, 0.5, 1.0]
