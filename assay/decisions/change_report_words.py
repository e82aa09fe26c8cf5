"""Sentences and short words of change reports, the same in HTML and Markdown."""

from __future__ import annotations

from assay.core.counted_nouns import amount
from assay.decisions.change_report import ChangeReport, Result


def decision(report: ChangeReport) -> str:
    """Return the decision in one line: the verdict of the gate, and the difference with its interval."""
    gate = report.gate
    verdict = "Passed" if gate.passed else f"Failed by {amount(gate.failures, 'rule')}"
    return f"{verdict}. {report.names[1]} is {report.verdict} by {report.metric}: {difference(report)}"


def difference(report: ChangeReport) -> str:
    """Return both means, and the difference with its interval, p and number of queries."""
    pair, (before, after) = report.comparison, report.means
    inside = [f"p {pair.p:.3g}"] if pair.p is not None else []
    if pair.low is not None and pair.high is not None:
        inside.insert(0, f"{report.level:.0%} CI {points(pair.low)} to {points(pair.high)}")
    about = ", ".join([*inside, amount(pair.queries, "query", "queries")])
    change = pair.effect.difference
    return f"{before:.4f} to {after:.4f}, {points(change) if change is not None else 'undefined'} ({about})"


def summary(report: ChangeReport) -> list[str]:
    """Return sentences about the changed queries, the newcomers and what judging them could do."""
    changed, newcomers = report.changed, len(report.newcomers)
    judged = amount(report.queries, "judged query", "judged queries")
    lines = [f"The first {report.depth} results differ for {len(changed):,} of {judged}."]
    if report.unlabeled:
        others = amount(report.unlabeled, "query", "queries")
        lines[0] += f" They also differ for {others} without labels, which no metric covers."
    if report.comparison.reason:
        lines.append(f"{report.comparison.reason[:1].upper()}{report.comparison.reason[1:]}.")
    if changed:
        weights = " weighted by traffic" if report.weighted else ""
        assumption = ", if unjudged documents have the grades of judged documents at similar ranks"
        lines.append(
            f"Expected change of {report.metric}{weights}: {points(-report.expected_loss)}"
            f"{assumption if any(report.unjudged) else ''}.{_favored(report)}"
        )
    if newcomers:
        entered, them = amount(newcomers, "unjudged document"), "it" if newcomers == 1 else "them"
        cost = f"about {minutes(report)} at {report.seconds:g} s each"
        lines.append(f"{entered} entered the results. Judging {them} takes {cost}.")
    if report.turning is not None and (report.turning.pairs or report.turning.reason):
        sentence = report.turning.sentence(report.seconds)
        lines.append(f"{sentence[:1].upper()}{sentence[1:]}.")
    return lines


def _favored(report: ChangeReport) -> str:
    """Return a sentence on the run that random grades favor: that with more unjudged documents."""
    old, new = report.unjudged
    if old == new or all(query.expected_loss == query.loss for query in report.changed):
        return ""
    name, (fewer, more) = report.names[new > old], sorted((old, new))
    return (
        f" They usually have lower grades, so this favors {name}, with {more:,} unjudged documents against {fewer:,}."
    )


def minutes(report: ChangeReport) -> str:
    """Return the time to judge the newcomers."""
    number = report.minutes
    return "1 minute" if number <= 1 else f"{number:,.0f} minutes"


def points(value: float) -> str:
    """Return a signed difference with four decimals and a true minus sign.

    Examples
    --------
    >>> points(-0.25), points(0.0), points(0.1)
    ('−0.2500', '0.0000', '+0.1000')
    """
    text = f"{value:+.4f}"
    return "0.0000" if float(text) == 0 else text.replace("-", "−")


def grade(result: Result) -> str:
    """Return the grade of a result."""
    return "unjudged" if result.grade is None else f"grade {result.grade:g}"


def move(result: Result, alone: str) -> str:
    """Return where the result is in the other list: the given word if it is not there, nothing at the same rank.

    Examples
    --------
    >>> move(Result("d1", 3, None, None), "new"), move(Result("d1", 3, 1.0, 1), "new")
    ('new', 'other rank 1')
    """
    if result.other_rank is None:
        return alone
    return "" if result.other_rank == result.rank else f"other rank {result.other_rank}"
