"""Tests of cases where evaluation tools disagree: we follow the tool that we document.

The numbers of the other tools were computed with trec_eval 10.0-rc3, pytrec_eval-terrier 0.5.11, ir_measures 0.4.3 and
ranx 0.3.21. The name of each test says which tool we follow; the test lists the other tools' numbers as wrong results.
"""

from __future__ import annotations

import random

import pytest
import pytrec_eval

from assay.core import Qrels, Run
from assay.core.errors import NotValid, UnreadableInput
from assay.formats.trec_qrels import load_qrels
from assay.formats.trec_run import load_run
from assay.scoring.results import RunScores
from evaluation import evaluate

Table = dict[str, dict[str, float]]


def scored(qrels: Table, run: Table, metrics: str, missing: str = "zero") -> RunScores:
    return evaluate(Qrels.from_dict(qrels), Run.from_dict(run, "run"), metrics, missing).runs[0]  # type: ignore[arg-type]


def means(qrels: Table, run: Table, metrics: str, missing: str = "zero") -> dict[str, float | None]:
    return {name: summary.mean for name, summary in scored(qrels, run, metrics, missing).metrics.items()}


def mean(qrels: Table, run: Table, metric: str, missing: str = "zero") -> float | None:
    (value,) = means(qrels, run, metric, missing).values()
    return value


# The order of tied documents.


def test_ties_follow_trec_eval_in_all_metrics_not_ranx_nor_the_second_rule_of_ir_measures_and_beir() -> None:
    run = {"q": {"d1": 1.0, "d2": 1.0, "d3": 1.0}}
    # ranx: RR .3333, nDCG@10 .5; ir_measures: RR@10 .3333, Judged@1 0; BEIR: NDCG@1 1 and MRR@1 0.
    names = "RR RR@10 RR@1 nDCG@1 nDCG@10 AP P@1 Judged@1 Success@1 Bpref infAP Compat(p=0.95) RBP(p=0.5)@1"
    result = means({"q": {"d3": 1}}, run, names)
    assert result.pop("RBP(p=0.5)@1") == 0.5
    assert result == dict.fromkeys(result, 1.0)


def test_tied_ids_go_by_bytes_as_in_trec_eval_not_by_the_order_of_the_file_as_in_ranx() -> None:
    run = {"q": {"a": 1.0, "Z": 1.0, "é": 1.0, "10": 1.0, "9": 1.0}}
    ranks = {doc: mean({"q": {doc: 1}}, run, "RR") for doc in run["q"]}
    assert ranks == pytest.approx({"é": 1, "a": 1 / 2, "Z": 1 / 3, "9": 1 / 4, "10": 1 / 5})


def test_a_run_of_whole_numbers_equals_pytrec_eval_where_ranx_and_ir_measures_are_off() -> None:
    draw = random.Random(3)
    docs = [f"d{n}" for n in range(200)]
    qrels = {f"q{n}": {doc: draw.choice([0, 0, 1, 2]) for doc in draw.sample(docs, 60)} for n in range(20)}
    run = {f"q{n}": {doc: float(draw.randint(0, 5)) for doc in draw.sample(docs, 120)} for n in range(20)}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "P.10", "map", "recip_rank"}).evaluate(run)
    ours = scored(qrels, run, "nDCG@10 P@10 AP RR")
    for name, there in {"nDCG@10": "ndcg_cut_10", "P@10": "P_10", "AP": "map", "RR": "recip_rank"}.items():
        assert ours.per_query[name] == pytest.approx([theirs[query_id][there] for query_id in sorted(qrels)], abs=1e-12)
    assert ours.diagnostics.ties > 0.97


def test_average_precision_and_reciprocal_rank_agree_on_one_relevant_document_where_beir_has_two_rules() -> None:
    for tied in ("d1", "d2", "d3"):
        result = means({"q": {tied: 1}}, {"q": {"d1": 1.0, "d2": 1.0, "d3": 1.0}}, "AP RR RR@10 AP@10")
        assert len(set(result.values())) == 1


