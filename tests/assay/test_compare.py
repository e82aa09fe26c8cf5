"""Does ``assay compare`` print what was computed, and refuse what it must?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.significance.compare import Design, compare
from judgments.formats.trec_qrels import load_qrels
from judgments.formats.trec_run import load_run
from tests.assay.conftest import Call

RUNS = ("low.run", "mid.run", "top.run")


@pytest.fixture
def files(assay: Call) -> None:
    """Twenty queries with one good document each, which the runs find first 5, 10 and 20 times."""
    Path("many.txt").write_text("".join(f"q{n:02} 0 good 1\n" for n in range(20)))
    for name, hits in zip(RUNS, (5, 10, 20), strict=True):
        lines = []
        for n in range(20):
            order = ("good", "bad") if n < hits else ("bad", "good")
            lines += [f"q{n:02} Q0 {doc_id} {rank} {2 - rank} x\n" for rank, doc_id in enumerate(order, 1)]
        Path(name).write_text("".join(lines))


def as_json(assay: Call, *words: str) -> Any:
    status, out, err = assay("compare", "many.txt", *RUNS, "--format", "json", "--permutations", "500", *words)
    assert (status, err) == (0, "")
    return json.loads(out)


@pytest.mark.usefixtures("files")
def test_the_json_is_what_python_says(assay: Call) -> None:
    told = as_json(assay, "-m", "RR", "--seed", "3")
    runs = [load_run(Path(name), name, name.partition(".")[0]) for name in RUNS]
    found = compare(load_qrels(Path("many.txt")), runs, "RR", design=Design(permutations=500, seed=3)).as_json()
    assert {key: told[key] for key in ("runs", "pairs")} == {key: found[key] for key in ("runs", "pairs")}
    assert told["settings"] == found["settings"]
    assert set(told["files"]) == {"low", "mid", "top"}


@pytest.mark.usefixtures("files")
def test_the_keys_of_the_contract(assay: Call) -> None:
    told = as_json(assay, "-m", "RR P@1")
    keys = "metric a b difference low high p p_corrected effect wins ties losses queries".split()  # noqa: SIM905
    assert all(set(keys) <= set(pair) for pair in told["pairs"])
    assert told["runs"]["top"] == {"RR": 1.0, "P@1": 1.0}
    assert len(told["pairs"]) == 6


@pytest.mark.usefixtures("files")
def test_the_same_seed_gives_the_same_bytes(assay: Call) -> None:
    assert as_json(assay, "--seed", "3") == as_json(assay, "--seed", "3")
    assert as_json(assay, "--seed", "3") != as_json(assay, "--seed", "4")


@pytest.mark.usefixtures("files")
def test_a_baseline(assay: Call) -> None:
    told = as_json(assay, "-m", "RR", "--baseline", "mid")
    assert [(pair["a"], pair["b"], pair["difference"]) for pair in told["pairs"]] == [
        ("mid", "low", pytest.approx(-0.125)),
        ("mid", "top", pytest.approx(0.25)),
    ]


@pytest.mark.usefixtures("files")
def test_the_table(assay: Call) -> None:
    out = assay("compare", "many.txt", *RUNS, "-m", "RR P@1")[1].splitlines()
    assert out[:2] == ["run      RR     P@1", "low  0.6250  0.2500"]
    assert "RR (primary)" in out
    assert "P@1 (exploratory)" in out
    assert out[6].split()[:5] == ["a", "b", "b", "-", "a"]
    assert any(
        line.startswith("test: randomization, 100,000 draws, seed 0; corrected within 3 by holm") for line in out
    )


@pytest.mark.usefixtures("files")
def test_p_at_the_floor_is_told_as_such(assay: Call) -> None:
    Path("none.run").write_text("".join(f"q{n:02} Q0 bad 1 1 x\n" for n in range(20)))
    words = ("many.txt", "none.run", "top.run", "-m", "P@1", "--permutations", "999")
    assert "<=0.0010" in assay("compare", *words)[1]


def test_few_queries_are_told_not_tested(assay: Call) -> None:
    status, out, _ = assay("compare", "qrels.txt", "bm25.run", "neural.run", "-m", "nDCG@3")
    assert status == 0
    assert "-: fewer than 6 queries: no p of a sign-flip test can reach .05" in out.splitlines()
    (pair,) = json.loads(assay("compare", "qrels.txt", "bm25.run", "neural.run", "--format", "json")[1])["pairs"]
    assert (pair["p"], pair["low"]) == (None, None)
    assert pair["reason"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bm25.run",), "needs two runs"),
        (("bm25.run", "x/bm25.run"), "x/bm25.run"),
        (("bm25.run", "bm25=neural.run"), "two runs are named 'bm25'"),
        (("bm25.run", "neural.run", "--baseline", "new"), "the runs are bm25, neural"),
        (("bm25.run", "neural.run", "--test", "t", "--permutations", "9"), "takes no --permutations"),
        (("bm25.run", "neural.run", "--permutations", "0"), "from 1"),
        (("bm25.run", "neural.run", "--test", "wilcoxon"), "invalid choice"),
        (("bm25.run", "neural.run", "-m", "nDGC"), "nDCG"),
        (("-", "-"), "standard input"),
    ],
)
def test_mistakes_end_with_2_and_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    status, out, err = assay("compare", "qrels.txt", *words)
    assert (status, out) == (2, "")
    assert message in err.splitlines()[-1]
