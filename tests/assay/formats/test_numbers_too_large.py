"""Tests of whole numbers too large for a float: each JSON format reports the line that holds one."""

from __future__ import annotations

from typing import Any

import pytest

from assay.formats import FORMATS, battles_jsonl, labels_jsonl, scores_jsonl, zbench_ai_scores

LARGE = "1" * 400
DOCUMENTS = ", ".join(f'"document_{side}": {{"document_id": "{side}"}}' for side in "ab")
THREE = ", ".join(f'"{model}_score": {{"thought": "x", "score": {LARGE}}}' for model in zbench_ai_scores.MODELS)


@pytest.mark.parametrize(
    ("format", "line"),
    [
        (battles_jsonl, f'{{"query_id": "q", "a": "a", "b": "b", "score": {LARGE}}}'),
        (scores_jsonl, f'{{"query_id": "q", "doc_id": "a", "score": {LARGE}}}'),
        (labels_jsonl, f'{{"query_id": "q", "doc_id": "a", "outcome": "graded", "grade": {LARGE}}}'),
        (labels_jsonl, f'{{"query_id": "q", "doc_id": "a", "outcome": "graded", "usefulness": {LARGE}}}'),
        (
            FORMATS["zbench-annotated"],
            f'{{"query": {{"id": "q", "query": "x"}}, "documents": [{{"id": "a", "content": "", "score": {LARGE}}}]}}',
        ),
    ],
)
def test_of_a_line(format: Any, line: str) -> None:
    report = format.read(f"{line}\n".encode()).report
    assert [(one.code, one.line) for one in report.errors] == [("E12", 1)]


def test_of_a_whole_file() -> None:
    text = f'{{"scored_pairs": [{{"pair": {{"query_id": "q", {DOCUMENTS}}}, {THREE}}}]}}'
    with pytest.raises(Exception, match="too large"):
        zbench_ai_scores.read(text.encode())
