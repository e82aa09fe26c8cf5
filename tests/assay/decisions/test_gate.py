"""Tests of gates: rules decided by the right numbers, with and without significance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.decisions.gate import gate
from assay.decisions.gate_rules import Rule, parse_rule
from assay.decisions.gate_verdicts import Verdict
from assay.metrics.metric import parse_metric
from assay.significance.compare import compare
from tests import worked_example

# One document of each query is relevant; a run is told by the rank that it gives this one (0: it is not returned).
DOCUMENTS = ["good", *(f"bad{n}" for n in range(9))]


def labels(queries: int) -> Qrels:
    return Qrels.from_dict({f"q{n:02}": {doc: float(doc == "good") for doc in DOCUMENTS} for n in range(queries)})


def ranked(ranks: Sequence[int], name: str = "run") -> Run:
    """A run whose RR is 1 / rank in each query, by the definition of RR."""
    lists: dict[str, dict[str, float]] = {}
    for n, rank in enumerate(ranks):
        order = [doc for doc in DOCUMENTS if doc != "good"]
        if rank:
            order.insert(rank - 1, "good")
        lists[f"q{n:02}"] = {doc: float(-at) for at, doc in enumerate(order)}
    return Run.from_dict(lists, name)


def one(rule: str, before: Sequence[int], after: Sequence[int], **options: object) -> Verdict:
    result = gate(labels(len(before)), ranked(before), ranked(after), rule, **options)  # type: ignore[arg-type]
    return result.verdicts[0]


def example(text: str) -> Run:
    rows = [line.split() for line in text.splitlines()]
    return Run.from_rows(((row[0], row[2], float(row[4])) for row in rows), rows[0][5])


def test_the_worked_example() -> None:
    rows = [line.split() for line in worked_example.QRELS.splitlines()]
    qrels = Qrels.from_rows((row[0], row[2], float(row[3])) for row in rows)
    bm25, neural = example(worked_example.BM25), example(worked_example.NEURAL)
    rules = ["nDCG@3 >= 0.8", "drop(nDCG@3) <= 0", "drop(nDCG@3) <= -0.09", "drop(nDCG@3) <= -11%"]
    result = gate(qrels, bm25, neural, rules)
    before, after = worked_example.NDCG_AT_3["bm25"], worked_example.NDCG_AT_3["neural"]
    assert [verdict.value for verdict in result.verdicts] == pytest.approx(
        [after, before - after, before - after, (before - after) / before], abs=2e-4
    )
    assert [verdict.passed for verdict in result.verdicts] == [True, True, False, True]
    assert (result.passed, result.failures, result.queries) == (False, 1, 1)


def test_a_candidate_alone_needs_no_baseline() -> None:
    result = gate(labels(4), None, ranked([1, 2, 4, 0]), ["RR >= 0.4375", "Success@1 < 0.25"])
    assert [verdict.value for verdict in result.verdicts] == [0.4375, 0.25]
    assert [verdict.passed for verdict in result.verdicts] == [True, False]
    assert result.verdicts[1].reason == "equal to the limit, which < does not allow"
    assert {verdict.baseline for verdict in result.verdicts} == {None}


def test_a_drop_is_what_the_baseline_had_more() -> None:
    verdict = one("drop(RR) <= 0.05", [1] * 10, [1] * 8 + [2, 4])
    assert (verdict.baseline, verdict.candidate) == (1.0, 0.875)
    assert verdict.value == pytest.approx(0.125, abs=1e-15)
    assert (verdict.passed, verdict.queries) == (False, 10)
    assert verdict.reason == "0.0750 above the limit"
    assert one("drop(RR) <= 0.05", [1] * 8 + [2, 4], [1] * 10).value == pytest.approx(-0.125, abs=1e-15)


def test_a_relative_drop_is_a_share_of_the_baseline() -> None:
    # From 1/2 to 3/8: a quarter is lost.
    verdict = one("drop(RR) <= 24%", [2] * 8, [2, 2, 2, 2, 4, 4, 4, 4])
    assert verdict.value == pytest.approx(0.25, abs=1e-15)
    assert (verdict.passed, verdict.reason) == (False, "1.00% above the limit")
    assert one("drop(RR) <= 25%", [2] * 8, [2, 2, 2, 2, 4, 4, 4, 4]).passed


def test_a_share_of_nothing_is_undefined_and_fails() -> None:
    verdict = one("drop(RR) <= 5%", [0] * 8, [0] * 8)
    assert (verdict.passed, verdict.value) == (False, None)
    assert "so a percentage of it is undefined" in str(verdict.reason)


def test_a_drop_that_equals_its_limit_up_to_rounding_passes() -> None:
    # Success@1 falls from 4 to 3 of 10: 0.4 - 0.3 is 0.10000000000000003.
    before, after = [1] * 4 + [2] * 6, [1] * 3 + [2] * 7
    assert one("drop(Success@1) <= 0.1", before, after).value == 0.4 - 0.3 > 0.1
    assert one("drop(Success@1) <= 0.1", before, after).passed
    assert one("drop(Success@1) == 0.1", before, after).passed
    assert not one("drop(Success@1) < 0.1", before, after).passed
    assert not one("drop(Success@1) <= 0.0999999", before, after).passed


def test_p_is_scipys() -> None:
    before, after = [1, 1, 2, 1, 1, 3, 2, 1, 1, 5, 1, 1], [2, 1, 3, 4, 1, 3, 1, 2, 3, 2, 1, 6]
    expected = stats.permutation_test(
        (1 / np.array(before), 1 / np.array(after)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert one("drop(RR) <= 0", before, after).p == pytest.approx(expected.pvalue, abs=1e-12)


def test_p_is_that_of_compare_also_among_other_rules() -> None:
    random = np.random.default_rng(2)
    before, after = random.integers(1, 9, 40).tolist(), random.integers(1, 9, 40).tolist()
    old, new = ranked(before, "old"), ranked(after, "new")
    result = gate(labels(40), old, new, ["drop(RR) <= 0", "drop(P@5) <= 0", "RR >= 0"], seed=7)
    pairs = compare(labels(40), [old, new], "RR P@5", design=None).pairs
    other = gate(labels(40), old, new, "drop(RR) <= 0").verdicts[0]
    assert other.p == pairs[0].p
    assert [verdict.value for verdict in result.verdicts[:2]] == pytest.approx([-p.effect.difference for p in pairs])
    # Another seed draws other signs; the Monte Carlo sd at 100,000 draws is at most .0016.
    assert [verdict.p for verdict in result.verdicts[:2]] == pytest.approx([pair.p for pair in pairs], abs=0.008)
    assert result.verdicts[2].p is None
    assert (
        result.verdicts == gate(labels(40), old, new, ["drop(RR) <= 0", "drop(P@5) <= 0", "RR >= 0"], seed=7).verdicts
    )


# Four of twelve queries lose the same: p is 2 / 2^4. Seven of twelve: 2 / 2^7.
FOUR, SEVEN = [2] * 4 + [1] * 8, [2] * 7 + [1] * 5


def test_luck_excuses_a_drop() -> None:
    verdict = one("drop(RR) <= 0.02 unless p >= 0.05", [1] * 12, FOUR)
    assert (verdict.p, verdict.passed, verdict.excused) == (0.125, True, True)
    assert "excused: p 0.125 is not below 0.05" in str(verdict.reason)
    assert not one("drop(RR) <= 0.02", [1] * 12, FOUR).passed


def test_a_p_at_the_level_excuses() -> None:
    assert one("drop(RR) <= 0.02 unless p >= 0.125", [1] * 12, FOUR).excused


def test_a_real_drop_is_not_excused() -> None:
    verdict = one("drop(RR) <= 0.02 unless p >= 0.05", [1] * 12, SEVEN)
    assert (verdict.p, verdict.passed, verdict.excused) == (2 / 2**7, False, False)
    assert "and p 0.01562 is below 0.05" in str(verdict.reason)


def test_a_small_drop_needs_no_excuse() -> None:
    verdict = one("drop(RR) <= 0.5 unless p >= 0.05", [1] * 12, SEVEN)
    assert (verdict.passed, verdict.excused, verdict.reason) == (True, False, None)


def test_below_six_queries_there_is_no_p_and_no_excuse() -> None:
    verdict = one("drop(RR) <= 0.02 unless p >= 0.05", [1] * 5, [1, 1, 1, 1, 2])
    assert (verdict.p, verdict.passed, verdict.excused) == (None, False, False)
    assert "fewer than 6 queries" in str(verdict.reason)
    assert one("drop(RR) <= 0.02 unless p >= 0.05", [1] * 6, [1, 1, 1, 1, 1, 2]).excused
    small = one("drop(RR) <= 0.5 unless p >= 0.05", [1] * 5, [1, 1, 1, 1, 2])
    assert (small.passed, small.p) == (True, None)
    assert "fewer than 6 queries" in str(small.reason)


@pytest.mark.parametrize(
    ("queries", "permutations", "level", "excused"),
    [
        # 2 / 2^7 is above .01: with seven queries everything would be excused.
        (7, 100_000, "0.01", False),
        (8, 100_000, "0.01", True),
        # With ten draws no p is below 1 / 11.
        (30, 10, "0.05", False),
        (30, 10, "0.1", True),
    ],
)
def test_a_p_that_could_not_have_been_small_is_no_excuse(
    queries: int, permutations: int, level: str, excused: bool
) -> None:
    after = [2] + [1] * (queries - 1)
    verdict = one(f"drop(RR) <= 0 unless p >= {level}", [1] * queries, after, permutations=permutations)
    assert (verdict.passed, verdict.excused, verdict.p) == (excused, excused, 1.0)
    assert ("no excuse" in str(verdict.reason)) is not excused


def without(run: Run, *queries: str) -> Run:
    return Run.from_dict({query: of for query, of in run.to_dict().items() if query not in queries}, run.name)


def test_skip_compares_on_common_queries() -> None:
    before, after = without(ranked([1, 1, 2, 2]), "q00"), without(ranked([1, 2, 2, 4]), "q03")
    zero = gate(labels(4), before, after, ["RR > 0", "drop(RR) <= 0"])
    skip = gate(labels(4), before, after, ["RR > 0", "drop(RR) <= 0"], missing="skip")
    assert [verdict.value for verdict in zero.verdicts] == [0.5, 0.0]
    # The candidate alone: 1, 1/2, 1/2. Both: q01 (1 and 1/2) and q02 (1/2 and 1/2).
    assert [verdict.value for verdict in skip.verdicts] == pytest.approx([2 / 3, 0.25])
    assert [verdict.queries for verdict in skip.verdicts] == [3, 2]


def test_no_common_query_is_undefined_and_fails() -> None:
    before, after = without(ranked([1, 1]), "q00"), without(ranked([1, 1]), "q01")
    (verdict,) = gate(labels(2), before, after, "drop(RR) <= 1", missing="skip").verdicts
    assert (verdict.passed, verdict.value, verdict.queries) == (False, None, 0)
    assert "no judged query is answered by both" in str(verdict.reason)


def test_the_runs_may_have_one_name_and_rules_may_be_read_already() -> None:
    result = gate(
        labels(2), ranked([1, 1], "main"), ranked([1, 2], "main"), [parse_rule("drop(RR) <= 0.3"), "RR > 0.7"]
    )
    assert result.passed


def test_a_geometric_mean_is_tested_by_its_logarithms() -> None:
    bound = parse_metric("RR")
    geometric = replace(bound, metric=replace(bound.metric, name="GeometricRR", mean="geometric"))
    rule = Rule("drop(GeometricRR) <= 0", geometric, "<=", 0.0, drop=True)
    # Three halve, three double: nothing changes. By plain differences, -.5 and +.1, p would be 16 / 64.
    before, after = ranked([1, 1, 1, 10, 10, 10]), ranked([2, 2, 2, 5, 5, 5])
    geometrically, plainly = gate(labels(6), before, after, [rule, "drop(RR) <= 0"]).verdicts
    assert geometrically.baseline == pytest.approx(10**-0.5, abs=1e-12)
    assert (geometrically.passed, geometrically.value) == (True, pytest.approx(0, abs=1e-12))
    assert (geometrically.p, plainly.p) == (1.0, 0.25)


@pytest.mark.parametrize(
    ("rules", "options", "message"),
    [
        ([], {}, "no rule"),
        (["drop(RR) <= 1"], {}, "--baseline"),
        (["RR > 0"], {"permutations": 0}, "from 1 to"),
        (["RR > 0"], {"permutations": 10**9}, "from 1 to"),
        (["RR > 0"], {"seed": -1}, "the seed is -1"),
        (["RR > 0"], {"missing": "guess"}, "zero or skip"),
    ],
)
def test_undecidable_rules_are_refused(rules: list[str], options: dict[str, object], message: str) -> None:
    with pytest.raises(NotValid, match=message):
        gate(labels(2), None, ranked([1, 1]), rules, **options)  # type: ignore[arg-type]


RANKS = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=10)


@given(RANKS)
@settings(max_examples=30, deadline=None)
def test_a_drop_turns_its_sign_with_the_runs(ranks: list[tuple[int, int]]) -> None:
    before, after = [pair[0] for pair in ranks], [pair[1] for pair in ranks]
    there, back = one("drop(RR) <= 0", before, after), one("drop(RR) <= 0", after, before)
    assert there.value == -(back.value or 0.0)
    assert there.p == back.p
    assert there.passed or back.passed
    same = one("drop(RR) == 0", before, before)
    assert (same.passed, same.value, same.p) == (True, 0.0, 1.0 if len(ranks) >= 6 else None)


def test_a_threshold_that_no_grade_reaches_is_reported() -> None:
    qrels = Qrels.from_dict({"q": {"a": 0.37, "b": 0.2}})
    run = Run.from_dict({"q": {"a": 1.0}}, "new")
    assert any("P@5" in warning for warning in gate(qrels, None, run, ["P@5 >= 0"]).warnings)
    assert not any("reaches" in warning for warning in gate(qrels, None, run, ["P(rel=0.3)@5 >= 0"]).warnings)
