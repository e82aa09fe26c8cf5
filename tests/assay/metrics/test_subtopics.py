"""Tests of alpha-nDCG and ERR-IA against ndeval, the program of the TREC Web Track."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core import Qrels, Run
from assay.core.errors import NotValid
from assay.metrics.judged_rankings import match
from assay.metrics.metric import parse_metric
from evaluation import evaluate
from tests.assay.metrics.generated_cases import DOCUMENTS, QUERIES, Judged, ranked, rankings

# A document and its grades for subtopics 1 to 4; a point is a subtopic for which nobody judged it.
LABELS = {
    "q1": "d0:0222 d1:2101 d2:.21. d3:.20. d4:11.. d5:..2. d6:0.1.",
    "q2": "d0:1... d1:1111 d2:0.2. d3:.0.. d5:..20 d6:..0. d7:.0.0",
    "q3": "d0:.0.. d1:1... d2:.1.. d3:011. d4:211. d5:.02. d7:...0",
    "q4": "d0:.021 d2:1.1. d3:..1. d4:..1. d6:20.. d7:.2..",
    "q5": "d1:0... d2:.0..",
}
RUN = {
    "q1": "d7 d5 d4 d3 d6 d1 u2",
    "q2": "u2 d1 d7 d0 u3 d2 d6",
    "q3": "d6 d1 d7 u3 d0 u2 u1",
    "q4": "d4 u1 d5 d2 d7 d1 u3",
    "q5": "d1",
}
SubtopicLabels = list[tuple[str, str, str, float]]


def labels_of(labels: dict[str, str]) -> SubtopicLabels:
    return [
        (query_id, str(subtopic), doc_id, float(grade))
        for query_id, documents in labels.items()
        for doc_id, grades in (document.split(":") for document in documents.split())
        for subtopic, grade in enumerate(grades, 1)
        if grade != "."
    ]


def scores(lists: dict[str, str]) -> Judged:
    return {query_id: {d: -float(at) for at, d in enumerate(ids.split())} for query_id, ids in lists.items()}


def values(rows: SubtopicLabels, run: Judged, metric: str) -> list[float]:
    evaluation = evaluate(Qrels.from_subtopics(rows), Run.from_dict(run, "run"), metric)
    return evaluation.runs[0].per_query[evaluation.metrics[0]].tolist()


@pytest.mark.parametrize(
    ("metric", "theirs"),
    [
        ("alpha_nDCG@1", [0.0, 0.0, 0.0, 0.5, 0.0]),
        ("alpha_nDCG@3", [0.35173154395967116, 0.5527846741562558, 0.16257180460193568, 0.29015829794754516, 0.0]),
        ("alpha_nDCG@5", [0.40771500622626805, 0.5861285560752678, 0.15443856893071517, 0.5408798168704388, 0.0]),
        ("alpha_nDCG@10", [0.525454213022171, 0.6242407935871017, 0.1544385689307152, 0.5345470961179253, 0.0]),
        (
            "alpha_nDCG(alpha=0.2)@5",
            [0.3701497557379181, 0.5536779217934841, 0.1279074208904774, 0.5113937048056205, 0],
        ),
        ("alpha_nDCG(alpha=0)@5", [0.3428736549679458, 0.5312126401635676, 0.11308223319704007, 0.4909401638516249, 0]),
        ("ERR_IA@2", [0.1, 0.4, 0.13333333333333333, 0.2, 0.0]),
        ("ERR_IA@5", [0.2526475037821483, 0.3857791225416037, 0.12102874432677763, 0.2859304084720121, 0.0]),
        ("ERR_IA@20", [0.3035671005753227, 0.39824396857653727, 0.12022459428725653, 0.28403060400364355, 0.0]),
    ],
)
def test_ndeval_agrees(metric: str, theirs: list[float]) -> None:
    """From pyndeval 0.0.8 on the same case."""
    assert values(labels_of(LABELS), scores(RUN), metric) == pytest.approx(theirs, abs=1e-12)


def test_err_ia_at_1_is_divided_which_ndeval_forgets() -> None:
    """pyndeval 0.0.8 gives q4 1.0, the number of subtopics that the first document is about; it has four."""
    assert values(labels_of(LABELS), scores(RUN), "ERR_IA@1") == [0.0, 0.0, 0.0, 0.25, 0.0]


def test_of_equal_documents_the_ideal_takes_the_largest_id() -> None:
    """pyndeval 0.0.8; with the smallest id first it would be 0.7832."""
    rows = labels_of({"q": "a:..1. b:..11 c:11.. d:1.1."})
    assert values(rows, scores({"q": "a b c d"}), "alpha_nDCG@3") == pytest.approx([0.7970995862182803], abs=1e-12)


Judgments = dict[tuple[str, str, str], int]
JUDGED = st.dictionaries(
    st.tuples(st.sampled_from(QUERIES), st.sampled_from("123"), st.sampled_from(DOCUMENTS)),
    st.integers(-1, 2),
    min_size=1,
    max_size=20,
)


def slow_gains(order: list[str], about: dict[str, set[str]], alpha: float) -> list[float]:
    seen: dict[str, int] = {}
    gains = []
    for doc_id in order:
        gains.append(sum((1 - alpha) ** seen.get(subtopic, 0) for subtopic in about.get(doc_id, ())))
        for subtopic in about.get(doc_id, ()):
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return gains


def slow_ideal(about: dict[str, set[str]], alpha: float) -> list[str]:
    order: list[str] = []
    while len(order) < len(about):
        left = sorted(set(about) - set(order), key=str.encode, reverse=True)
        order.append(max(left, key=lambda doc_id: slow_gains([*order, doc_id], about, alpha)[-1]))
    return order


@settings(max_examples=50)
@given(JUDGED, rankings(), st.sampled_from([0.5, 0.25]), st.integers(1, 5), st.integers(1, 2))
def test_they_are_the_definitions(judged: Judgments, run: Judged, alpha: float, k: int, rel: int) -> None:
    rows = [(*key, float(grade)) for key, grade in judged.items()]
    qrels = Qrels.from_subtopics(rows)
    names = [f"alpha_nDCG(alpha={alpha},rel={rel})@{k}", f"ERR_IA(rel={rel})@{k}"]
    evaluation = evaluate(qrels, Run.from_dict(run, "run"), names)
    for at, query_id in enumerate(qrels.query_ids):
        about: dict[str, set[str]] = {}
        for (query, subtopic, doc_id), grade in judged.items():
            if query == query_id and grade >= rel:
                about.setdefault(doc_id, set()).add(subtopic)
        mine, best = ranked(run[query_id])[:k], slow_ideal(about, alpha)[:k]
        dcg = [sum(g / math.log2(i + 1) for i, g in enumerate(slow_gains(o, about, alpha), 1)) for o in (mine, best)]
        expected = dcg[0] / dcg[1] if dcg[1] else 0.0
        assert evaluation.runs[0].per_query[evaluation.metrics[0]][at] == pytest.approx(expected, abs=1e-12)
        total = sum(g / i for i, g in enumerate(slow_gains(mine, about, 0.5), 1))
        most = len(set().union(*about.values())) * sum(0.5 ** (i - 1) / i for i in range(1, k + 1))
        assert evaluation.runs[0].per_query[evaluation.metrics[1]][at] == pytest.approx(
            total / most if most else 0, abs=1e-12
        )


def test_queries_of_the_run_may_have_any_order() -> None:
    rows, run = labels_of(LABELS), Run.from_dict(scores(RUN), "run")
    qrels = Qrels.from_subtopics(rows)
    assert match(qrels, run).rankings.condensed().by_subtopic.document.max() < len(match(qrels, run).rankings.ranks)
    backwards = {query_id: scores(RUN)[query_id] for query_id in reversed(RUN)}
    assert values(rows[::-1], backwards, "alpha_nDCG@5") == values(rows, scores(RUN), "alpha_nDCG@5")


def test_a_query_that_is_not_answered_scores_0() -> None:
    rows = labels_of({"q1": "a:1", "q2": "b:1"})
    assert values(rows, {"q2": {"b": 1.0}}, "alpha_nDCG@5") == [0.0, 1.0]


def test_other_metrics_see_the_largest_grade_of_a_document() -> None:
    rows = labels_of({"q": "a:13 b:2."})
    result = values(rows, {"q": {"b": 2.0, "a": 1.0}}, "nDCG@2")
    assert result == pytest.approx([(2 + 3 / math.log2(3)) / (3 + 2 / math.log2(3))])


@pytest.mark.parametrize("metric", ["alpha_nDCG@10", "ERR_IA@5"])
def test_labels_that_tell_no_subtopics_are_refused_before_a_run_is_read(metric: str) -> None:
    with pytest.raises(NotValid, match=rf"the metric {metric} needs labels by subtopic.*--subtopics"):
        evaluate(Qrels.from_dict({"q": {"a": 1}}), [], metric)


@pytest.mark.parametrize("name", ["alpha_nDCG", "ERR_IA", "alpha_nDCG(alpha=1.5)@5", "alpha_nDCG(alpha=half)@5"])
def test_refused_input(name: str) -> None:
    with pytest.raises(NotValid, match=r"needs a cutoff|alpha must be a number from 0 to 1"):
        parse_metric(name)


def test_other_spellings() -> None:
    assert parse_metric("alpha-nDCG@20").name == parse_metric("ALPHA_NDCG_20").name == "alpha_nDCG@20"
    assert parse_metric("err-ia@5").name == "ERR_IA@5"
    assert parse_metric("alpha_nDCG(alpha=0)@5").name == "alpha_nDCG(alpha=0)@5"
