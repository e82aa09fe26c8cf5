"""Tests of change reports: the order of the queries, both lists, the newcomers, and safe static pages."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.decisions import change_report_markdown
from assay.decisions.change_report import ChangeReport, change_report
from assay.decisions.change_report_html import as_html
from assay.decisions.change_report_markdown import as_markdown
from assay.decisions.gate import gate
from assay.scoring.evaluate import evaluate

RULES = ["drop(nDCG@3) <= 0.01", "Judged@3 >= 0.9"]
QRELS = {"q1": {"a": 3, "b": 1}, "q2": {"a": 1, "c": 0}, "q3": {"a": 2}, "q4": {"a": 1}}
OLD = {query_id: {"a": 3.0, "b": 2.0, "c": 1.0} for query_id in (*QRELS, "q9")}
NEW = {
    "q1": {"b": 3.0, "a": 2.0, "x": 1.0},
    "q2": {"c": 3.0, "x": 2.0, "a": 1.0},
    "q3": {"a": 3.0, "b": 2.0, "c": 1.0},
    "q9": {"x": 1.0},
}


def report_of(
    qrels: dict[str, dict[str, float]] = QRELS,
    old: dict[str, dict[str, float]] = OLD,
    new: dict[str, dict[str, float]] = NEW,
    rules: list[str] = RULES,
    names: tuple[str, str] = ("old", "new"),
    **options: object,
) -> ChangeReport:
    labels, runs = Qrels.from_dict(qrels), (Run.from_dict(old, names[0]), Run.from_dict(new, names[1]))
    missing = options.get("missing", "zero")
    verdict = gate(labels, *runs, rules, missing=missing)  # type: ignore[arg-type]
    return change_report(verdict, labels, *runs, **options)  # type: ignore[arg-type]


def test_changed_queries_are_ranked_by_expected_loss() -> None:
    report = report_of()
    assert report.changed[0].query_id == "q4"  # the candidate does not answer it
    losses = [query.expected_loss for query in report.changed]
    assert losses == sorted(losses, reverse=True)
    assert {query.query_id for query in report.changed} == {"q1", "q2", "q4"}
    assert report.unlabeled == 1


def test_both_lists_have_grades_and_the_other_ranks() -> None:
    (query,) = [query for query in report_of().changed if query.query_id == "q1"]
    assert [(one.doc_id, one.rank, one.grade, one.other_rank) for one in query.before] == [
        ("a", 1, 3.0, 2),
        ("b", 2, 1.0, 1),
        ("c", 3, None, None),
    ]
    assert [(one.doc_id, one.grade, one.other_rank) for one in query.after][2] == ("x", None, None)


def test_newcomers_are_unjudged_and_only_in_the_candidate() -> None:
    report = report_of(seconds=90)
    assert {(query.query_id, one.doc_id) for query, one in report.newcomers} == {("q1", "x"), ("q2", "x")}
    assert report.minutes == pytest.approx(3.0)


def test_fully_judged_runs_have_the_observed_losses() -> None:
    judged = {query_id: {"a": 2, "b": 1, "c": 0, "x": 1} for query_id in QRELS}
    report = report_of(qrels=judged)
    assert all(query.expected_loss == pytest.approx(query.loss, abs=1e-12) for query in report.changed)
    assert report.expected_loss == pytest.approx(report.means[0] - report.means[1], abs=1e-12)
    assert report.newcomers == []


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(0, 2))
def test_expected_losses_are_possible_and_their_mean_adds_up(seed: int, queries: int, share: int) -> None:
    chance = np.random.default_rng(seed)
    documents = [f"d{number}" for number in range(8)]

    def run() -> dict[str, dict[str, float]]:
        return {
            f"q{query}": {str(doc): 9.0 - rank for rank, doc in enumerate(chance.permutation(documents)[:5])}
            for query in range(queries)
        }

    old, new = run(), run()
    judged = {}
    for query_id in old:
        known = {*documents[: 2 + 3 * share], next(iter(old[query_id])), next(iter(new[query_id]))}
        judged[query_id] = {document: float(chance.integers(0, 4)) for document in sorted(known)}
    report = report_of(qrels=judged, old=old, new=new, rules=["drop(nDCG@5) <= 0"])
    assert all(-1 <= query.expected_loss <= 1 for query in report.changed)
    total = sum(query.weight * query.expected_loss for query in report.changed)
    assert report.expected_loss == pytest.approx(total, abs=1e-12)


def test_the_run_with_more_unjudged_documents_is_named() -> None:
    report, swapped = report_of(), report_of(old=NEW, new=OLD)
    assert (report.unjudged, swapped.unjudged) == ((4, 2), (2, 4))
    assert "favors old" in as_markdown(report)
    assert "favors new" in as_markdown(swapped)
    judged = {query_id: {"x": 0, "a": 0, "b": 0, "c": 0} | grades for query_id, grades in QRELS.items()}
    assert "favors" not in as_markdown(report_of(qrels=judged))
    assert "favors" not in as_markdown(report_of(new={**NEW, "q4": {"x": 1.0, "y": 1.0}}))


def test_weights_change_the_order() -> None:
    equal = [query.query_id for query in report_of().changed]
    weighted = report_of(weights={"q1": 0.98, "q2": 0.01, "q3": 0.0, "q4": 0.01})
    assert equal[0] == "q4"
    assert weighted.changed[0].query_id == "q1"
    with pytest.raises(NotValid):
        report_of(weights={"q9": 1.0})


def test_the_means_and_the_interval_are_those_of_the_library() -> None:
    report = report_of()
    scored = evaluate(Qrels.from_dict(QRELS), [Run.from_dict(OLD, "o"), Run.from_dict(NEW, "n")], "nDCG@3")
    assert report.metric == "nDCG@3"
    assert report.means == tuple(run.metrics["nDCG@3"].mean for run in scored.runs)
    # Four queries are too few for an interval, and the report says so.
    assert report.comparison.low is None
    assert report.comparison.reason is not None
    assert report.comparison.reason.split(":")[0].capitalize() in as_html(report)


def test_queries_that_a_run_does_not_answer_may_be_skipped() -> None:
    assert "q4" not in {query.query_id for query in report_of(missing="skip").changed}


def test_a_metric_whose_response_is_unknown_has_observed_losses() -> None:
    report = report_of(rules=["drop(Bpref) <= 0.5"], metric="Bpref")
    assert report.turning is None
    assert all(query.expected_loss == query.loss for query in report.changed)


class Page(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_is_static_and_complete() -> None:
    page = Page(as_html(report_of(query_texts={"q1": "rain jacket"}, titles={"x": "Fell jacket"})))
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href")]
    assert page.tags.count("details") == 3
    assert {"rain jacket ", "Fell jacket"} <= set(page.texts)


HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(1)>\"'`|*_"


def test_untrusted_text_is_escaped_everywhere() -> None:
    hostile = {
        "query_texts": {"q1": HOSTILE, "q2": HOSTILE},
        "titles": {"a": HOSTILE, "x": HOSTILE},
        "names": (f"{HOSTILE}1", f"{HOSTILE}2"),
    }
    plain = report_of()
    report = report_of(**hostile)  # type: ignore[arg-type]
    assert Page(as_html(report)).tags.count("td") == Page(as_html(plain)).tags.count("td")
    assert not {"script", "img"} & set(Page(as_html(report)).tags)
    text = as_markdown(report)
    assert "<script" not in text
    assert "<img" not in text
    assert not re.search(r"(?<!\\)\*_", text)


def test_ids_may_contain_anything() -> None:
    odd = 'd"<b>|`\\'
    report = report_of(new={**NEW, "q1": {odd: 9.0, "a": 1.0}})
    assert "<b>|" not in as_html(report)
    assert r"\|" in as_markdown(report)


def test_runs_of_the_same_name_are_told_apart() -> None:
    report = report_of(names=("build", "build"))
    assert report.names == ("build (baseline)", "build (candidate)")


def test_equal_runs_have_no_changed_queries() -> None:
    report = report_of(new=OLD)
    assert (report.changed, report.newcomers, report.unlabeled) == ((), [], 0)
    assert "details" not in Page(as_html(report)).tags
    assert "|" not in as_markdown(report)


def test_a_long_markdown_report_stays_within_a_comment(monkeypatch: pytest.MonkeyPatch) -> None:
    long = {f"q{query}": {f"d{'x' * 400}{rank}": 10.0 - rank for rank in range(10)} for query in range(40)}
    other = {query_id: {f"{doc}y": score for doc, score in docs.items()} for query_id, docs in long.items()}
    qrels = {query_id: {f"d{'x' * 400}0": 1.0, f"d{'x' * 400}0y": 1.0} for query_id in long}
    report = report_of(qrels=qrels, old=long, new=other, rules=["drop(nDCG@10) <= 0"])
    whole = as_markdown(report)
    assert len(whole) <= change_report_markdown.MOST_CHARACTERS
    assert whole.count("<details>") == whole.count("</details>")


def test_unusable_seconds_are_refused() -> None:
    for seconds in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(NotValid):
            report_of(seconds=seconds)
