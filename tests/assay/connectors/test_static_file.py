"""Tests of the static file connector: lookup by query, and reported unreadable lines."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from assay.connectors import CONNECTORS, Allowed, Engine
from assay.core.errors import UnreadableInput

KIND = CONNECTORS["static-file"]


def engine_of(folder: Path, name: str, content: str | bytes, **more: str) -> Engine:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return KIND.engine({"path": str(path), **more}, Allowed.of([], [], [folder]))


def test_json_lines(tmp_path: Path) -> None:
    lines = '{"query": "Rain  Jacket", "doc_id": "d2", "score": 2, "title": "Coat"}\n\n'
    lines += '{"query": "rain jacket", "doc_id": 7}\n'
    engine = engine_of(tmp_path, "a.jsonl", lines)
    assert [(hit.doc_id, hit.score, hit.title) for hit in engine.search("rain jacket ", 9)] == [
        ("d2", 2.0, "Coat"),
        ("7", None, ""),
    ]
    assert len(engine.search("rain jacket", 1)) == 1
    assert engine.search("tent", 9) == []


@pytest.mark.parametrize(("name", "tab"), [("a.csv", ","), ("a.tsv", "\t")])
def test_tables(tmp_path: Path, name: str, tab: str) -> None:
    lines = "\ufeffq,sku,score,text\ntent,d1,2.5,two\ntent,d2,,one\n".replace(",", tab)
    engine = engine_of(tmp_path, name, lines, query="q", doc_id="sku")
    assert [(hit.doc_id, hit.score, hit.text) for hit in engine.search("TENT", 9)] == [
        ("d1", 2.5, "two"),
        ("d2", None, "one"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"query": "a", "doc_id": "1"}\n{"doc_id": "2"}\n', r"a\.jsonl:2: no query"),
        (b'{"query": "a"\n', r"a\.jsonl:1: not JSON"),
        (b"[1]\n", r"a\.jsonl:1: not a JSON object"),
        (b'{"query": "a", "doc_id": "1"}\n\xff\xfe\n', r"a\.jsonl:\d: .*can't decode"),
        (b'{"query": 5, "doc_id": "1"}\n', r"a\.jsonl:1: no query"),
    ],
)
def test_lines_that_cannot_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(UnreadableInput, match=message):
        engine_of(tmp_path, "a.jsonl", content)


def test_a_large_file_takes_little_more_memory_than_its_size(tmp_path: Path) -> None:
    row = {"doc_id": "d1", "title": "A title", "text": "word " * 10, "score": 1.5}
    content = "".join(json.dumps({"query": f"q{at // 10}", **row}) + "\n" for at in range(20_000))
    engine_of(tmp_path, "warm.jsonl", content[:100_000].rpartition("\n")[0])
    tracemalloc.start()
    engine = engine_of(tmp_path, "a.jsonl", content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * len(content)
    assert len(engine.search("q1", 99)) == 10
