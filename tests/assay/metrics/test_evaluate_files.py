"""Tests of scoring runs read in chunks: same scores as in memory, for any order."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import assay.scoring.evaluate as evaluating
from assay.core import Qrels
from assay.core.errors import NotValid, UnreadableInput
from assay.formats import trec_run
from assay.formats.trec_run import RunFile, load_run
from assay.scoring.results import Profile
from evaluation import evaluate

METRICS = "nDCG@10 AP RR P@5 Judged@10"
QUERIES = 30


@pytest.fixture
def qrels() -> Qrels:
    draw = random.Random(5)
    return Qrels.from_dict({f"q{at}": {f"d{draw.randrange(40)}": draw.randrange(4)} for at in range(QUERIES)})


def lines(seed: int) -> list[str]:
    """A run with many ties; query q7 is not answered, query q99 is not judged."""
    draw = random.Random(seed)
    options = [f"q{at}" for at in range(QUERIES) if at != 7] + ["q99"]
    rows = [(query, f"d{at}", draw.randrange(9)) for query in options for at in draw.sample(range(40), 15)]
    rows.sort(key=lambda row: (options.index(row[0]), -row[2]))
    return [f"{query} Q0 {doc} {at} {score} x\n" for at, (query, doc, score) in enumerate(rows, 1)]


def write(folder: Path, name: str, text: list[str]) -> Path:
    path = folder / name
    path.write_text("".join(text))
    return path


def assert_equal(left, right) -> None:
    for one, other in zip(left.runs, right.runs, strict=True):
        assert one.metrics == other.metrics
        assert one.diagnostics == other.diagnostics
        for name, values in one.per_query.items():
            np.testing.assert_array_equal(values, other.per_query[name])


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("piece", [200, 3_000, 1 << 20])
def test_the_size_of_the_pieces_changes_nothing(qrels, tmp_path, monkeypatch, piece: int, missing) -> None:
    monkeypatch.setattr(trec_run, "PIECE", piece)
    path = write(tmp_path, "a.run", lines(1))
    assert_equal(
        evaluate(qrels, RunFile(path, "a.run", "a"), METRICS, missing),
        evaluate(qrels, load_run(path, "a.run", "a"), METRICS, missing),
    )


def test_the_order_of_lines_changes_nothing(qrels, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(trec_run, "PIECE", 500)
    ordered = write(tmp_path, "a.run", lines(1))
    shuffled = lines(1)
    random.Random(2).shuffle(shuffled)
    mixed = write(tmp_path, "b.run", shuffled)
    assert_equal(
        evaluate(qrels, RunFile(ordered, "a", "a"), METRICS), evaluate(qrels, RunFile(mixed, "b", "a"), METRICS)
    )


@pytest.mark.parametrize("processes", [False, True])
def test_several_files_at_once_come_out_in_order(qrels, tmp_path, monkeypatch, processes) -> None:
    monkeypatch.setattr(evaluating, "LARGE", 0)
    names = [f"run{at}" for at in range(6)]
    paths = [write(tmp_path, name, lines(at)) for at, name in enumerate(names)]
    done: list[int] = []
    profile = Profile()
    files = [RunFile(path, name, name) for path, name in zip(paths, names, strict=True)]
    evaluation = evaluate(qrels, files, METRICS, watch=done.append, profile=profile, processes=processes)
    assert [file.report.accepted for file in files] == [len(lines(at)) for at in range(6)]
    assert [run.name for run in evaluation.runs] == names
    assert done == [1, 2, 3, 4, 5, 6]
    assert {"reading", "matching", "metrics"} <= set(profile.seconds)
    assert_equal(
        evaluation,
        evaluate(qrels, [load_run(path, name, name) for path, name in zip(paths, names, strict=True)], METRICS),
    )


@pytest.mark.parametrize("processes", [False, True])
def test_one_bad_file_among_many_is_reported(qrels, tmp_path, monkeypatch, processes) -> None:
    monkeypatch.setattr(evaluating, "LARGE", 0)
    good = [write(tmp_path, f"{at}.run", lines(at)) for at in range(3)]
    bad = write(tmp_path, "bad.run", [*lines(9), "q1 Q0 d1 1 two x\n"])
    with pytest.raises(UnreadableInput, match=f"bad:{len(lines(9)) + 1}: the score 'two' is not a number"):
        evaluate(
            qrels,
            [*(RunFile(path, path.name, path.name) for path in good), RunFile(bad, "bad", "bad")],
            METRICS,
            processes=processes,
        )


def test_a_file_without_a_judged_document_is_reported_with_an_example(qrels, tmp_path) -> None:
    path = write(tmp_path, "a.run", [f"{query_id} Q0 x7 1 1.0 x\n" for query_id in qrels.query_ids])
    with pytest.raises(NotValid, match=r"none of the judged documents.*'x7'"):
        evaluate(qrels, RunFile(path, "a", "a"), METRICS)


def test_a_file_without_a_judged_query_is_reported_with_an_example(qrels, tmp_path) -> None:
    path = write(tmp_path, "a.run", ["7 Q0 d1 1 1.0 x\n"])
    with pytest.raises(NotValid, match=r"answers none of the judged queries; query ids look like 'q0' .* and '7'"):
        evaluate(qrels, RunFile(path, "a", "a"), METRICS)


def test_a_rank_column_that_contradicts_the_scores_is_in_the_diagnostics(qrels, tmp_path) -> None:
    path = write(tmp_path, "a.run", ["q1 Q0 d1 2 2.0 x\n", "q1 Q0 d2 1 1.0 x\n"])
    diagnostics = evaluate(qrels, RunFile(path, "a", "a"), METRICS).runs[0].diagnostics
    assert diagnostics.ranks_contradicted == 1
    assert (diagnostics.depth.min, diagnostics.depth.max) == (2, 2)
