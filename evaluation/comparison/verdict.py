"""Cautions on a comparison: its numbers in words, with advice for the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.text_rules import amount
from evaluation.comparison.comparison import Comparison
from evaluation.scoring.metric_values import signed

ALPHA = 0.05
# If Judged@10 of two runs differs by more than this, unjudged documents may explain the difference.
MOST_APART = 0.05


@dataclass(frozen=True)
class Remark:
    """A question about the reliability of a comparison, with its answer; ``state`` selects the icon."""

    question: str
    state: str
    answer: str
    why: str


def remarks(
    comparison: Comparison,
    primary: str,
    judged: Sequence[float | None],
    by_traffic: Mapping[str, Any] | None = None,
) -> list[Remark]:
    """Return the remarks on a comparison, the most important first."""
    candidates = [
        _significance(comparison),
        _enough(comparison),
        _holes(comparison, judged),
        _chosen(comparison, primary),
    ]
    if by_traffic is not None:
        candidates.append(_by_traffic(comparison.pair, by_traffic))
    return [remark for remark in candidates if remark]


def draws(comparison: Comparison) -> str:
    """Return the test, the correction, the draws and the seeds behind the numbers."""
    of, pair = comparison.settings, comparison.pair
    sentences = []
    if pair["low"] is not None:
        drawn = f"paired percentile bootstrap over queries, {of['resamples']:,} draws, seed {of['seed']}"
        how = "Student's t over queries" if of.get("interval") == "t" else drawn
        sentences.append(f"Interval of the mean difference: {how}.")
    if pair["p"] is not None:
        every = of["permutations"] == 2 ** pair["queries"]
        patterns = (
            f"all {of['permutations']:,} patterns" if every else f"{of['permutations']:,} draws, seed {of['seed']}"
        )
        sentences.append(
            f"Sign-flip test, {patterns}; Holm’s correction over all {amount(comparison.family, 'pair')} of runs that "
            "share the metric."
        )
    if comparison.metric in of.get("logarithms", ()):
        sentences.append(f"The mean of {comparison.metric} is geometric, so the difference is between logarithms.")
    if comparison.weighted:
        sentences.append("Every query is weighted by its traffic.")
    if comparison.left_out:
        sentences.append(
            f"Runs left out because they have no value for some of these queries: {', '.join(comparison.left_out)}."
        )
    if not comparison.withheld:
        command = "assay compare --weights queries.csv" if comparison.weighted else "assay compare"
        sentences.append(f"{command} prints the same numbers from the exported files.")
    return " ".join(sentences)


def range_of(pair: Mapping[str, Any]) -> str:
    """Return the interval of a difference, or an empty string."""
    return "" if pair["low"] is None else f"{signed(pair['low'])} to {signed(pair['high'])}"


def _significance(comparison: Comparison) -> Remark:
    pair, question = comparison.pair, "Significant"
    if pair["p"] is None:
        reason = pair["reason"]
        return Remark(question, "todo", "not tested", f"{reason[:1].upper()}{reason[1:]}. Judge more queries.")
    raw, standing = pair["p"], _standing(pair)
    better, worse = (comparison.b.run, comparison.a.run)[:: 1 if pair["difference"] >= 0 else -1]
    if standing < ALPHA:
        why = f"{better} is better than {worse}. A difference this large would rarely occur by chance."
        return Remark(question, "done", "yes", why)
    if raw < ALPHA:
        why = (
            f"Without correction, p is below 0.05. With {comparison.family} comparisons, a p-value this low is more "
            "likely to occur by chance. After correction, the difference is not significant."
        )
        return Remark(question, "warn", "not after correction", why)
    return Remark(question, "todo", "no", "A difference this large can occur by chance.")


def _standing(pair: Mapping[str, Any]) -> Any:
    """Return the p-value that decides: the corrected one if available."""
    return pair["p"] if pair["p_corrected"] is None else pair["p_corrected"]


def _enough(comparison: Comparison) -> Remark | None:
    pair, question = comparison.pair, "Enough queries"
    detectable, queries = pair["detectable"], pair["queries"]
    if detectable is None or pair["p"] is None:
        return None
    counted = amount(queries, "query", "queries")
    why = f"With {counted}, a true difference of {detectable:.3f} is detected with 80% probability."
    if _standing(pair) is not None and _standing(pair) < ALPHA:
        return Remark(question, "done", "yes", f"{why} The difference here, {_size(pair)}, is significant.")
    if abs(pair["difference"]) >= detectable:
        return Remark(question, "done", "yes", f"{why} The difference here is at least that large.")
    needed = pair.get("queries_needed")
    more = f" Detecting it takes about {needed:,.0f} queries." if needed else ""
    return Remark(question, "warn", "no", f"{why} The difference here is {_size(pair)}.{more}")


def _size(pair: Mapping[str, Any]) -> str:
    size = abs(pair["difference"])
    return f"{size:.3f}" if size >= 0.0005 else "almost zero"


def _holes(comparison: Comparison, judged: Sequence[float | None]) -> Remark:
    question, (first, second) = "Equally judged", judged
    if first is None or second is None:
        why = "Score both runs with Judged@10 to see how many of their first 10 documents are unjudged."
        return Remark(question, "todo", "unknown", why)
    if abs(first - second) <= MOST_APART:
        return Remark(
            question,
            "done",
            "yes",
            f"Judged@10 is {first:.2f} for {comparison.a.run} and {second:.2f} for {comparison.b.run}.",
        )
    fewer, share = (comparison.a.run, first) if first < second else (comparison.b.run, second)
    why = (
        f"Judged@10 of {fewer} is only {share:.2f}, compared with {max(first, second):.2f} for the other run. "
        "Unjudged documents count as not relevant, which may explain part of the difference. Judge these documents "
        "first."
    )
    return Remark(question, "warn", "no", why)


def _chosen(comparison: Comparison, primary: str) -> Remark:
    question = "Primary metric"
    if comparison.metric == primary:
        why = (
            f"{primary} is the first metric of this snapshot and therefore the primary metric. The other metrics are "
            "exploratory."
        )
        return Remark(question, "done", "yes", why)
    why = (
        f"{primary} is the primary metric; {comparison.metric} is exploratory. If you look at several metrics, "
        "a chance difference in one of them is more likely than its p-value suggests."
    )
    return Remark(question, "warn", "no", why)


def _by_traffic(plain: Mapping[str, Any], weighted: Mapping[str, Any]) -> Remark:
    question = "Same result if weighted by traffic"
    interval = f" ({range_of(weighted)})" if range_of(weighted) else ""
    why = f"With each query weighted by its traffic, the difference is {signed(weighted['difference'])}{interval}."
    same = plain["difference"] * weighted["difference"] > 0 or plain["difference"] == weighted["difference"]
    if same and _side(plain) == _side(weighted):
        return Remark(question, "done", "yes", why)
    return Remark(question, "warn", "no", f"{why} Decide whether searches or queries should count.")


def _side(pair: Mapping[str, Any]) -> int:
    """Return the sign of an interval that excludes zero; 0 if it contains zero or is missing."""
    if pair["low"] is None or pair["low"] <= 0 <= pair["high"]:
        return 0
    return 1 if pair["low"] > 0 else -1
