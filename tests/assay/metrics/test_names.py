"""Tests of metric names: every notation is read and every ambiguous one refused."""

from __future__ import annotations

import pytest

from assay.core.errors import NotValid, UnknownName
from assay.metrics import METRICS
from assay.metrics.metric import parse_metric, parse_metrics

SAME = {
    "nDCG@10": "NDCG@10 ndcg@10 ndcg_cut_10 ndcg_cut.10 nDCG(gain=linear)@10 nDCG_10",
    "nDCG": "ndcg NDCG",
    "nDCG(gain=exp)@10": "nDCG(dcg='exp-log2')@10 ndcg_burges@10 ndcg_exp@10",
    "AP": "MAP map AP(rel=1)",
    "AP@100": "MAP@100 map_cut_100 map@100",
    "RR": "MRR recip_rank",
    "RR@10": "MRR@10 mrr@10",
    "P@5": "Precision@5 Prec@5 precision@5 P_5 p@5",
    "R@100": "Recall@100 recall_100",
    "Success@5": "HitRate@5 Hit@5 hit_rate@5 success_5",
    "Rprec": "R-precision r-precision RPrec",
    "Bpref": "bpref BPref BPREF",
    "infAP": "infap infAP",
    "IPrec@0.1": "iprec_at_recall_0.10 iprec_at_recall.0.1 IPrec@0.10 IPrec(cut=ceil)@0.1",
    "IPrec(rel=2,cut=nearest)@0.5": "IPrec(cut=nearest,rel=2)@0.5 iprec_at_recall(cut='nearest')_0.50-l2",
    "11pt_avg": "11PT_AVG 11pt_avg(rel=1)",
    "GMAP": "gm_map gmap",
    "RBP(p=0.8)": "rbp.p=0.8 rbp_p=0.8 RBP(rel=1,p=.8)",
    "RBP(p=0.8,max_rel=3)@10": "rbp(max_rel=3,p=0.8)@10",
    "DCG(gain=exp)@5": "dcg_burges@5 DCG(dcg='exp-log2')_5",
    "F@5": "f1@5 F(beta=1)@5 F1_5",
    "F(beta=0.5)@5": "f(beta=.5)@5 F(beta=0.50,rel=1)@5",
    "R-cap@100": "R_cap@100 recall_cap@100 relative_P_100 r-cap_100",
    "R-cap": "set_relative_P",
    "SetP": "set_P",
    "SetR": "set_recall set_r",
    "SetF(beta=2)": "set_F(beta=2)",
    "NumRelRet": "num_rel_ret",
    "nDCG(gains={1:3,2:9,4:4.5})": "ndcg_1=3,2=9,4=4.5 ndcg.1=3.0,2=9.0,4=4.5 nDCG(gains={4:4.5,2:9,1:3})",
    "nDCG(gains={1:3},judged_only=True)@10": "nDCG(judged_only=True,gains={1=3})@10",
    "AP(rel=2)": "map-l2 AP(rel=2) AP(judged_only=False,rel=2)",
    "P(rel=2,judged_only=True)@5": "P(judged_only=True,rel=2)@5",
}


@pytest.mark.parametrize(("canonical", "other"), [(name, one) for name, many in SAME.items() for one in many.split()])
def test_other_spellings_mean_the_same(canonical: str, other: str) -> None:
    assert parse_metric(other).name == canonical


def test_a_cutoff_that_no_run_reaches_is_refused() -> None:
    assert parse_metric("P@1000000").cutoff == 1_000_000
    with pytest.raises(NotValid, match="larger than any run"):
        parse_metric("nDCG@1" + "0" * 5000)


def test_blanks_do_not_matter() -> None:
    assert [one.name for one in parse_metrics(" P ( rel = 2 ) @ 5, 10  AP,RR ")] == [
        "P(rel=2)@5",
        "P(rel=2)@10",
        "AP",
        "RR",
    ]


def test_several_names_in_one_text_are_distinguished_also_where_parameters_hold_commas() -> None:
    text = "rbp_p=0.8,P@5,10 ndcg_1=3,2=9,AP, nDCG(gains={1:3,2:9})@5,10 IPrec@0.1,0.5 11pt_avg"
    assert [one.name for one in parse_metrics(text)] == [
        "RBP(p=0.8)",
        "P@5",
        "P@10",
        "nDCG(gains={1:3,2:9})",
        "AP",
        "nDCG(gains={1:3,2:9})@5",
        "nDCG(gains={1:3,2:9})@10",
        "IPrec@0.1",
        "IPrec@0.5",
        "11pt_avg",
    ]


@pytest.mark.parametrize("name", [*SAME, *(METRICS[member].example for member in METRICS)])
def test_a_canonical_name_is_read_as_itself(name: str) -> None:
    assert [one.name for one in parse_metrics(name)] == [name]


@pytest.mark.parametrize(
    ("member", "pattern"),
    [("P", "P@k"), ("nDCG", "nDCG, @k"), ("GMAP", "GMAP"), ("IPrec", "IPrec@r"), ("RBP", "RBP(p=...), @k")],
)
def test_help_tells_how_a_name_is_written(member: str, pattern: str) -> None:
    assert METRICS[member].pattern == pattern


