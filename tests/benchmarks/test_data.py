"""Tests of the generated data of the benchmarks: shape and reproducibility."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks.side_by_side.data import decimal, make, score, write

SIZES = {"passages": (40, 30, 2), "pages": (4, 50, 2)}


@pytest.fixture(scope="module", params=SIZES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    make(folder, request.param, *SIZES[request.param])
    return folder


def fields(path: Path) -> list[list[str]]:
    return [line.split(" ") for line in path.read_text(encoding="ascii").splitlines()]


def test_a_run_has_six_fields_its_ranks_in_order_and_no_document_twice(made: Path) -> None:
    queries, depth, _ = SIZES["pages" if "pages" in made.name else "passages"]
    for path in (made / "run-00.txt", made / "run-01.txt"):
        rows = fields(path)
        assert {len(row) for row in rows} == {6}
        assert len({(row[0], row[2]) for row in rows}) == len(rows)
        of_query: dict[str, list[list[str]]] = {}
        for row in rows:
            of_query.setdefault(row[0], []).append(row)
        assert queries - 1 <= len(of_query) <= queries
        for ranked in of_query.values():
            assert [int(row[3]) for row in ranked] == list(range(1, depth + 1))
            assert [float(row[4]) for row in ranked] == sorted((float(row[4]) for row in ranked), reverse=True)


def test_scores_have_three_decimals(made: Path) -> None:
    assert {len(row[4].partition(".")[2]) for row in fields(made / "run-00.txt")} == {3}


def test_labels_are_for_each_pair_once_and_some_are_returned(made: Path) -> None:
    judged = [(row[0], row[2]) for row in fields(made / "qrels.txt")]
    assert len(set(judged)) == len(judged)
    assert set(judged) & {(row[0], row[2]) for row in fields(made / "run-00.txt")}


def test_pages_are_graded_and_tie(tmp_path: Path) -> None:
    make(tmp_path, "pages", 4, 1000, 1)
    assert set(Counter(row[3] for row in fields(tmp_path / "qrels.txt"))) == {"0", "1", "2", "3"}
    scored = Counter((row[0], row[4]) for row in fields(tmp_path / "run-00.txt"))
    assert max(scored.values()) > 1
    assert {len(row[2]) for row in fields(tmp_path / "qrels.txt")} == {30}


def test_the_same_bytes_again_and_other_runs_for_other_numbers(made: Path, tmp_path: Path) -> None:
    shape = "pages" if "pages" in made.name else "passages"
    make(tmp_path, shape, *SIZES[shape])
    for name in ("qrels.txt", "run-00.txt", "run-01.txt"):
        assert (tmp_path / name).read_bytes() == (made / name).read_bytes()
    assert (tmp_path / "run-00.txt").read_bytes() != (tmp_path / "run-01.txt").read_bytes()


def test_existing_data_stays_unless_another_version_made_it(tmp_path: Path) -> None:
    make(tmp_path, "passages", 5, 10, 1)
    right = (tmp_path / "run-00.txt").read_bytes()
    (tmp_path / "run-00.txt").write_text("mine\n")
    make(tmp_path, "passages", 5, 10, 1)
    assert (tmp_path / "run-00.txt").read_text() == "mine\n"
    (tmp_path / "made-by.txt").write_text("an older state")
    make(tmp_path, "passages", 5, 10, 1)
    assert (tmp_path / "run-00.txt").read_bytes() == right


def test_an_interrupted_write_leaves_no_file_of_the_right_name(tmp_path: Path) -> None:
    def broken():
        yield np.full((1, 3), 65, dtype=np.uint8)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "run-00.txt", broken())
    assert not (tmp_path / "run-00.txt").exists()


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (7, "7"), (10, "10"), (305, "305"), (8_841_822, "8841822")])
def test_numbers_are_written_as_python_writes_them(number: int, text: str) -> None:
    row = decimal(np.array([number]), 7)[0]
    assert row[row != 0].tobytes().decode() == text


@pytest.mark.parametrize(
    ("thousandths", "text"), [(1, "0.001"), (1000, "1.000"), (41_572, "41.572"), (120_050, "120.050")]
)
def test_scores_are_written_with_their_zeros(thousandths: int, text: str) -> None:
    row = score(np.array([thousandths]))[0]
    assert row[row != 0].tobytes().decode() == text
