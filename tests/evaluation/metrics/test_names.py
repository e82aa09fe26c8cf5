"""Is every written name understood, and every ambiguous one refused?"""

from __future__ import annotations

import pytest

from evaluation.metrics import METRICS
from evaluation.metrics.names import parse_metric, parse_metrics
from judgments.core.errors import NotValid, UnknownName

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
    "AP(rel=2)": "map-l2 AP(rel=2) AP(judged_only=False,rel=2)",
    "P(rel=2,judged_only=True)@5": "P(judged_only=True,rel=2)@5",
}


@pytest.mark.parametrize(("canonical", "other"), [(name, one) for name, many in SAME.items() for one in many.split()])
def test_other_spellings_mean_the_same(canonical: str, other: str) -> None:
    assert parse_metric(other).name == canonical


def test_blanks_do_not_matter() -> None:
    assert [one.name for one in parse_metrics(" P ( rel = 2 ) @ 5, 10  AP,RR ")] == [
        "P(rel=2)@5",
        "P(rel=2)@10",
        "AP",
        "RR",
    ]


def test_a_metric_named_twice_is_computed_once() -> None:
    assert [one.name for one in parse_metrics(["AP", "MAP AP"])] == ["AP"]


@pytest.mark.parametrize("member", list(METRICS))
def test_every_example_parses_to_itself(member: str) -> None:
    assert parse_metric(METRICS[member].example).name == METRICS[member].example


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("hits@10", "write Success@10 or P@10"),
        ("unj_5", "write Judged@5"),
        ("ndcg@10-l2", "write nDCG@10"),
        ("precision", "needs a cutoff; write P@10"),
        ("recall", "needs a cutoff; write R@10"),
        ("Rprec@5", "takes no cutoff"),
        ("P@0", "below 1"),
        ("P(rel=0)@5", "above 0"),
        ("P(level=2)@5", "knows: rel, judged_only"),
        ("nDCG(gain=cubic)@5", "linear, exp"),
        ("P(judged_only=maybe)@5", "True or False"),
        ("P(", "cannot be read"),
        ("", "no metric is named"),
    ],
)
def test_what_is_refused_and_with_what_advice(written: str, message: str) -> None:
    with pytest.raises(NotValid) as refusal:
        parse_metrics(written)
    assert message in str(refusal.value)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no metric 'ndgc@10'; did you mean nDCG@10.*Known: nDCG, RR"):
        parse_metric("ndgc@10")


@pytest.mark.parametrize(
    ("name", "theirs"),
    [("nDCG@10", "ndcg_cut_10"), ("AP", "map"), ("RR", "recip_rank"), ("P@5", "P_5"), ("R@100", "recall_100")],
)
def test_trec_eval_has_its_own_names(name: str, theirs: str) -> None:
    assert parse_metric(name).trec_name == theirs


@pytest.mark.parametrize("name", ["RR@10", "Judged@10", "AP(rel=2)", "nDCG(gain=exp)@10"])
def test_what_trec_eval_cannot_name_keeps_its_name(name: str) -> None:
    assert parse_metric(name).trec_name == name
