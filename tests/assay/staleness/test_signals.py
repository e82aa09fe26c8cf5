"""Tests of freshness signals: values, warnings, actions, and no fresh verdict without data."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.run import Run
from assay.staleness import SIGNALS
from assay.staleness.actions import ACTIONS, holes, overlap
from assay.staleness.report import look
from assay.staleness.signal import Declared, Facts, Known, Missing, RunHoles, Traffic, Values
from assay.staleness.traffic_curve import bins, psi
from assay.staleness.unjudged_documents import count_holes, first_ones


def run_with(mean, name="new", sha256="a"):
    return RunHoles(name, sha256, holes=1, returned=2, queries=3, mean=mean, p90=mean)


def facts(now=None, then=None, **more):
    return Facts(then=Known(**(then or {})), now=Known(**(now or {})), **more)


def state(name, *args, **more):
    return SIGNALS[name].find(facts(*args, **more)).state


def test_nothing_known_is_never_fresh():
    report = look(facts())
    assert {one.state for one in report.findings if one.signal.name not in ("schema", "embedding")} == {"unknown"}
    assert all(one.reason for one in report.unknown)
    # What nobody declared did not happen, as far as anybody knows: that is all these two can say.
    assert report["schema"].words == "no schema change was recorded since"


def test_labels_are_not_fresh_while_unjudged_counts_are_missing():
    grown = {"documents": 100}
    assert look(facts(grown, grown, days=1.0)).state == "unknown"
    assert look(facts({**grown, "runs": [run_with(0.1)]}, grown, days=1.0)).state == "fresh"
    assert look(facts({"documents": 200}, grown)).state == "stale"


def test_unjudged_documents_are_not_stale():
    """Runs that had these holes on the day of the freeze make labels incomplete; anything that came since, stale."""
    then = {"runs": [run_with(0.8, "old"), run_with(0.1, "good", "b")], "documents": 100}
    same = {**then, "documents": 100}
    result = look(facts(same, then, days=1.0))
    assert (result.state, result.incomplete) == ("stale", True)
    assert result["unjudged"].words.endswith("unchanged since the labels were frozen")
    worse = look(facts({**same, "runs": [run_with(0.9, "old")]}, then))
    assert (worse.incomplete, "frozen" in worse["unjudged"].words) == (False, False)
    came = look(facts({**same, "runs": [*then["runs"], run_with(0.5, "new", "c")]}, then))
    assert (came.incomplete, came["unjudged"].words.endswith("unchanged since the labels were frozen")) == (False, True)
    newest = look(facts({**same, "runs": [run_with(0.9, "new", "c")]}, then))
    assert newest["unjudged"].words.endswith("the run was added after the labels were frozen")
    # Where nothing is unjudged there is nothing to say of when it came.
    none = {"runs": [RunHoles("old", "a", 0, 2, 1, 0.0, 0.0)]}
    assert look(facts(none, none))["unjudged"].words.endswith("the mean over 1 query")
    # Another signal, an engine's reply without a file, no baseline, or nothing that asks: none of them is incomplete.
    for now, before in (
        ({**same, "documents": 200}, then),
        ({"runs": [run_with(0.8, "live", "")]}, {"runs": [run_with(0.8, "live", "")]}),
        (same, {}),
        ({"runs": [run_with(0.1)]}, {"runs": [run_with(0.1)]}),
    ):
        assert not look(facts(now, before)).incomplete


def test_every_signal_has_an_action_and_says_where_its_thresholds_come_from():
    for name in SIGNALS:
        signal = SIGNALS[name]
        assert signal.name == name
        assert signal.action in ACTIONS
        assert all((signal.source, signal.baseline, signal.measures))
        assert (signal.warn, signal.stale) != (None, None)


@pytest.mark.parametrize(
    ("mean", "expected"), [(0.0, "fresh"), (0.2, "fresh"), (0.21, "warn"), (0.3, "warn"), (0.31, "stale")]
)
def test_unjudged_warns_above_a_fifth_and_is_stale_above_three_tenths(mean, expected):
    assert state("unjudged", {"runs": [run_with(mean), run_with(0.0, "old", "b")]}) == expected


def test_unjudged_tells_the_share_that_a_run_had_at_the_freeze():
    result = SIGNALS["unjudged"].find(
        facts({"runs": [run_with(0.4), run_with(0.1, "old", "b")]}, {"runs": [run_with(0.05, "was", "b")]})
    )
    assert (result.now, result.then) == (0.4, 0.05)
    assert [(one["run"], one["baseline"]) for one in result.detail] == [("new", None), ("old", 0.05)]


def test_a_run_that_answers_no_judged_query_is_no_fresh_run():
    silent = count_holes({"q1": {"d1"}}, [("q9", ["d1"])], "silent")
    assert (silent.mean, silent.reason) == (None, "it answers no judged query")
    assert SIGNALS["unjudged"].find(facts({"runs": [silent]})).reason == "silent: it answers no judged query"


def test_holes_are_counted_in_the_first_ten_of_each_query_as_judged_at_10_is():
    """Against the metric of the same name, which is held to ir_measures elsewhere."""
    from assay.core.qrels import Qrels
    from assay.scoring.evaluate import evaluate

    dice = random.Random(5)
    ranked = {
        f"q{q}": {f"d{d}": float(dice.random()) for d in dice.sample(range(60), dice.randint(1, 25))} for q in range(30)
    }
    judged = {f"q{q}": {f"d{d}": 1 for d in dice.sample(range(60), 20)} for q in range(20)}
    run = Run.from_dict(ranked, "new")
    scored = evaluate(Qrels.from_dict(judged), [run], ["Judged@10"], ranges=False).runs[0]
    result = count_holes(judged, first_ones(run), "new")
    assert result.mean == pytest.approx(1 - scored.metrics["Judged@10"].mean)
    assert result.holes == scored.diagnostics.as_json()["holes@10"]
    assert result.queries == 20
    assert RunHoles.from_json(result.as_json()) == result


def test_p90_is_the_share_that_nine_in_ten_queries_stay_within():
    judged = {f"q{n}": {"j"} for n in range(10)}
    answers = [(f"q{n}", ["j"] * (10 - n) + ["x"] * n) for n in range(10)]
    result = count_holes(judged, answers, "new")
    assert result.p90 == 0.8
    assert result.worst[0] == ("q9", 9, 10)


@pytest.mark.parametrize(("now", "expected"), [(100, "fresh"), (120, "fresh"), (121, "stale"), (10, "fresh")])
def test_growth_is_stale_above_a_fifth(now, expected):
    assert state("growth", {"documents": now}, {"documents": 100}) == expected


def test_growth_from_nothing_is_not_known():
    assert SIGNALS["growth"].find(facts({"documents": 5}, {"documents": 0})).state == "unknown"


def test_changed_documents_are_those_with_another_hash_and_gone_ones_are_none_of_them():
    then = {"hashes": {"d1": "a", "d2": "b", "d3": "c"}}
    result = SIGNALS["changed"].find(facts({"hashes": {"d1": "a", "d2": "x"}}, then))
    assert result.now == pytest.approx(1 / 3)
    assert [one["doc_id"] for one in result.detail] == ["d2"]
    assert state("gone", gone=["d3"], judged=3) == "stale"
    assert state("gone", gone=["d3"], judged=30) == "warn"
    assert state("gone", gone=[], judged=3) == "fresh"
    many = {"hashes": {f"d{n}": "a" for n in range(100)}}
    assert state("changed", {"hashes": {**many["hashes"], "d1": "x"}}, many) == "warn"


def test_a_declaration_counts_while_ratings_are_older():
    on = datetime(2026, 11, 3, tzinfo=UTC)
    assert state("schema", declared=[Declared("schema", on, "new analyzer")]) == "stale"
    assert state("schema", declared=[Declared("embedding", on)]) == "fresh"
    assert state("embedding", declared=[Declared("embedding", on, "", 0, 40)]) == "fresh"
    result = SIGNALS["embedding"].find(facts(declared=[Declared("embedding", on, "model b", 3, 40)]))
    assert (result.state, result.now) == ("stale", 1)
    assert result.words == "embedding change of 3 Nov 2026; 3 of 40 ratings are older: model b"


def values(name="category", **counts):
    return Values(name, counts, sum(counts.values()), len(counts))


@pytest.mark.parametrize("kind", ["category", "language"])
def test_new_values_of_a_field(kind):
    then = {kind: values(shoes=50, tents=49)}
    assert state(kind, {kind: values(shoes=90, tents=9)}, then) == "fresh"
    assert state(kind, {kind: values(shoes=990, boats=1)}, then) == "warn"
    result = SIGNALS[kind].find(facts({kind: values(shoes=90, boats=10)}, then))
    assert (result.state, result.now, result.detail) == ("stale", 0.1, ({kind: "boats", "documents": 10},))
    other = SIGNALS[kind].find(facts({kind: values("type", shoes=1)}, then))
    assert (other.state, "freeze again" in other.reason) == ("unknown", True)
    on = datetime(2026, 11, 3, tzinfo=UTC)
    message = SIGNALS[kind].find(facts(declared=[Declared(kind, on, "boats")]))
    assert (message.state, message.now) == ("stale", 1.0)


def test_age_is_a_hint_and_never_more():
    assert [state("age", days=days) for days in (180.0, 181.0, 9_999.0)] == ["fresh", "warn", "warn"]


def test_the_stability_index_of_the_curve_is_the_sum_that_its_definition_says():
    assert psi([0.2, 0.8], [0.4, 0.6]) == pytest.approx(0.2 * log(2) + -0.2 * log(0.75))
    flat = [(0, 0.0), (10, 0.1), (100, 1.0)]
    steep = [(0, 0.0), (10, 0.9), (100, 1.0)]
    assert sum(bins(flat)) == pytest.approx(1.0)
    assert state("curve", {"traffic": Traffic("b", flat)}, {"traffic": Traffic("a", flat)}) == "fresh"
    assert state("curve", {"traffic": Traffic("b", steep)}, {"traffic": Traffic("a", flat)}) == "stale"


@given(st.lists(st.floats(0.001, 1.0), min_size=3, max_size=9), st.randoms())
def test_the_index_is_symmetric_and_never_negative(weights, dice):
    a = [one / sum(weights) for one in weights]
    b = a[:]
    dice.shuffle(b)
    assert psi(a, b) >= 0
    assert psi(a, b) == pytest.approx(psi(b, a))


def test_coverage_and_tiers():
    then = {"traffic": Traffic("a", [(0, 0.0), (4, 1.0)], 0.6, {"a": "head", "b": "tail", "c": "tail"})}

    def now(covered, **tiers):
        return {"traffic": Traffic("b", [(0, 0.0), (4, 1.0)], covered, tiers)}

    assert [state("coverage", now(share, a="head"), then) for share in (0.7, 0.52, 0.45)] == ["fresh", "warn", "stale"]
    assert state("tiers", now(0.6, a="head", b="tail"), then) == "fresh"
    result = SIGNALS["tiers"].find(facts(now(0.6, a="tail", b="tail"), then))
    assert (result.now, result.detail) == (0.5, ({"from": "head", "to": "tail", "queries": 1},))
    assert state("tiers", now(0.0), then) == "unknown"


def test_the_worst_signal_decides_and_unknown_ones_do_not_hide_it():
    report = look(facts({"runs": [run_with(0.25)]}, declared=[], days=3.0))
    assert report.state == "warn"
    assert [one.signal.name for one in report.asking] == ["unjudged"]
    assert [one.name for one in report.actions] == ["judge-holes"]
    observed = report.as_json()
    assert observed["signals"][0]["action"] == {"name": "judge-holes", "title": "Judge unjudged documents"}
    assert {one["reason"] is None for one in observed["signals"] if one["state"] == "unknown"} == {False}


def test_thresholds_leave_one_part_in_a_billion_to_rounding():
    assert state("unjudged", {"runs": [run_with(0.1 + 0.2)]}) == "warn"


def test_holes_are_pairs_of_judged_queries_each_once():
    judged = {"q1": {"d1"}, "q2": set()}
    rankings = [("q1", ["d2", "d1", "d3"]), ("q9", ["d9"]), ("q1", ["d3", "d4"])]
    assert holes(judged, rankings, depth=2) == [("q1", "d2"), ("q1", "d3"), ("q1", "d4")]


def test_the_overlap_is_a_fifth_by_seed_whatever_the_order():
    pairs = [(f"q{n % 7}", f"d{n}") for n in range(100)]
    drawn = overlap(pairs, seed=3)
    assert len(drawn) == 20 == len(set(drawn))
    assert drawn == overlap(pairs[::-1], seed=3)
    assert drawn != overlap(pairs, seed=4)
    assert overlap([], seed=1) == []
    assert len(overlap(pairs[:2], seed=1)) == 1


def test_missing_tells_itself_apart_from_zero():
    assert state("growth", {"documents": Missing("no documents")}, {"documents": 3}) == "unknown"
