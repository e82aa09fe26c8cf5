"""The command in a folder that holds the worked example."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli import main
from tests import worked_example

Call = Callable[..., tuple[int, str, str]]
RATINGS = "query_id,doc_id,rater,grade\n" + "".join(
    f"q1,{doc_id},{rater},{grade}\n"
    for rater, grades in worked_example.GRADES.items()
    for doc_id, grade in grades.items()
)
FILES = {
    "qrels.txt": worked_example.QRELS,
    "bm25.run": worked_example.BM25,
    "neural.run": worked_example.NEURAL,
    "new.run": worked_example.NEWCOMER,
    "ratings.csv": RATINGS,
    # Rates by rank: 45 / 150 and 15 / 150. The second query is not in queries.csv.
    "clicks.csv": (
        "query,doc_id,position,impressions,clicks\n"
        "Rain  Jacket,d1,1,100,20\nrain jacket,d2,2,100,5\nboots,d3,1,50,25\nboots,d4,2,50,10\n"
    ),
    "queries.csv": "query_id,query,tier,probability,weight\nq1,rain jacket,head,0.5,0.25\n",
    "answers.csv": "query,doc_id,score,title,text\nRain jacket,d1,2.5,Rain jacket,Keeps you dry.\n",
    "battles.jsonl": (
        '{"query_id": "q1", "a": "d1", "b": "d2", "score": -0.8, "model": "one"}\n'
        '{"query_id": "q1", "a": "d2", "b": "d3", "score": -0.4, "model": "one", "swapped": true}\n'
    ),
    "labels.jsonl": "".join(
        f'{{"query_id": "q1", "doc_id": "{doc_id}", "outcome": "graded", "grade": {grade}, "judge": "llm"}}\n'
        for doc_id, grade in (("d1", 3), ("d2", 0), ("d3", 1), ("d4", 2))
    ),
    "other.jsonl": "".join(
        f'{{"query_id": "q1", "doc_id": "{doc_id}", "outcome": "graded", "grade": {grade}, "judge": "other"}}\n'
        for doc_id, grade in (("d1", 2), ("d2", 0), ("d3", 2), ("d4", 2))
    ),
    "useful.jsonl": "".join(
        f'{{"query_id": "q1", "doc_id": "{doc_id}", "outcome": "graded", "usefulness": {value}}}\n'
        for doc_id, value in (("d1", 1), ("d2", 0.25), ("d3", 0.5), ("d4", 0))
    ),
    "scores.jsonl": "".join(
        f'{{"query_id": "q1", "doc_id": "{doc_id}", "score": {score}, "se": 0.5}}\n'
        for doc_id, score in (("d1", 1.25), ("d2", -0.25), ("d3", -1))
    ),
    "scores.csv": "query_id,score\nq1,0.75\n",
    "samples.jsonl": "".join(
        f'{{"sample_id": "s{at}", "query": "rain jacket", "reference_answer": "{text}", "relevant_docs": ["d1"], '
        f'"labels": {{"tier": "head"}}}}\n'
        for at, text in enumerate(("It keeps rain out.", "It weighs 300 g."), 1)
    ),
    "old.jsonl": "".join(
        f'{{"sample_id": "s{at}", "retrieved": ["d2"], "response": "I do not know", "timings": {{"end_to_end": 1}}}}\n'
        for at in (1, 2)
    ),
    "new.jsonl": (
        '{"sample_id": "s1", "retrieved": ["d1"], "response": "It keeps out rain", "timings": {"end_to_end": 2}}\n'
        '{"sample_id": "s2", "retrieved": ["d1"], "response": "300 g", "timings": {"end_to_end": 2}}\n'
    ),
    "contents.jsonl": '{"doc_id": "d1", "text": "A jacket that keeps out rain."}\n',
    "reader.py": "def answer(query, texts):\n    return texts[0]\n",
    "pairs.jsonl": (
        '{"query_id": "q1", "query": "rain jacket", "doc_id": "d1", "text": "A jacket that keeps heavy rain out.", '
        '"expected": "keeps rain out"}\n'
        '{"query_id": "q1", "query": "rain jacket", "doc_id": "d2", "text": "A stove.", "expected": "keeps rain out"}\n'
    ),
}


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run ``assay`` there; answers status, standard output and standard error."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        try:
            status = main(words)
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return call
