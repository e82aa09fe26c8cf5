"""Signal: unjudged documents among the first results of the runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from assay.core.unjudged import DEPTH, count_unjudged
from assay.staleness.signal import SHARE, Facts, Missing, Reading, RunHoles, Signal, percent

if TYPE_CHECKING:
    from assay.core.run import Run

# Maximum number of queries in a report; the rest are in the run.
MOST_LISTED = 10
Judged = Mapping[str, Collection[str]]


def first_ones(run: Run, depth: int = DEPTH) -> Iterable[tuple[str, list[str]]]:
    """Yield each query with the top documents of the run."""
    for place, query_id in enumerate(run.query_ids):
        begin, end = int(run.offsets[place]), int(run.offsets[place + 1])
        yield query_id, list(run.doc_ids[begin : min(end, begin + depth)])


def count_holes(
    judged: Judged, rankings: Iterable[tuple[str, list[str]]], name: str, sha256: str = "", depth: int = DEPTH
) -> RunHoles:
    """Count the unjudged documents in the top ranks of a run.

    Examples
    --------
    >>> found = count_holes({"q1": {"d1"}, "q2": {"d2"}}, [("q1", ["d1", "d3"]), ("q2", ["d2"]), ("q9", ["d1"])], "new")
    >>> found.holes, found.returned, found.queries, found.mean
    (1, 3, 2, 0.25)
    """
    counted = count_unjudged(judged, rankings, depth)
    if not counted.queries:
        return RunHoles(name, sha256, 0, 0, 0, None, None, reason="it answers no judged query")
    shares = counted.shares
    grave = sorted((one for one in counted.queries if one[1]), key=lambda one: (-one[1] / one[2], one[0].encode()))
    return RunHoles(
        name=name,
        sha256=sha256,
        holes=counted.documents,
        returned=counted.returned,
        queries=len(counted.queries),
        mean=counted.share,
        p90=shares[-(-9 * len(shares) // 10) - 1],
        worst=tuple(grave[:MOST_LISTED]),
    )


def look(facts: Facts) -> Reading | Missing:
    """Return the largest mean over the queries of a run."""
    if isinstance(facts.now.runs, Missing):
        return facts.now.runs
    known = [(run.mean, run) for run in facts.now.runs if run.mean is not None]
    if not known:
        reasons = [f"{run.name}: {run.reason}" for run in facts.now.runs if run.reason]
        return Missing("; ".join(reasons[:3]) or "there is no run to check")
    before = {} if isinstance(facts.then.runs, Missing) else {run.sha256: run.mean for run in facts.then.runs}
    earlier = [mean for mean in before.values() if mean is not None]
    most, run = max(known, key=lambda one: (one[0], one[1].name))
    detail = [
        {
            "run": one.name,
            "now": one.mean,
            "baseline": before.get(one.sha256) if one.sha256 else None,
            "p90": one.p90,
            "holes": one.holes,
            "returned": one.returned,
            "queries": one.queries,
            "reason": one.reason,
        }
        for one in sorted(facts.now.runs, key=lambda one: (-(one.mean or 0.0), one.name))
    ]
    of = f"the top {DEPTH} of {run.name}" if len(known) > 1 else f"its top {DEPTH}"
    words = f"{percent(most)} of {of} unjudged, the mean over {run.queries:,} quer{'y' if run.queries == 1 else 'ies'}"
    words += _since(before, run)
    return Reading(most, words, max(earlier, default=None), tuple(detail))


def _since(before: Mapping[str, float | None], run: RunHoles) -> str:
    """Return whether the documents were already unjudged when the labels were frozen, so that no label has become
    stale."""
    if not run.holes:
        return ""
    then = before.get(run.sha256) if run.sha256 else None
    if then is None:
        return "; the run was added after the labels were frozen" if before else ""
    return "; unchanged since the labels were frozen" if never_judged(run.mean, then) else ""


def never_judged(now: float | None, then: float | None) -> bool:
    """Return whether a run has no more unjudged documents than on the day of the freeze."""
    return now is not None and then is not None and now <= then + 1e-12


UNJUDGED = Signal(
    name="unjudged",
    title=f"Unjudged in the top {DEPTH}",
    measures=(
        f"The mean share of unjudged documents in the top {DEPTH}, over the judged queries that a run answers; "
        "the largest mean of any run counts."
    ),
    baseline="the same shares of the runs that existed when the labels were frozen",
    unit=SHARE,
    warn=0.20,
    stale=0.30,
    source="Assay's rule: above 20% on average, plan judging; above 30%, judge",
    action="judge-holes",
    look=look,
)
