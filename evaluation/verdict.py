"""Remarks on a comparison: its numbers in words, with cautions for the reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.comparison import Comparison
from judgments.core.amounts import amount

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
    found = [_told_apart(comparison), _enough(comparison), _holes(comparison, judged), _chosen(comparison, primary)]
    if by_traffic is not None:
        found.append(_by_traffic(comparison.pair, by_traffic))
    return [remark for remark in found if remark]


def signed(value: float | None, digits: int = 3) -> str:
    """A difference with its sign, a true minus for the minus.

    Examples
    --------
    >>> signed(0.0412), signed(-0.2), signed(0.0)
    ('+0.041', '−0.200', '0.000')
    """
    if value is None:
        return ""
    return f"{value:+.{digits}f}".replace("-", "−") if value else f"{0:.{digits}f}"


def chance(value: float, smallest: float | None = None) -> str:
    """A p as it stands on the page; one at the floor of the test is only known to be so small.

    Examples
    --------
    >>> chance(0.0312), chance(0.00001, 0.00001), chance(1.0)
    ('= 0.031', '≤ 0.00001', '= 1.000')
    """
    sign = "≤" if smallest is not None and value <= smallest else "="
    return f"{sign} {value:.3f}" if value >= 0.001 else f"{sign} {value:.5f}"


def draws(comparison: Comparison) -> str:
    """What the numbers hang on: test, correction, draws and seeds."""
    of, pair = comparison.settings, comparison.pair
    said = []
    if pair["low"] is not None:
        drawn = f"paired percentile bootstrap over queries, {of['resamples']:,} draws, seed {of['seed']}"
        how = "Student's t over queries" if of.get("interval") == "t" else drawn
        said.append(f"Interval of the mean difference: {how}.")
    if pair["p"] is not None:
        every = of["permutations"] == 2 ** pair["queries"]
        patterns = (
            f"all {of['permutations']:,} patterns" if every else f"{of['permutations']:,} draws, seed {of['seed']}"
        )
        said.append(
            f"Sign-flip test, {patterns}; Holm over all {amount(comparison.family, 'pair')} of runs that share "
            "the metric."
        )
    if comparison.metric in of.get("logarithms", ()):
        said.append(f"The mean of {comparison.metric} is geometric: its difference is one of logarithms.")
    if comparison.weighted:
        said.append("Every query counts by the traffic that it stands for.")
    if comparison.left_out:
        said.append(f"Not among them, since some of these queries have no value: {', '.join(comparison.left_out)}.")
    if not comparison.withheld:
        command = "assay compare --weights queries.csv" if comparison.weighted else "assay compare"
        said.append(f"{command} prints the same numbers from the exported files.")
    return " ".join(said)


def range_of(pair: Mapping[str, Any]) -> str:
    """The interval of a difference, empty where there is none."""
    return "" if pair["low"] is None else f"{signed(pair['low'])} to {signed(pair['high'])}"


def counted(number: int) -> str:
    return f"{number:,} {'query' if number == 1 else 'queries'}"


def _told_apart(comparison: Comparison) -> Remark:
    pair, question = comparison.pair, "Told apart"
    if pair["p"] is None:
        return Remark(question, "todo", "not tested", f"{_sentence(pair['reason'])} Judge more queries.")
    raw, standing = pair["p"], _standing(pair)
    better, worse = (comparison.b.run, comparison.a.run)[:: 1 if pair["difference"] >= 0 else -1]
    if standing < ALPHA:
        why = (
            f"{better} is better than {worse}: so large a difference would hardly come from luck in the queries alone."
        )
        return Remark(question, "done", "yes", why)
    if raw < ALPHA:
        why = (
            f"Alone this pair would pass .05. Among {comparison.family} comparisons one such p comes about by luck "
            "sooner; corrected for that, it does not pass."
        )
        return Remark(question, "warn", "not after correction", why)
    return Remark(question, "todo", "no", "Luck in the queries alone can make so large a difference.")


def _standing(pair: Mapping[str, Any]) -> Any:
    """The p that decides: the corrected one, where there is one."""
    return pair["p"] if pair["p_corrected"] is None else pair["p_corrected"]


def _enough(comparison: Comparison) -> Remark | None:
    pair, question = comparison.pair, "Enough queries"
    detectable, queries = pair["detectable"], pair["queries"]
    if detectable is None or pair["p"] is None:
        return None
    why = f"With {counted(queries)} a true difference of {detectable:.3f} shows 4 times in 5."
    if _standing(pair) is not None and _standing(pair) < ALPHA:
        return Remark(question, "done", "yes", f"{why} This one of {_size(pair)} showed.")
    if abs(pair["difference"]) >= detectable:
        return Remark(question, "done", "yes", f"{why} This one is as large.")
    needed = pair.get("queries_needed")
    more = f" To see this one, about {needed:,.0f} queries are needed." if needed else ""
    return Remark(question, "warn", "no", f"{why} This one is {_size(pair)}.{more}")


def _size(pair: Mapping[str, Any]) -> str:
    size = abs(pair["difference"])
    return f"{size:.3f}" if size >= 0.0005 else "next to nothing"


def _holes(comparison: Comparison, judged: tuple[float | None, float | None]) -> Remark:
    question, (first, second) = "Judged alike", judged
    if first is None or second is None:
        why = "Score both runs with Judged@10 to see how many of their first documents nobody judged."
        return Remark(question, "todo", "not known", why)
    if abs(first - second) <= MOST_APART:
        return Remark(
            question,
            "done",
            "yes",
            f"Of the first ten, {first:.2f} is judged for {comparison.a.run} and {second:.2f} for {comparison.b.run}.",
        )
    fewer, share = (comparison.a.run, first) if first < second else (comparison.b.run, second)
    why = (
        f"Only {share:.2f} of the first ten of {fewer} is judged, against {max(first, second):.2f}. A hole counts as "
        "not relevant: part of the difference may be holes, not quality. Judge them first."
    )
    return Remark(question, "warn", "no", why)


def _chosen(comparison: Comparison, primary: str) -> Remark:
    question = "Primary metric"
    if comparison.metric == primary:
        why = f"{primary} stands first among the metrics of this snapshot. It decides; the others are exploratory."
        return Remark(question, "done", "yes", why)
    why = (
        f"{primary} stands first; {comparison.metric} was chosen afterwards. Who looks at several metrics finds a "
        "difference in one of them sooner than p says."
    )
    return Remark(question, "warn", "no", why)


def _by_traffic(plain: Mapping[str, Any], weighted: Mapping[str, Any]) -> Remark:
    question = "The same by traffic"
    interval = f" ({range_of(weighted)})" if range_of(weighted) else ""
    why = f"With each query counted by its traffic the difference is {signed(weighted['difference'])}{interval}."
    same = plain["difference"] * weighted["difference"] > 0 or plain["difference"] == weighted["difference"]
    if same and _side(plain) == _side(weighted):
        return Remark(question, "done", "yes", why)
    return Remark(question, "warn", "no", f"{why} Decide whether the visits or the kinds of query are to count.")


def _side(pair: Mapping[str, Any]) -> int:
    """Which side of zero the interval keeps to; 0 where it holds zero or there is none."""
    if pair["low"] is None or pair["low"] <= 0 <= pair["high"]:
        return 0
    return 1 if pair["low"] > 0 else -1


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
