"""Tests of doubts about rankings from ties and unjudged documents."""

from __future__ import annotations

from assay.core import Qrels, Run
from assay.scoring.diagnostics import open_pairs, tie_doubts
from assay.significance.compare import compare_scores
from evaluation import evaluate

QUERIES = [f"q{n:02}" for n in range(20)]


def test_ties_that_move_a_mean_past_its_interval():
    """In each of 20 queries the one relevant document shares the first score with nine others."""
    documents = "abcdefghij"
    qrels = Qrels.from_dict({query: {"a": 1} for query in QUERIES})
    tied = Run.from_dict({query: dict.fromkeys(documents, 1.0) for query in QUERIES}, "tied")
    (one,) = tie_doubts(evaluate(qrels, tied, "RR@5", level=0.95))
    assert (one.run, one.metric, one.low, one.high, one.queries, one.others) == ("tied", "RR@5", 0.0, 1.0, 20, ())


def test_ties_without_an_interval_and_without_another_run_are_no_doubt():
    qrels = Qrels.from_dict({"q": {"a": 1}})
    assert tie_doubts(evaluate(qrels, Run.from_dict({"q": {"a": 1.0, "b": 1.0}}), "P@1")) == []


def pair(judged):
    """Run a finds one good and one bad document, run b two others, which are judged, and bad, in so many queries."""
    bad = {"bad": 0, "other": 0, "another": 0}
    labels = {query: {"good": 1, **(bad if at < judged else {"bad": 0})} for at, query in enumerate(QUERIES)}
    a = Run.from_dict({query: {"good": 2.0, "bad": 1.0} for query in QUERIES}, "a")
    b = Run.from_dict({query: {"other": 2.0, "another": 1.0} for query in QUERIES} | {"unjudged": {"bad": 1.0}}, "b")
    scored = evaluate(Qrels.from_dict(labels), [a, b], "P@2")
    return compare_scores(scored), scored


def test_a_difference_that_missing_judgments_could_undo():
    result, scored = pair(judged=0)
    assert result.pairs[0].differs(0.05)
    (one,) = open_pairs(result, scored, 0.05)
    assert ((one.a.low, one.a.high), (one.b.low, one.b.high)) == ((0.5, 0.5), (0.0, 1.0))
    assert "a, b: P@2 differs" in one.sentence
    assert "0.0000 to 1.0000; these ranges overlap" in one.sentence


def test_a_fully_judged_difference_has_no_doubt():
    result, scored = pair(judged=20)
    assert result.pairs[0].differs(0.05)
    assert open_pairs(result, scored, 0.05) == []
