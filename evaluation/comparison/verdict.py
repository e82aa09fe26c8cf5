"""Remarks on a comparison: its numbers in words, with cautions for the reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.core.counted_nouns import amount
from evaluation.comparison.comparison import Comparison
from evaluation.scoring.metric_values import signed

ALPHA = 0.05
# Judged@10 of two runs further apart than this: their difference may be one of holes.
MOST_APART = 0.05


@dataclass(frozen=True)
class Remark:
    """One question that a careful reader asks, with its answer; ``state`` is the shape that stands beside it."""

    question: str
    state: str
    answer: str
    why: str


def remarks(
    comparison: Comparison,
    primary: str,
    judged: tuple[float | None, float | None],
    by_traffic: Mapping[str, Any] | None = None,
) -> list[Remark]:
    """The questions in the order in which they matter.

    Parameters
    ----------
    comparison : Comparison
        What is read.
    primary : str
        The metric that stands first.
    judged : (float or None, float or None)
        The judged share of the first ten of a and b, over the judged queries that each answers.
    by_traffic : dict, optional
        The same pair with queries counted by their traffic.
    """
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
    """What the numbers hang on: test, correction, draws and seeds."""
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
            f"Sign-flip test, {patterns}; Holm over all {amount(comparison.family, 'pair')} of runs that share "
            "the metric."
        )
    if comparison.metric in of.get("logarithms", ()):
        sentences.append(f"The mean of {comparison.metric} is geometric, so the difference is one of logarithms.")
    if comparison.weighted:
        sentences.append("Every query is weighted by its traffic.")
    if comparison.left_out:
        sentences.append(f"Left out because some of these queries have no value: {', '.join(comparison.left_out)}.")
    if not comparison.withheld:
        command = "assay compare --weights queries.csv" if comparison.weighted else "assay compare"
        sentences.append(f"{command} prints the same numbers from the exported files.")
    return " ".join(sentences)


def range_of(pair: Mapping[str, Any]) -> str:
    """The interval of a difference, empty where there is none."""
    return "" if pair["low"] is None else f"{signed(pair['low'])} to {signed(pair['high'])}"


def counted(number: int) -> str:
    return f"{number:,} {'query' if number == 1 else 'queries'}"


def _significance(comparison: Comparison) -> Remark:
    pair, question = comparison.pair, "Significant"
    if pair["p"] is None:
        return Remark(question, "todo", "not tested", f"{_sentence(pair['reason'])} Judge more queries.")
    raw, standing = pair["p"], _standing(pair)
    better, worse = (comparison.b.run, comparison.a.run)[:: 1 if pair["difference"] >= 0 else -1]
    if standing < ALPHA:
        why = f"{better} is better than {worse}. Chance alone would rarely produce so large a difference."
        return Remark(question, "done", "yes", why)
    if raw < ALPHA:
        why = (
            f"Alone, this pair would pass .05. With {comparison.family} comparisons such a p-value is more likely by "
            "chance; "
            "after correction it does not pass."
        )
        return Remark(question, "warn", "not after correction", why)
    return Remark(question, "todo", "no", "Chance alone can produce so large a difference.")


def _standing(pair: Mapping[str, Any]) -> Any:
    """The p that decides: the corrected one, where there is one."""
    return pair["p"] if pair["p_corrected"] is None else pair["p_corrected"]


def _enough(comparison: Comparison) -> Remark | None:
    pair, question = comparison.pair, "Enough queries"
    detectable, queries = pair["detectable"], pair["queries"]
    if detectable is None or pair["p"] is None:
        return None
    why = f"With {counted(queries)}, a true difference of {detectable:.3f} is detected 4 times in 5."
    if _standing(pair) is not None and _standing(pair) < ALPHA:
        return Remark(question, "done", "yes", f"{why} This one, {_size(pair)}, was detected.")
    if abs(pair["difference"]) >= detectable:
        return Remark(question, "done", "yes", f"{why} This one is that large.")
    needed = pair.get("queries_needed")
    more = f" Detecting this one takes about {needed:,.0f} queries." if needed else ""
    return Remark(question, "warn", "no", f"{why} This one is {_size(pair)}.{more}")


def _size(pair: Mapping[str, Any]) -> str:
    size = abs(pair["difference"])
    return f"{size:.3f}" if size >= 0.0005 else "almost zero"


def _holes(comparison: Comparison, judged: tuple[float | None, float | None]) -> Remark:
    question, (first, second) = "Equally judged", judged
    if first is None or second is None:
        why = "Score both runs with Judged@10 to see how many of their first documents are unjudged."
        return Remark(question, "todo", "unknown", why)
    if abs(first - second) <= MOST_APART:
        return Remark(
            question,
            "done",
            "yes",
            f"Of the first ten, {first:.2f} is judged for {comparison.a.run} and {second:.2f} for {comparison.b.run}.",
        )
    fewer, share = (comparison.a.run, first) if first < second else (comparison.b.run, second)
    why = (
        f"Only {share:.2f} of the first ten of {fewer} is judged, against {max(first, second):.2f}. Unjudged "
        "documents count as "
        "not relevant, which may explain a part of the difference. Judge them first."
    )
    return Remark(question, "warn", "no", why)


def _chosen(comparison: Comparison, primary: str) -> Remark:
    question = "Primary metric"
    if comparison.metric == primary:
        why = f"{primary} is the first metric of this snapshot. It decides; the others are exploratory."
        return Remark(question, "done", "yes", why)
    why = (
        f"{primary} is first; {comparison.metric} was chosen afterwards. Looking at several metrics makes a chance "
        "difference in one of them more likely than p says."
    )
    return Remark(question, "warn", "no", why)


def _by_traffic(plain: Mapping[str, Any], weighted: Mapping[str, Any]) -> Remark:
    question = "Same result by traffic"
    interval = f" ({range_of(weighted)})" if range_of(weighted) else ""
    why = f"With each query weighted by its traffic, the difference is {signed(weighted['difference'])}{interval}."
    same = plain["difference"] * weighted["difference"] > 0 or plain["difference"] == weighted["difference"]
    if same and _side(plain) == _side(weighted):
        return Remark(question, "done", "yes", why)
    return Remark(question, "warn", "no", f"{why} Decide whether searches or queries should count.")


def _side(pair: Mapping[str, Any]) -> int:
    """Which side of zero the interval keeps to; 0 where it holds zero or there is none."""
    if pair["low"] is None or pair["low"] <= 0 <= pair["high"]:
        return 0
    return 1 if pair["low"] > 0 else -1


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
