"""Tests of decision-critical pairs: the fewest that reverse a decision."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.core import Qrels, Run
from assay.core.errors import NotValid
from assay.decisions.decision_critical import turning
from assay.metrics.judged_rankings import JudgedRankings
from assay.metrics.metric import TIE, parse_metric
from assay.metrics.metric_bounds import Grading, chosen, graded
from evaluation import evaluate

DOCUMENTS = "abcdef"
EXACT = [
    "nDCG@2",
    "nDCG@3",
    "nDCG(gain=exp)@3",
    "DCG@2",
    "P@2",
    "R@2",
    "F@2",
    "RR@3",
    "RR",
    "Success@2",
    "MaxLabel@2",
    "MeanLabel@2",
    "RBP(p=0.5)",
    "AP@2",
    "AP",
    "Rprec",
    "ERR(max_rel=2)@2",
    "R-cap@2",
]


@st.composite
def two_runs(draw, queries=("q1", "q2")):
    """Labels and two runs; each query has few unjudged documents, so that all gradings can be tried."""
    labels, runs = {}, ({}, {})
    for query in queries:
        documents = draw(st.permutations(DOCUMENTS))
        judged = draw(st.integers(3, 5))
        labels[query] = {doc: draw(st.sampled_from([0, 1, 2])) for doc in documents[:judged]}
        for run in runs:
            listed = draw(st.lists(st.sampled_from(DOCUMENTS), max_size=4, unique=True))
            if listed:
                run[query] = {doc: float(-at) for at, doc in enumerate(listed)}
    labels["q1"]["g"] = 2
    return labels, *runs


def tried(metric, labels, first, second):
    """The mean difference and the number of grades above 0, for every grading of the unjudged documents that count."""
    last = metric.cutoff or 99
    pairs = sorted(
        {
            (query, doc)
            for run in (first, second)
            for query, scores in run.items()
            for doc in list(scores)[:last]
            if doc not in labels[query]
        }
    )
    ways = np.array(list(product([0.0, 1.0, 2.0], repeat=len(pairs)))).reshape(3 ** len(pairs), len(pairs))
    means = []
    for run in (first, second):
        values = []
        for query, grades in labels.items():
            order = list(run.get(query, {}))
            by_key = {at: float(grades[doc]) for at, doc in enumerate(order, 1) if doc in grades}
            base = JudgedRankings.of((len(order), by_key, list(map(float, grades.values()))))
            base = chosen(base, np.zeros(len(ways), dtype=np.int64))
            own = [at for at, (of, _) in enumerate(pairs) if of == query]
            way, place = np.nonzero(ways[:, own])
            ranks = [order.index(pairs[at][1]) + 1 if pairs[at][1] in order else 0 for at in own]
            new = Grading(way, np.array(ranks, dtype=np.int64)[place], ways[:, own][way, place])
            values.append(metric(graded(base, new)))
        means.append(np.mean(values, axis=0))
    return means[1] - means[0], np.count_nonzero(ways, axis=1)


def check_each(check, names, drawn):
    """One try for all metrics: to draw two runs for each takes longer than the search. A failure names the metric."""
    labels, first, second = drawn
    if not first or not second:
        return
    for name in names:
        try:
            check(name, labels, first, second)
        except BaseException as error:
            error.add_note(name)
            raise


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(drawn=two_runs())
def test_no_way_to_judge_turns_it_with_fewer(drawn):
    check_each(check_that_no_way_turns_it_with_fewer, EXACT, drawn)


def check_that_no_way_turns_it_with_fewer(name, labels, first, second):
    metric = parse_metric(name)
    result = turning(Qrels.from_dict(labels), Run.from_dict(first, "a"), Run.from_dict(second, "b"), metric)
    differences, numbers = tried(metric, labels, first, second)
    assert result.difference == pytest.approx(differences[0], abs=1e-12)
    if abs(differences[0]) <= TIE:
        assert (result.winner, result.turns, result.pairs) == (None, None, ())
        return
    assert result.winner == ("b" if differences[0] > 0 else "a")
    turned = -differences * np.sign(differences[0]) > TIE
    assert result.turns == bool(turned.any())
    farthest = float((-differences * np.sign(differences[0])).max()) + abs(differences[0])
    if result.exact and not result.turns:
        assert result.most == pytest.approx(farthest, abs=1e-9)
    if turned.any():
        assert result.exact
        assert len(result.pairs) == numbers[turned].min() == result.at_least
        assert result.difference_after * np.sign(differences[0]) < -TIE


# Documents that one run alone returned raise the R of the other run too.
LABELS = {"q1": {"a": 0, "b": 0, "c": 0, "g": 2}, "q2": {"a": 1, "b": 0, "e": 1}}


@example(
    (LABELS, {"q2": {"a": 2.0, "c": 1.0}}, {"q1": {"a": 3.0, "d": 2.0, "e": 1.0}, "q2": {"c": 3.0, "d": 2.0, "a": 1.0}})
)
@settings(max_examples=25, deadline=None)
@given(drawn=two_runs())
def test_an_unfinished_search_reports_limits(drawn):
    """With next to no work allowed, the answer may be larger; the least number and the farthest move still hold."""
    check_each(
        check_the_limits_of_an_unfinished_search, ["AP", "AP@2", "ERR(max_rel=2)@3", "Rprec", "nDCG@3", "R@3"], drawn
    )


def check_the_limits_of_an_unfinished_search(name, labels, first, second):
    metric = parse_metric(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.decisions.trial_grades.MOST_ROWS", 40)
        patch.setattr("assay.decisions.trial_grades.DEEPEST", 1)
        patch.setattr("assay.decisions.trial_grades.EACH_OF_FIRST", 1)
        patch.setattr("assay.decisions.decision_critical.MOST_WORK", 0)
        a, b = Run.from_dict(first, "a"), Run.from_dict(second, "b")
        result = turning(Qrels.from_dict(labels), a, b, metric)
    differences, numbers = tried(metric, labels, first, second)
    if result.winner is None:
        return
    moved = -differences * np.sign(differences[0]) + abs(differences[0])
    turned = -differences * np.sign(differences[0]) > TIE
    assert moved.max() <= result.most + 1e-12
    if result.turns:
        assert result.at_least <= numbers[turned].min() <= len(result.pairs)
        assert result.exact == (result.at_least == len(result.pairs))
        assert result.difference_after * np.sign(differences[0]) < -TIE
    elif result.turns is False:
        assert not turned.any()


@pytest.mark.parametrize("name", ["nDCG@3", "AP"])
@settings(max_examples=15, deadline=None)
@given(drawn=two_runs())
def test_the_pairs_turn_it_when_they_are_judged_so(name, drawn):
    labels, first, second = drawn
    if not first or not second:
        return
    a, b = Run.from_dict(first, "a"), Run.from_dict(second, "b")
    result = turning(Qrels.from_dict(labels), a, b, name)
    for pair in result.pairs:
        assert pair.doc_id not in labels[pair.query_id]
        labels[pair.query_id][pair.doc_id] = pair.grade
    means = [run.metrics[name].mean for run in evaluate(Qrels.from_dict(labels), [a, b], name).runs]
    if result.pairs:
        assert ("a" if means[0] > means[1] else "b") != result.winner
        assert means[1] - means[0] == pytest.approx(result.difference_after, abs=1e-12)


def many_queries(number, *, judged, metric_ranks=20):
    """Every query: run a returns x0.., run b y0..; the first so many documents of each are judged alike."""
    first = {f"q{n}": {f"x{at}": -float(at) for at in range(metric_ranks)} for n in range(number)}
    second = {f"q{n}": {f"y{at}": -float(at) for at in range(metric_ranks)} for n in range(number)}
    labels = {
        f"q{n}": {f"{side}{at}": int(side == "x") for side in "xy" for at in range(judged)} for n in range(number)
    }
    return Qrels.from_dict(labels), Run.from_dict(first, "a"), Run.from_dict(second, "b")


def test_pairs_are_spread_over_as_many_queries_as_it_takes():
    """P@10, 40 queries: a leads by 1 of 10 in each, in all by 40 of 400. 41 documents of b must be relevant."""
    result = turning(*many_queries(40, judged=1), "P@10")
    assert (result.winner, result.turns, result.exact, len(result.pairs)) == ("a", True, True, 41)
    assert result.unjudged == 40 * 18
    assert result.hours(20.0) == pytest.approx(41 * 20 / 3600)


def test_greedy_answers_tell_that_they_may_not_be_the_fewest():
    """AP over 20 ranks with 38 unjudged documents a query: nobody tries 2^38 ways."""
    result = turning(*many_queries(3, judged=1), "AP")
    assert result.turns
    assert result.at_least <= len(result.pairs)
    assert result.exact == (result.at_least == len(result.pairs))
    assert result.exact or "fewer pairs may be enough" in result.reason
    assert result.difference_after > 0


def test_irreversible_decisions_are_reported():
    """All that both runs return is judged, or the rest is too little."""
    qrels, a, b = many_queries(5, judged=20)
    result = turning(qrels, a, b, "nDCG@10")
    assert (result.turns, result.unjudged, result.most) == (False, 0, 0.0)
    assert result.reason == "no judgments of the returned documents can reverse this result"
    nearly = turning(*many_queries(5, judged=9), "P@10")
    assert (nearly.turns, nearly.pairs) == (False, ())
    assert nearly.most == pytest.approx(0.1)


def test_level_runs_have_no_winner():
    qrels, a, _ = many_queries(3, judged=1)
    result = turning(qrels, a, a.named("b"), "P@10")
    assert (result.winner, result.turns, result.pairs) == (None, None, ())
    assert "tied" in result.reason


def test_skipped_queries_are_left_alone():
    qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"a": 1}})
    first = Run.from_dict({"q1": {"a": 2.0}, "q2": {"a": 1.0}}, "first")
    second = Run.from_dict({"q1": {"b": 2.0}}, "second")
    zero, skip = (turning(qrels, first, second, "P@1", missing=missing) for missing in ("zero", "skip"))
    assert (zero.queries, zero.turns) == (2, False)
    assert (skip.queries, skip.difference, skip.turns) == (1, -1.0, False)


def test_one_relevant_document_at_the_top_decides_the_reciprocal_rank():
    qrels = Qrels.from_dict({"q1": {"a": 1}})
    first = Run.from_dict({"q1": {"x": 3.0, "a": 2.0}}, "first")
    second = Run.from_dict({"q1": {"y": 3.0, "z": 2.0}}, "second")
    (pair,) = turning(qrels, first, second, "RR@10").pairs
    assert (pair.query_id, pair.doc_id, pair.grade, pair.rank_a, pair.rank_b) == ("q1", "y", 1.0, None, 1)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("Judged@10", "the response of Judged@10"),
        ("Bpref", "the response of Bpref"),
        ("nDCG(judged_only=True)@10", "the response of nDCG"),
        ("GMAP", "not an arithmetic mean"),
        ("P@5,10", "one metric, not 2"),
    ],
)
def test_metrics_that_cannot_be_requested(metric, message):
    with pytest.raises(NotValid, match=message):
        turning(*many_queries(2, judged=1), metric)


def test_json_has_plain_names_and_the_hours():
    summary = turning(*many_queries(40, judged=1), "P@10").as_json(seconds=30.0)
    assert (summary["number"], summary["seconds"], summary["hours"]) == (41, 30.0, pytest.approx(41 * 30 / 3600))
    assert set(summary["pairs"][0]) == {"query_id", "doc_id", "grade", "rank_a", "rank_b"}
    assert {"metric", "a", "b", "difference", "winner", "turns", "exact", "at_least", "most", "unjudged"} < set(summary)