def test_a_metric_named_twice_is_computed_once() -> None:
    assert [one.name for one in parse_metrics(["AP", "MAP AP"])] == ["AP"]


@pytest.mark.parametrize("member", list(METRICS))
def test_every_parameter_is_reported_with_its_default(member: str) -> None:
    metric = parse_metric(METRICS[member].example)
    assert list(metric.settings) == ["cutoff", *(parameter.name for parameter in metric.metric.parameters)]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("hits@10", "write Success@10 or P@10"),
        ("unj_5", "write Judged@5"),
        ("ndcg@10-l2", "write nDCG@10"),
        ("RBP", "needs p; write a metric such as RBP(p=0.8)"),
        ("RBP@10", "needs p"),
        ("Compat", "needs p; write a metric such as Compat(p=0.95)"),
        ("RBP(p=1)", "above 0 and below 1"),
        ("RBP(p=-1)", "above 0 and below 1"),
        ("rbp_resid", "write RBPresid(p=0.8)"),
        ("rbp_resid_p=0.8", "write RBPresid(p=0.8)"),
        ("DCG@10-l2", "no parameter 'rel'"),
        ("Judged@10-l2", "no parameter 'rel'"),
        ("IPrec", "needs a cutoff; write IPrec@0.1"),
        ("IPrec@5", "not between 0 and 1"),
        ("GMAP@10", "takes no cutoff"),
        ("IPrec(cut=floor)@0.1", "ceil, nearest"),
        ("nDCG(gains=3)@10", "as in {1:3,2:9}"),
        ("nDCG(gains={1:-3})@10", "gains of 0 or more"),
        ("nDCG(gains={1:3,1:4})@10", "a grade twice"),
        (f"nDCG(gains={{1={'9' * 400}}})", "grades and gains up to 1e+100"),
        (f"DCG(gains={{{'9' * 400}:1}})", "grades and gains up to 1e+100"),
        ("nDCG(rel=2)@10", "parameters of nDCG: gain, gains, judged_only"),
        ("hits", "write Success@10 or P@10"),
        ("precision", "needs a cutoff; write P@10"),
        ("recall", "needs a cutoff; write R@10"),
        ("Rprec@5", "takes no cutoff"),
        ("P@0", "is not a whole number from 1"),
        ("nDCG@-1", "after @ in 'nDCG@-1' is not a whole number from 1; write a metric such as nDCG@10"),
        ("nDCG@ten", "not a whole number from 1"),
        ("P(rel=2)@1e3", "not a whole number from 1"),
        ("nDCG@10@5", "not a whole number from 1"),
        ("AP@", "not a whole number from 1"),
        ("IPrec@half", "not between 0 and 1"),
        ("Bpref@ten", "takes no cutoff"),
        ("ndcg_cut", "nine cutoffs in trec_eval; specify cutoffs, as in nDCG@5,10"),
        ("map_cut", "write AP for no cutoff"),
        ("official", "a set of metrics in trec_eval"),
        ("all_trec", "a set of metrics in trec_eval"),
        ("P(rel=0)@5", "above 0"),
        ("P(level=2)@5", "parameters of P: rel, judged_only"),
        ("nDCG(gain=cubic)@5", "linear, exp"),
        ("P(judged_only=maybe)@5", "True or False"),
        ("P(", "cannot parse"),
        ("", "no metric was named"),
    ],
)
def test_refused_names_and_their_advice(written: str, message: str) -> None:
    with pytest.raises(NotValid) as refusal:
        parse_metrics(written)
    assert message in str(refusal.value)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"metric 'ndgc@10'; did you mean nDCG@10.*Known: nDCG, RR"):
        parse_metric("ndgc@10")


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("nDCG@10", "ndcg_cut_10"),
        ("AP", "map"),
        ("RR", "recip_rank"),
        ("P@5", "P_5"),
        ("R@100", "recall_100"),
        ("RBP(p=0.95)", "rbp_p=0.95"),
        ("IPrec@0.05", "iprec_at_recall_0.05"),
        ("nDCG(gains={1:3,2:9})", "ndcg_1=3,2=9"),
        ("R-cap@5", "relative_P_5"),
        ("SetP", "set_P"),
        ("NumQ", "num_q"),
    ],
)
def test_trec_eval_has_its_own_names(name: str, theirs: str) -> None:
    assert parse_metric(name).trec_name == theirs


@pytest.mark.parametrize(
    "name",
    [
        "RR@10",
        "Judged@10",
        "AP(rel=2)",
        "nDCG(gain=exp)@10",
        "nDCG(gains={1:3})@10",
        "nDCG(gain=exp,gains={1:3})",
        "RBP(p=0.8)@10",
        "RBP(p=0.8,max_rel=3)",
        "RBPresid(p=0.8)",
        "IPrec(cut=nearest)@0.1",
        "DCG@10",
        "F@10",
        "SetF(beta=2)",
    ],
)
def test_metrics_without_a_trec_eval_name_keep_their_name(name: str) -> None:
    assert parse_metric(name).trec_name == name


def test_a_text_is_parsed_once() -> None:
    (first,), (second,) = parse_metrics("nDCG@10"), parse_metrics(["nDCG@10"])
    assert first is second
