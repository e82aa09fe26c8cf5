"""Tests of ``assay compare``: results in every format, and errors."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from assay.formats.trec_qrels import load_qrels
from assay.formats.trec_run import load_run
from assay.significance.compare import Plan, compare
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
    drawn = () if "t" in words or "sign" in words else ("--permutations", "500")
    status, out, err = assay("compare", "many.txt", *RUNS, "--format", "json", *drawn, *words)
    assert (status, err) == (0, "")
    return json.loads(out)


@pytest.mark.usefixtures("files")
def test_the_json_is_what_python_says(assay: Call) -> None:
    comparison = as_json(assay, "-m", "RR", "--seed", "3")
    runs = [load_run(Path(name), name, name.partition(".")[0]) for name in RUNS]
    expected = compare(load_qrels(Path("many.txt")), runs, "RR", plan=Plan(permutations=500, seed=3)).as_json()
    assert {key: comparison[key] for key in ("runs", "pairs")} == {key: expected[key] for key in ("runs", "pairs")}
    assert comparison["settings"] == expected["settings"]
    assert set(comparison["files"]) == {"low", "mid", "top"}


@pytest.mark.usefixtures("files")
def test_the_keys_of_the_contract(assay: Call) -> None:
    comparison = as_json(assay, "-m", "RR P@1")
    keys = "metric a b difference low high p p_corrected effect wins ties losses queries".split()  # noqa: SIM905
    assert all(set(keys) <= set(pair) for pair in comparison["pairs"])
    assert comparison["runs"]["top"] == {"RR": 1.0, "P@1": 1.0}
    assert len(comparison["pairs"]) == 6


@pytest.mark.usefixtures("files")
def test_the_same_seed_gives_the_same_bytes(assay: Call) -> None:
    assert as_json(assay, "--seed", "3") == as_json(assay, "--seed", "3")
    assert as_json(assay, "--seed", "3") != as_json(assay, "--seed", "4")


@pytest.mark.usefixtures("files")
def test_a_baseline(assay: Call) -> None:
    comparison = as_json(assay, "-m", "RR", "--baseline", "mid")
    assert [(pair["a"], pair["b"], pair["difference"]) for pair in comparison["pairs"]] == [
        ("mid", "low", pytest.approx(-0.125)),
        ("mid", "top", pytest.approx(0.25)),
    ]


@pytest.mark.usefixtures("files")
def test_the_table(assay: Call) -> None:
    out = assay("compare", "many.txt", *RUNS, "-m", "RR P@1")[1].splitlines()
    assert out[:2] == ["run      RR  groups     P@1  groups", "low  0.6250       b  0.2500       b"]
    assert "RR (primary)" in out
    assert "P@1 (exploratory)" in out
    assert out[6].split()[:5] == ["a", "b", "b", "-", "a"]
    assert any(
        line.startswith("test: randomization, 100,000 draws, seed 0; corrected over 3 comparisons by holm")
        for line in out
    )


@pytest.mark.usefixtures("files")
def test_the_notes_of_the_table(assay: Call) -> None:
    out = assay("compare", "many.txt", *RUNS, "-m", "RR P@1")[1]
    assert "groups: runs that share a letter do not differ significantly at 0.05\n" in out
    assert "agreement on the order of the 3 runs: RR and P@1 tau-b 1.00, tau-AP 1.00, RBO 1.00\n" in out
    # low and mid differ on 5 of 20 queries: d_z = .563, whose power is .787 at 26 and .804 at 27 (scipy.stats.nct).
    assert "80% probability, for a single comparison: 27 (low, mid)\n" in out


@pytest.mark.usefixtures("files")
def test_tukey_says_that_it_corrects_itself(assay: Call) -> None:
    out = assay("compare", "many.txt", *RUNS, "-m", "RR", "--test", "tukey", "--permutations", "999")[1]
    assert "test: tukey, 999 draws, seed 0; corrected over 3 comparisons by the test itself\n" in out
    pairs = as_json(assay, "-m", "RR", "--test", "tukey")["pairs"]
    assert all(pair["p"] == pair["p_corrected"] for pair in pairs)


@pytest.mark.usefixtures("files")
def test_csv_has_a_line_for_each_pair_and_what_the_json_has(assay: Call) -> None:
    out = assay("compare", "many.txt", *RUNS, "-m", "RR P@1", "--format", "csv", "--permutations", "500")[1]
    rows = list(csv.DictReader(out.splitlines()))
    pairs = as_json(assay, "-m", "RR P@1")["pairs"]
    assert len(rows) == len(pairs) == 6
    for row, pair in zip(rows, pairs, strict=True):
        assert row == {key: "" if pair.get(key) is None else str(pair[key]) for key in row}


@pytest.mark.usefixtures("files")
def test_cells_of_csv_cannot_become_formulas(assay: Call) -> None:
    out = assay("compare", "many.txt", "+1+2=low.run", "top.run", "--format", "csv")[1]
    assert out.splitlines()[1].startswith("nDCG@10,'+1+2,top,")


@pytest.mark.usefixtures("files")
def test_markdown_and_latex_hold_the_table(assay: Call) -> None:
    words = ("compare", "many.txt", "low_1=low.run", "mid.run", "top.run", "-m", "RR", "--permutations", "500")
    markdown = assay(*words, "--format", "markdown")[1]
    assert markdown.startswith("| run | RR | groups |\n| :-- | --: | --: |\n| low\\_1 | 0.6250 | b |\n")
    assert "**RR** (primary)" in markdown
    assert "\n- test: randomization, 500 draws, seed 0; corrected over 3 comparisons by holm\n" in markdown
    latex = assay(*words, "--format", "latex")[1]
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2
    assert r"low\_1 & mid & +0.1250 & " in latex
    assert "% test: randomization" in latex


@pytest.mark.usefixtures("files")
def test_weights_of_a_file(assay: Call) -> None:
    lines = [f"q{n:02},text,{1 if n < 10 else 0.25},{4 if n < 10 else 1}\n" for n in range(20)]
    Path("queries.csv").write_text("query_id,query,probability,weight\n" + "".join(lines))
    comparison = as_json(assay, "-m", "RR", "--weights", "queries.csv")
    # Weight / probability is 4 for every query: the plain comparison comes out.
    assert comparison["pairs"] == as_json(assay, "-m", "RR")["pairs"]
    assert (comparison["settings"]["weighted"], comparison["settings"]["effective_queries"]) == (True, 20)
    out = assay("compare", "many.txt", *RUNS, "-m", "RR", "--weights", "queries.csv")[1]
    assert "means and differences are weighted: 20.0 effective queries\n" in out


@pytest.mark.usefixtures("files")
def test_weights_alone_where_nothing_was_sampled(assay: Call) -> None:
    lines = [f"q{n:02},text,{4 if n < 10 else 1}\n" for n in range(20)]
    Path("queries.csv").write_text("query_id,query,weight\n" + "".join(lines))
    comparison = as_json(assay, "-m", "P@1", "--weights", "queries.csv", "--design", "none")
    assert comparison["runs"]["low"]["P@1"] == pytest.approx(5 * 4 / 50)
    status, out, err = assay("compare", "many.txt", *RUNS, "--weights", "queries.csv")
    assert (status, out) == (2, "")
    assert "probability" in err


@pytest.mark.usefixtures("files")
def test_level_and_alpha(assay: Call) -> None:
    wide, narrow = as_json(assay, "-m", "RR", "--level", "0.99"), as_json(assay, "-m", "RR", "--level", "0.5")
    assert wide["pairs"][0]["low"] < narrow["pairs"][0]["low"]
    assert as_json(assay, "-m", "RR")["groups"]["RR"] == {"top": "a", "mid": "b", "low": "b"}
    assert as_json(assay, "-m", "RR", "--alpha", "0.5")["groups"]["RR"] == {"top": "a", "mid": "b", "low": "c"}


@pytest.mark.usefixtures("files")
def test_the_smallest_possible_p_is_marked(assay: Call) -> None:
    Path("none.run").write_text("".join(f"q{n:02} Q0 bad 1 1 x\n" for n in range(20)) + "unjudged Q0 good 1 1 x\n")
    words = ("many.txt", "none.run", "top.run", "-m", "P@1", "--permutations", "999")
    assert "<=0.0010" in assay("compare", *words)[1]


def test_few_queries_have_no_p_and_a_reason(assay: Call) -> None:
    status, out, _ = assay("compare", "qrels.txt", "bm25.run", "neural.run", "-m", "nDCG@3")
    assert status == 0
    assert "-: fewer than 6 queries: the p-value of a sign-flip test cannot reach .05" in out.splitlines()
    (pair,) = json.loads(assay("compare", "qrels.txt", "bm25.run", "neural.run", "--format", "json")[1])["pairs"]
    assert (pair["p"], pair["low"]) == (None, None)
    assert pair["reason"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("bm25.run",), "needs two runs"),
        (("bm25.run", "x/bm25.run"), "x/bm25.run"),
        (("bm25.run", "bm25=neural.run"), "two runs are named 'bm25'"),
        (("bm25.run", "neural.run", "--baseline", "new"), "'new'; runs: bm25, neural"),
        (("bm25.run", "neural.run", "--test", "t", "--permutations", "9"), "--permutations does not apply"),
        (("bm25.run", "neural.run", "--permutations", "0"), "from 1"),
        (("bm25.run", "neural.run", "--test", "wilcox"), "invalid choice"),
        (("bm25.run", "neural.run", "-m", "nDGC"), "nDCG"),
        (("-", "-"), "standard input"),
        (("bm25.run", "neural.run", "--test", "tukey", "--correction", "holm"), "remove the correction"),
        (("bm25.run", "neural.run", "--correction", "sidak"), "invalid choice"),
        (("bm25.run", "neural.run", "--level", "95"), "between 0 and 1, such as 0.95"),
        (("bm25.run", "neural.run", "--alpha", "0"), "between 0 and 1, such as 0.05"),
        (("bm25.run", "neural.run", "--seed", "-1"), "the seed is -1"),
        (("bm25.run", "neural.run", "--format", "html"), "invalid choice"),
        (("bm25.run", "neural.run", "--weights", "none.csv"), "none.csv"),
        (("bm25.run", "neural.run", "--weights", "queries.csv", "--test", "sign"), "no weighted form"),
        (("bm25.run", "-", "--weights", "-"), "standard input"),
    ],
)
def test_mistakes_end_with_2_and_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    status, out, err = assay("compare", "qrels.txt", *words)
    assert (status, out) == (2, "")
    assert message in err.splitlines()[-1]


def test_how_few_judgments_could_turn_it(assay: Call) -> None:
    """P@2 over 20 queries: a returns the good document, b two unjudged ones. 20 of them make it level, 21 turn it."""
    queries = [f"q{n:02}" for n in range(20)]
    Path("few.txt").write_text("".join(f"{query} 0 good 1\n" for query in queries))
    Path("a.run").write_text("".join(f"{query} Q0 good 1 1 a\n" for query in queries))
    Path("b.run").write_text("".join(f"{query} Q0 {doc} 1 1 b\n" for query in queries for doc in "xy"))
    with Path("b.run").open("a") as run:
        run.write("unjudged Q0 good 1 1 b\n")
    words = ("compare", "few.txt", "a.run", "b.run", "-m", "P@2", "--turning")
    (one,) = json.loads(assay(*words, "--format", "json")[1])["turning"]
    assert (one["winner"], one["turns"], one["number"], one["exact"]) == ("a", True, 21, True)
    assert one["difference_after"] == pytest.approx(0.5 / 20)
    status, out, _ = assay(*words, "--seconds", "36")
    assert status == 0
    assert "a, b: 21 unjudged pairs could reverse this result, about 0.2 rater hours" in out


def test_turning_reads_standard_input_once(assay: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("few.txt").write_text("q1 0 good 1\nq2 0 good 1\n")
    Path("a.run").write_text("q1 Q0 good 1 1 a\nq2 Q0 good 1 1 a\n")
    Path("b.run").write_text("q1 Q0 bad 1 1 b\nq2 Q0 bad 1 1 b\nunjudged Q0 good 1 1 b\n")
    words = ("compare", "few.txt", "a.run", "-m", "P@1", "--turning", "--format", "json")
    of_file = json.loads(assay(*words, "b.run")[1])["turning"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path("b.run").read_bytes())))
    assert json.loads(assay(*words, "b=-")[1])["turning"] == of_file


@pytest.mark.usefixtures("files")
def test_the_scale_is_that_of_evaluate(assay: Call) -> None:
    """ERR of a document of grade 1 at rank 1 is (2^1 - 1) / 2^3 on a scale to 3, and 1/2 on the labels' own."""
    comparison = as_json(assay, "-m", "ERR@1", "--scale", "0:3")["runs"]
    assert comparison["top"]["ERR@1"] == pytest.approx(1 / 8)
    assert as_json(assay, "-m", "ERR@1")["runs"]["top"]["ERR@1"] == pytest.approx(1 / 2)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seconds", "3"), "--seconds needs --turning"),
        (("--turning", "--seconds", "0"), "--seconds is 0;"),
        (("--turning", "-m", "Bpref"), "the response of Bpref"),
    ],
)
def test_invalid_decision_critical_requests_are_refused(assay: Call, words: tuple[str, ...], message: str) -> None:
    status, out, err = assay("compare", "many.txt", *RUNS[:2], *words)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.usefixtures("files")
def test_bounds_are_listed_with_the_means(assay: Call) -> None:
    comparison = as_json(assay, "-m", "RR")
    assert comparison["bounds"]["top"]["RR"] == {"low": 1.0, "high": 1.0}
    assert comparison["bounds"]["low"]["RR"]["high"] == 1.0


@pytest.mark.usefixtures("files")
def test_the_interval_goes_with_the_test_and_can_be_chosen(assay: Call) -> None:
    by_t = as_json(assay, "-m", "RR", "--test", "t")
    assert by_t["settings"]["interval"] == "t"
    for words in (("--test", "sign"), ("--test", "t", "--interval", "bootstrap")):
        assert as_json(assay, "-m", "RR", *words)["settings"]["interval"] == "bootstrap"
    chosen = json.loads(assay("compare", "many.txt", *RUNS, "--format", "json", "-m", "RR", "--interval", "t")[1])
    assert [(one["low"], one["high"]) for one in chosen["pairs"]] == [
        (one["low"], one["high"]) for one in by_t["pairs"]
    ]
    assert "Student's t" in assay("compare", "many.txt", *RUNS, "-m", "RR", "--interval", "t")[1]
