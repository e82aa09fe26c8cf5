"""Tests of reading runs in blocks: same run as the whole file, true line numbers, little memory."""

from __future__ import annotations

import gzip
import io
import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.core.errors import UnreadableInput
from assay.core.run import Run
from assay.formats import trec_run
from assay.formats.trec_run import Interleaved, RunFile

SMALL = 64


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first piece is the file's beginning, which is looked at first: that one has to be small too.
    monkeypatch.setattr(trec_run, "PIECE", SMALL)
    monkeypatch.setattr("assay.formats.text_lines.HEAD", SMALL)


def lines_of(queries: int, depth: int) -> list[str]:
    return [
        f"q{query} Q0 d{query}-{rank} {rank} {depth - rank}.5 tag\n"
        for query in range(queries)
        for rank in range(1, depth)
    ]


def joined(blocks: list[Run]) -> dict[str, dict[str, float]]:
    return {query_id: scores for block in blocks for query_id, scores in block.to_dict().items()}


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_blocks_are_the_whole(threads: int, pack: type[bytes]):
    file = RunFile(pack("".join(lines_of(9, 6)).encode()), "a", "x", threads)
    blocks = list(file.blocks())
    of_blocks, whole = file.report, file.whole()
    assert len(blocks) > 3
    assert joined(blocks) == whole.to_dict()
    assert of_blocks == file.report
    assert (file.report.accepted, file.report.lines, whole.name) == (45, 45, "x")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(depths=st.lists(st.integers(1, 7), min_size=1, max_size=8), odd=st.integers(0, 60), end=st.sampled_from("\n\r"))
def test_any_queries_in_any_pieces(depths: list[int], odd: int, end: str):
    lines = [f"q{at} Q0 d{rank} {rank} {-rank} x\n" for at, depth in enumerate(depths) for rank in range(1, depth + 1)]
    lines.insert(odd % (len(lines) + 1), f"# gr\u00fcn{end}")
    file = RunFile("".join(lines).encode(), "a")
    assert joined(list(file.blocks())) == {
        f"q{at}": {f"d{rank}": -rank for rank in range(1, depth + 1)} for at, depth in enumerate(depths)
    }
    assert (file.report.lines, file.report.bins["comment"]) == (len(lines), 1)
    assert set(file.report.codes) == {"W34"} | ({"W31"} if end == "\r" else set())


def test_queries_that_come_back_are_put_together():
    lines = lines_of(6, 5)
    random.Random(1).shuffle(lines)
    file = RunFile("".join(lines).encode(), "a")
    with pytest.raises(Interleaved):
        list(file.blocks())
    assert file.whole().to_dict() == RunFile("".join(lines_of(6, 5)).encode(), "a").whole().to_dict()


@pytest.mark.parametrize("way", [lambda file: list(file.blocks()), RunFile.whole], ids=["blocks", "whole"])
@pytest.mark.parametrize("place", [0, 7, 19])
def test_a_bad_line_has_its_own_number(way, place: int):
    lines = lines_of(5, 5)
    lines[place] = lines[place].replace(".5", ".x")
    with pytest.raises(UnreadableInput) as caught:
        way(RunFile("".join(lines).encode(), "a.run"))
    assert (caught.value.line, caught.value.code) == (place + 1, "E12")


@pytest.mark.parametrize("way", [lambda file: list(file.blocks()), RunFile.whole], ids=["blocks", "whole"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_document_twice_in_two_pieces_tells_both_lines(way, end: str):
    lines = [f"q1 Q0 d{rank} {rank} {-rank} x{end}" for rank in range(1, 21)]
    lines[17] = f"q1  Q0\td2 18 0.5 x{end}"
    with pytest.raises(UnreadableInput) as caught:
        way(RunFile("".join(lines).encode(), "a.run"))
    assert (caught.value.line, caught.value.code) == (2, "E16")
    assert "'q1 Q0 d2 2 -2 x' contradicts line 18, 'q1 Q0 d2 18 0.5 x'" in str(caught.value)


def test_a_document_twice_in_a_query_that_comes_back():
    lines = [*lines_of(6, 5), "q0 Q0 d0-2 9 0.1 tag\n"]
    file = RunFile("".join(lines).encode(), "a")
    with pytest.raises(Interleaved):
        list(file.blocks())
    with pytest.raises(UnreadableInput, match=r"a:2: .* contradicts line 25"):
        file.whole()


def test_contradicting_rank_is_reported_with_its_line():
    lines = lines_of(5, 5)
    lines[13] = lines[13].replace(" 2 ", " 1 ")
    file = RunFile("".join(lines).encode(), "a")
    list(file.blocks())
    (warning,) = file.report.warnings
    assert (warning.code, warning.line, file.report.codes["W40"]) == ("W40", 14, 1)


@pytest.mark.parametrize("data", [b"# c\n# d\n", b"# c\n" * 50], ids=["one piece", "many"])
def test_comments_alone_are_no_run(data: bytes):
    with pytest.raises(UnreadableInput, match="contains no results"):
        list(RunFile(data, "a").blocks())


def test_a_stream_tells_lines_although_it_is_read_once():
    lines = lines_of(4, 5)
    lines[9] = lines[8]
    with pytest.raises(UnreadableInput, match=r"a:9: .* contradicts line 10"):
        RunFile(io.BytesIO("".join(lines).encode()), "a").whole()


def test_memory_is_a_few_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trec_run, "PIECE", 1 << 16)
    path = tmp_path / "large.run"
    with path.open("w") as stream:
        for query in range(100):
            stream.writelines(f"q{query:04} Q0 doc-{query}-{rank} {rank} {1000 - rank} x\n" for rank in range(1, 1001))
    pieces = path.stat().st_size >> 16
    for _ in RunFile(path, "a").blocks():
        pass
    tracemalloc.start()
    rows = sum(len(block) for block in RunFile(path, "a").blocks())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (rows, pieces > 40) == (100_000, True)
    # A piece becomes fields, ids and numbers of several times its size; four of them are read ahead.
    assert peak < 12 << 20
    tracemalloc.start()
    RunFile(path, "a").whole()
    assert tracemalloc.get_traced_memory()[1] > 1.5 * peak
    tracemalloc.stop()
