"""Tests of metrics against trec_eval's own test set, by query, with every line compared."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from assay.cli import main
from assay.core import Qrels, Run
from assay.formats.trec_qrels import load_qrels
from assay.formats.trec_run import load_run
from assay.metrics.metric import parse_metric
from assay.scoring.results import RunScores
from evaluation import evaluate

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "trec-eval-tests"
HERE = FOLDER.is_dir()
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not HERE, reason="../shared/data is not here")]

# Half of the last printed decimal, and a little.
PRINTED = 5.1e-5
LAST = "all"

# What trec_eval prints and no page of ours defines, with the reason. A line that neither this nor `ours` knows fails.
OUT = {
    r"runid": "the name of the run",
    r"relstring(_\d+)?": "a picture of the ranking",
    r"Rprec_mult_.*": "precision at multiples of R: nobody reports it",
    r"utility.*": "a linear utility with free coefficients",
    r"G|binG": "trec_eval's experiments with cost",
    r"Rndcg|ndcg_rel": "trec_eval's experiments with nDCG",
    r"gm_bpref": "GMAP is the one geometric mean",
    r"set_map": "SetP times SetR, by the name of an average that it is not",
    r"num_nonrel_judged_ret": "a count for debugging",
    r"unj_\d+": "refused: it divides by the cutoff, but Judged@k divides by the number returned",
    r"\w+_avgjg(_.*)?": "several judges for one document: they become one label first",
    r"prefs_.*": "preferences between documents",
}
FILES = {
    "out.test": ("qrels.test", "results.test"),
    "out.test.a": ("qrels.test", "results.test"),
    "out.test.aq": ("qrels.test", "results.test"),
    "out.test.aqc": ("qrels.test", "results.trunc"),
    "out.test.aqcM": ("qrels.test", "results.trunc"),
    "out.test.aql": ("qrels.rel_level", "results.test"),
    "out.test.meas_params": ("qrels.test", "results.test"),
    "out.test, comments": ("qrels.test.with-comments", "results.test"),
    "out.comment.test": ("qrels.comment.test", "results.comment.test.gz"),
}
# The lines of the files, counted with grep, less those of the two tables around this one.
LINES_COMPARED = {
    "out.test": 29,
    "out.test.a": 77,
    "out.test.aq": 302,
    "out.test.aqc": 300,
    "out.test.aqcM": 300,
    "out.test.aql": 298,
    "out.test.meas_params": 68,
    "out.test, comments": 29,
    "out.comment.test": 29,
}
# trec_eval 10 rounds level * R to the nearest number of documents; 9, pytrec_eval, ir_measures and we do not.
NEAREST = "(cut=nearest)"
# Lines that Assay follows by its own rule; each has a test of its own below.
BY_OUR_RULE = {
    "out.test.aqc": {("rbp_resid", "302"), ("rbp_resid", "all")},
    "out.test.aqcM": {("rbp_resid", "302"), ("rbp_resid", "all")},
    "out.test.aql": {("rbp", "301"), ("rbp", "302"), ("rbp", "303"), ("rbp", "all")},
}
WITHOUT_THRESHOLD = r"ndcg.*|num_q|num_ret|rbp_resid"


def ours(theirs: str, level: int) -> str:
    """The name to ask for; as it stands where trec_eval and Assay read it alike."""
    # trec_eval's own p is 0.9.
    if theirs == "rbp":
        return "RBP(p=0.9)"
    if theirs == "rbp_resid":
        return "RBPresid(p=0.9)"
    name = re.sub(r"^(iprec_at_recall|11pt_avg)", rf"\1{NEAREST}", theirs)
    if level == 1 or re.fullmatch(WITHOUT_THRESHOLD, theirs):
        return name
    return name.replace(NEAREST, f"(cut=nearest,rel={level})") if NEAREST in name else f"{name}-l{level}"


def left_out(theirs: str) -> bool:
    return any(re.fullmatch(pattern, theirs) for pattern in OUT)


@cache
def qrels(name: str) -> Qrels:
    return load_qrels(FOLDER / name)


@cache
def run(name: str, depth: int | None = None) -> Run:
    whole = load_run(FOLDER / name)
    if depth is None:
        return whole
    cut = {query_id: whole.ranking(query_id)[:depth] for query_id in whole.query_ids}
    return Run.from_dict({query_id: {doc: -float(at) for at, doc in enumerate(docs)} for query_id, docs in cut.items()})


def expected(output: str) -> list[tuple[str, str, float]]:
    lines = [line.split() for line in (FOLDER / output.split(",")[0]).read_text().splitlines()]
    rows = [(name, query_id, float(value)) for name, query_id, value in lines if not left_out(name)]
    return [line for line in rows if line[:2] not in BY_OUR_RULE.get(output, set())]


def value(scores: RunScores, query_ids: tuple[str, ...], metric: str, query_id: str) -> float | None:
    return scores.metrics[metric].mean if query_id == LAST else scores.per_query[metric][query_ids.index(query_id)]


@pytest.mark.parametrize("output", FILES)
def test_every_line_of(output: str) -> None:
    labels, ranked = FILES[output]
    level = 2 if output.endswith("aql") else 1
    lines = [line for line in expected(output) if not line[0].startswith("11pt_avg_")]
    names = {theirs: parse_metric(ours(theirs, level)).name for theirs, _, _ in lines}
    result = evaluate(qrels(labels), run(ranked, 100 if output.endswith("M") else None), names.values())
    for theirs, query_id, wanted in lines:
        outcome = value(result.runs[0], result.query_ids, names[theirs], query_id)
        assert outcome == pytest.approx(wanted, abs=PRINTED), (theirs, query_id)
    assert len(lines) == LINES_COMPARED[output]


@pytest.mark.parametrize("output", ["out.test.qrels_jg", "out.test.prefs", "out.test.qrels_prefs"])
def test_the_left_out_lines_are_exactly_those_listed(output: str) -> None:
    assert {name for name, _, _ in expected(output)} <= {"num_q"}


def test_every_expected_output_is_looked_at() -> None:
    # Z-scores are not values of a metric: each is how far a value lies from those of other systems.
    others = {"out.test.qrels_jg", "out.test.prefs", "out.test.qrels_prefs", "out.test.aqZ"}
    assert {path.name for path in FOLDER.glob("out.*")} == others | {name.split(",")[0] for name in FILES}


@pytest.mark.parametrize("output", FILES)
def test_our_names_in_its_format_are_its_names_in(output: str) -> None:
    names = {theirs for theirs, _, _ in expected(output)} - {"rbp", "rbp_resid", "11pt_avg_.25,.5,.75"}
    assert {theirs: parse_metric(theirs).trec_name for theirs in names} == {theirs: theirs for theirs in names}


def test_the_command_prints_its_lines_to_the_letter(capsys: pytest.CaptureFixture[str]) -> None:
    theirs = [line.split() for line in (FOLDER / "out.test").read_text().splitlines() if not line.startswith("iprec")]
    files = [str(FOLDER / "qrels.test"), f"STANDARD={FOLDER / 'results.test'}"]
    assert main(["evaluate", *files, "--format", "trec", "-m", " ".join(name for name, _, _ in theirs[1:])]) == 0
    assert [line.split("\t") for line in capsys.readouterr().out.splitlines()] == theirs


def test_iprec_and_11pt_avg_follow_trec_eval_9_where_version_10_rounds() -> None:
    levels = ",".join(f"{level / 10:.1f}" for level in range(11))
    ours_by_default = evaluate(qrels("qrels.test"), run("results.test"), f"IPrec@{levels} 11pt_avg").runs[0].metrics
    theirs = {name: wanted for name, _, wanted in expected("out.test.a")}
    differing = {
        name: summary.mean
        for name, summary in ours_by_default.items()
        if summary.mean != pytest.approx(theirs[parse_metric(name).trec_name], abs=PRINTED)
    }
    # The values of trec_eval 9 and of pytrec_eval for the same files.
    assert differing == {
        "IPrec@0.6": pytest.approx(0.0822, abs=PRINTED),
        "11pt_avg": pytest.approx(0.1958, abs=PRINTED),
    }


def test_11pt_avg_with_levels_of_its_own_is_the_mean_of_iprec() -> None:
    rows = [f"IPrec(cut=nearest)@{level}" for level in (0.25, 0.5, 0.75)]
    result = evaluate(qrels("qrels.test"), run("results.test"), rows)
    mean = np.mean([result.runs[0].per_query[name] for name in rows], axis=0)
    lines = {at: wanted for name, at, wanted in expected("out.test.meas_params") if name.startswith("11pt_avg_")}
    assert dict(zip(result.query_ids, mean, strict=True)) | {"all": mean.mean()} == pytest.approx(lines, abs=PRINTED)


def test_rbp_names_the_top_of_the_scale_where_trec_eval_takes_the_largest_grade_of_the_query() -> None:
    labels, ranked = qrels("qrels.rel_level"), run("results.test")
    lines = [line.split() for line in (FOLDER / "out.test.aql").read_text().splitlines()]
    theirs = {query_id: float(wanted) for name, query_id, wanted in lines if name == "rbp"}
    binary = evaluate(labels, ranked, "RBP(p=0.9)").runs[0].per_query["RBP(p=0.9)"]
    scaled = evaluate(labels, ranked, "RBP(p=0.9,max_rel=4)").runs[0].per_query["RBP(p=0.9,max_rel=4)"]
    # The largest grades of the three queries are 4, 3 and 2; only query 301 has several positive ones.
    assert scaled[0] == pytest.approx(theirs["301"], abs=PRINTED)
    assert scaled[1:] * 4 / [3, 2] == pytest.approx([theirs["302"], theirs["303"]], abs=PRINTED)
    assert binary[1:] == pytest.approx([theirs["302"], theirs["303"]], abs=PRINTED)


@pytest.mark.parametrize(("output", "depth"), [("out.test.aqc", None), ("out.test.aqcM", 100)])
def test_rbpresid_of_a_query_without_results_is_1_where_trec_eval_prints_0(output: str, depth: int | None) -> None:
    lines = [line.split() for line in (FOLDER / output).read_text().splitlines()]
    theirs = {query_id: float(wanted) for name, query_id, wanted in lines if name == "rbp_resid"}
    result = evaluate(qrels("qrels.test"), run("results.trunc", depth), "RBPresid(p=0.9)")
    mapping = dict(zip(result.query_ids, result.runs[0].per_query["RBPresid(p=0.9)"], strict=True))
    assert (mapping["302"], theirs["302"]) == (1.0, 0.0)
    assert result.runs[0].metrics["RBPresid(p=0.9)"].mean == pytest.approx(theirs["all"] + 1 / 3, abs=PRINTED)