def test_renaming_tied_documents_changes_a_score_as_in_trec_eval_and_the_ties_are_reported() -> None:
    before = scored({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "RR")
    after = scored({"q": {"z": 1}}, {"q": {"z": 1.0, "b": 1.0}}, "RR")
    assert (before.metrics["RR"].mean, after.metrics["RR"].mean) == (0.5, 1.0)
    assert before.diagnostics.ties == after.diagnostics.ties == 1.0


def test_scores_are_float64_as_in_trec_eval_10_not_float32_as_in_pytrec_eval() -> None:
    run = {"q": {"d2": 16777216.0, "d1": 16777217.0}}
    assert means({"q": {"d1": 1}}, run, "RR RR@10 nDCG@10") == {"RR": 1.0, "RR@10": 1.0, "nDCG@10": 1.0}


def test_the_order_of_a_dictionary_plays_no_part_unlike_in_mteb_and_beir() -> None:
    qrels = {"q": {"a": 1, "c": 2}}
    one = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    other = {"q": dict(reversed(one["q"].items()))}
    assert means(qrels, one, "nDCG@1 RR@1 AP") == means(qrels, other, "nDCG@1 RR@1 AP")


# Gains, ideals and divisors.


def test_gain_is_linear_unless_the_name_says_exp_where_elasticsearch_is_always_exponential() -> None:
    qrels, run = {"q": {"a": 3, "b": 2, "c": 1, "d": 0}}, {"q": {"b": 4.0, "a": 3.0, "d": 2.0, "c": 1.0}}
    result = means(qrels, run, "nDCG@2 nDCG@10 nDCG(gain=exp)@2 nDCG(gain=exp)@10")
    assert list(result.values()) == pytest.approx([0.91340159, 0.90793645, 0.83399123, 0.83544777], abs=1e-8)


def test_err_takes_the_top_of_the_scale_and_gives_gdevals_value_with_max_rel_4() -> None:
    qrels, run = {"q": {"a": 3, "b": 2, "c": 1, "d": 0}}, {"q": {"b": 4.0, "a": 3.0, "d": 2.0, "c": 1.0}}
    result = means(qrels, run, "ERR@10 ERR(max_rel=4)@10")
    assert list(result.values()) == pytest.approx([0.65087891, 0.37237549], abs=1e-8)


def test_the_ideal_comes_from_all_labels_as_in_trec_eval_not_from_what_was_returned_as_in_elasticsearch() -> None:
    qrels, run = {"q": {"a": 3, "b": 3, "c": 2, "d": 1}}, {"q": {"a": 1.0}}
    result = means(qrels, run, "nDCG@10 nDCG(gain=exp)@10")
    assert list(result.values()) == pytest.approx([0.47442338, 0.52445516], abs=1e-8)


def test_ndcg_never_passes_1_where_stale_ratings_made_it_1_31_elsewhere() -> None:
    qrels = {"q": {"a": 1, "b": 3, "c": 3}}
    assert mean(qrels, {"q": {"b": 3.0, "c": 2.0, "a": 1.0, "unrated": 0.0}}, "nDCG@2") == 1.0


def test_precision_divides_by_k_as_in_trec_eval_not_by_what_was_returned_as_in_elasticsearch() -> None:
    assert mean({"q": {"a": 1, "b": 0, "z": 1}}, {"q": {"a": 2.0, "u": 1.0}}, "P@10") == 0.1


def test_judged_divides_by_what_was_returned_as_in_ir_measures_not_by_k_as_in_trec_evals_unj() -> None:
    assert mean({"q": {"a": 1, "b": 0, "z": 1}}, {"q": {"a": 2.0, "u": 1.0}}, "Judged@10") == 0.5


def test_average_precision_at_k_divides_by_all_relevant_documents_as_in_all_tools() -> None:
    result = means({"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "x": 1.0}}, "AP@1 AP@2")
    assert result == pytest.approx({"AP@1": 1 / 3, "AP@2": 2 / 3})


def test_ndcg_without_a_cutoff_has_an_ideal_that_is_not_cut_as_trec_evals_ndcg() -> None:
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0}}
    assert means(qrels, run, "nDCG@1 nDCG") == pytest.approx({"nDCG@1": 1.0, "nDCG": 0.6131471927654584})


# Thresholds, negative and fractional grades.


def test_a_threshold_is_for_binary_metrics_as_in_trec_eval_and_ranx_ndcg_l2_is_refused() -> None:
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 3.0, "b": 2.0}}
    result = means(qrels, run, "AP(rel=2) RR(rel=2)@10 Bpref(rel=2) nDCG@10")
    assert list(result.values()) == pytest.approx([0.5, 0.5, 0.0, 0.8597187], abs=1e-8)
    with pytest.raises(NotValid, match="write nDCG@10"):
        mean(qrels, run, "ndcg@10-l2")


