"""Does ``assay judge`` with a real embedding model write what it found, and nothing else to the terminal?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.judgments.judges.test_semantic import D1, D2, E1, E2, MODEL, QUERY, needs_model


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
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "judged 2: 2 graded\n")
    labels: list[dict[str, Any]] = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [(label["judge"], label["model"], label["grade"]) for label in labels] == [
        ("semantic", MODEL, 1),
        ("semantic", MODEL, 0),
    ]