def test_negative_grades_are_judged_for_judged_and_not_for_bpref_where_ranx_gives_0() -> None:
    qrels, run = {"q": {"a": -1, "b": 1, "c": -2}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    result = means(qrels, run, "AP nDCG@10 Bpref infAP Judged@10")
    assert list(result.values()) == pytest.approx([0.5, 0.63092975, 1.0, 0.75, 1.0], abs=1e-8)


def test_a_query_of_negative_grades_scores_0_and_the_rest_goes_on_where_trec_eval_10_stops() -> None:
    qrels = {"q0": {"x": 3, "y": 2, "z": 1}, "q": {"a": -1, "b": -1}}
    run = {"q0": {"y": 3.0, "x": 2.0}, "q": {"a": 3.0, "b": 2.0}}
    result = means(qrels, run, "AP nDCG@10 Bpref")
    assert list(result.values()) == pytest.approx([0.33333333, 0.40874676, 0.33333333], abs=1e-8)


def test_bpref_without_judged_not_relevant_documents_follows_trec_eval_where_ranx_gives_nan() -> None:
    assert mean({"q": {"r1": 1, "r2": 1}}, {"q": {"u": 9.0, "r1": 8.0}}, "Bpref") == 0.5


def test_fractional_grades_count_where_pytrec_eval_refuses_them() -> None:
    qrels, run = {"q": {"a": 0.5, "b": 1.5}}, {"q": {"a": 2.0, "b": 1.0}}
    with pytest.raises(TypeError):
        pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"})
    # By hand: (0.5 + 1.5 / log2 3) / (1.5 + 0.5 / log2 3).
    assert mean(qrels, run, "nDCG@10") == pytest.approx(0.7967075809905066)
    assert mean(qrels, run, "P@1") == 0.0


def test_condensed_lists_drop_unjudged_and_negative_documents_as_trec_evals_j_does() -> None:
    qrels, run = {"q": {"a": 1, "n": 0, "j": -1}}, {"q": {"u": 9.0, "j": 8.0, "n": 7.0, "a": 6.0}}
    result = means(qrels, run, "RR RR(judged_only=True) nDCG@10 nDCG(judged_only=True)@10")
    assert list(result.values()) == pytest.approx([0.25, 0.5, 0.43067656, 0.63092975], abs=1e-8)


# Readers with patience, recall levels, sets.


def test_rbp_is_binary_as_in_trec_eval_9s_heirs_and_graded_only_by_the_named_top_where_ranx_passes_1() -> None:
    qrels, run = {"q": {"a": 3, "b": 0, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    result = means(qrels, run, "RBP(p=0.8) RBP(p=0.8,max_rel=3)")
    # trec_eval 10: .2427, by the largest grade of the query itself; ranx: .728, from the raw grades.
    assert list(result.values()) == pytest.approx([0.328, 0.24266667], abs=1e-8)
    with pytest.raises(NotValid, match="write max_rel=3"):
        mean(qrels, run, "RBP(p=0.8,max_rel=2)")


def test_the_residual_keeps_what_is_below_the_list_where_trec_eval_gives_0() -> None:
    qrels, run = {"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    assert means(qrels, run, "RBP(p=0.8) RBPresid(p=0.8)") == pytest.approx(
        {"RBP(p=0.8)": 0.328, "RBPresid(p=0.8)": 0.512}
    )


def test_iprec_follows_trec_eval_9_pytrec_eval_and_ir_measures_and_trec_eval_10_by_name() -> None:
    run = {"q": {"a": 9.0, "x": 8.0, "y": 7.0, "b": 6.0, "c": 5.0}}
    result = means({"q": {"a": 1, "b": 1, "c": 1}}, run, "IPrec@0.1 IPrec@0.4 IPrec(cut=nearest)@0.4")
    assert result == pytest.approx({"IPrec@0.1": 1.0, "IPrec@0.4": 0.6, "IPrec(cut=nearest)@0.4": 1.0})


def test_compat_puts_unreturned_documents_last_where_ir_measures_gives_them_the_score_0() -> None:
    result = mean({"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"c": -1.0, "b": -2.0}}, "Compat(p=0.95)")
    assert result == pytest.approx(0.89453696, abs=1e-8)


def test_beta_of_setf_is_van_rijsbergens_where_the_parameter_of_trec_eval_is_its_square() -> None:
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 2.0, "x": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"set_F.4.0"}).evaluate(run)["q"]
    assert mean(qrels, run, "SetF(beta=2)") == pytest.approx(next(iter(theirs.values())), abs=1e-12)
    # By hand: P = 1/2, R = 1/3, 5 P R / (4 P + R).
    assert mean(qrels, run, "SetF(beta=2)") == pytest.approx(5 / 14)


# Which queries count.


def test_an_unanswered_query_scores_0_as_with_trec_evals_c_and_only_a_named_option_skips_it() -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}
    # pytrec_eval's dictionary averages to 1; BEIR gives NDCG@10 1 and MRR@10 .5; ranx raises.
    assert means(qrels, run, "AP nDCG@10 RR@10 Judged@10") == dict.fromkeys(
        ["AP", "nDCG@10", "RR@10", "Judged@10"], 0.5
    )
    assert mean(qrels, run, "AP", "skip") == 1.0


def test_judged_of_an_unanswered_query_is_0_where_trec_evals_c_counts_it_as_judged() -> None:
    assert scored({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}, "Judged@10").per_query["Judged@10"][1] == 0.0


def test_no_common_query_is_reported_in_words_where_trec_eval_crashed() -> None:
    with pytest.raises(NotValid, match="answers none of the judged queries"):
        mean({"q1": {"a": 1}}, {"q2": {"a": 1.0}}, "AP")


def test_queries_of_the_run_alone_are_counted_and_not_averaged_where_ranx_wants_equal_ids() -> None:
    result = scored({"q1": {"a": 1}}, {"q1": {"a": 1.0}, "q9": {"a": 1.0}}, "AP")
    assert (result.metrics["AP"].mean, result.diagnostics.queries_unjudged) == (1.0, 1)


def test_a_query_without_labels_leaves_no_trace_in_later_ones_where_pytrec_eval_gave_garbage() -> None:
    qrels, run = {"q1": {}, "q2": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    assert scored(qrels, run, "AP nDCG@10").per_query["AP"].tolist() == [0.5]


def test_a_second_use_gives_the_same_where_ir_measures_returned_0() -> None:
    qrels, run = Qrels.from_dict({"q": {"a": 1}}), Run.from_dict({"q": {"a": 1.0}}, "run")
    first, second = (evaluate(qrels, run, "AP RR@10").as_json() for _ in range(2))
    assert first == second


def test_query_ids_may_be_any_text_where_the_exponential_metrics_of_ir_measures_need_numbers() -> None:
    result = means({"q-é 1": {"a": 1}}, {"q-é 1": {"a": 1.0}}, "nDCG(gain=exp)@10 ERR@10")
    assert result == {"nDCG(gain=exp)@10": 1.0, "ERR@10": 0.5}


def test_a_document_with_the_id_of_the_query_stays_where_beir_and_pylate_drop_it() -> None:
    assert mean({"q1": {"q1": 1}}, {"q1": {"q1": 2.0, "b": 1.0}}, "RR") == 1.0


def test_identical_rows_of_labels_count_once_where_trectools_inflated_the_ideal() -> None:
    qrels = Qrels.from_rows([("q", "a", 1), ("q", "a", 1), ("q", "b", 1)])
    result = evaluate(qrels, Run.from_dict({"q": {"a": 2.0, "b": 1.0}}, "run"), "nDCG@10 NumRel")
    assert {name: one.mean for name, one in result.runs[0].metrics.items()} == {"nDCG@10": 1.0, "NumRel": 2.0}
    assert result.runs[0].diagnostics.duplicates == 1


# Lines that tools read differently. The run ranks b over a; a is relevant, so that RR is .5.

READ = {
    "more than six fields, as trec_eval": b"q Q0 b 1 2 r s t\nq Q0 a 2 1 r s t\n",
    "tabs, blanks and CRLF, as all": b"q\tQ0  b \t1 2 r\r\nq Q0 a 2 1 r\r\n",
    "comments, as trec_eval 10": b"# made by hand\nq Q0 b 1 2 r\nq Q0 a 2 1 r\n",
    "blank lines, as trec_eval": b"\nq Q0 b 1 2 r\n\nq Q0 a 2 1 r\n",
    "a byte order mark, which all others take for a part of the id": b"\xef\xbb\xbfq Q0 b 1 2 r\nq Q0 a 2 1 r\n",
}
# A document twice is told at its first line, and the message holds both.
REFUSED = {
    "a document twice, where ir_measures and ranx keep the last": (b"q Q0 a 1 2 r\nq Q0 a 2 1 r\n", 1),
    "five fields, with the line as trec_eval": (b"q Q0 b 1 2 r\nq Q0 a 2 1\n", 2),
    "a score in words, which trec_eval reads as 0": (b"q Q0 b 1 two r\n", 1),
}


@pytest.mark.parametrize("lines", READ.values(), ids=READ)
def test_is_read(lines: bytes) -> None:
    result = evaluate(load_qrels(b"q 0 a 1\n"), load_run(lines), "RR")
    assert result.runs[0].metrics["RR"].mean == 0.5


@pytest.mark.parametrize(("lines", "at"), REFUSED.values(), ids=REFUSED)
def test_is_refused(lines: bytes, at: int) -> None:
    with pytest.raises(UnreadableInput) as refusal:
        load_run(lines, "a.run")
    assert (refusal.value.path, refusal.value.line) == ("a.run", at)


def test_hash_signs_inside_ids_stay_where_trec_eval_once_cut_them() -> None:
    result = evaluate(load_qrels(b"q#1 0 a#2 1\n"), load_run(b"q#1 Q0 a#2 1 2 r\n"), "RR")
    assert result.runs[0].metrics["RR"].mean == 1.0
