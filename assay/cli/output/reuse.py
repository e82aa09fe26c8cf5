"""Output of ``assay reuse``: runs left out, missed documents (estimated), and the judged share of each run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.cli.output.text_table import counted, number, text_table

if TYPE_CHECKING:
    from assay.estimators.left_out_systems import LeftOut
    from assay.estimators.missed_documents import Missed
    from assay.estimators.reusability import Reuse

HEADER = (
    "left out",
    "pairs",
    "unique",
    "relevant",
    "score",
    "without",
    "rank",
    "without",
    "Judged@10",
    "without",
    "tau",
)


def as_table(result: Reuse) -> str:
    """Return tables of the runs left out, the estimated missed documents, and the judged share of each run."""
    every = [*result.left_out, *result.groups]
    rows = [row for one in every for row in _rows(one)]
    deep = "all ranks" if result.depth is None else f"rank {result.depth}"
    parts = [f"{result.metric}, contributions down to {deep}\n" + text_table(HEADER, rows)] if rows else []
    parts += [f"{result.reason}\n"] if result.reason else []
    parts += [f"{one.name}: {one.reason}\n" for one in every if one.reason]
    parts.append("".join(f"{line}\n" for line in missed_lines(result.missed)))
    cutoffs = list(next(iter(result.judged.values())))
    judged = [[run, *(number(of[k]) for k in cutoffs)] for run, of in result.judged.items()]
    parts.append(text_table(("run", *(f"Judged@{k}" for k in cutoffs)), judged))
    return "\n".join(parts)


def _rows(one: LeftOut) -> list[list[str]]:
    counts = [f"{count:,}" for count in (one.contributed, one.unique, one.unique_relevant)]
    return [
        [
            one.name if len(one.runs) == 1 else f"{one.name}: {hurt.run}",
            *counts,
            number(hurt.score),
            number(hurt.score_without),
            str(hurt.rank or "-"),
            str(hurt.rank_without or "-"),
            number(hurt.judged),
            number(hurt.judged_without),
            number(one.tau),
        ]
        for hurt in one.runs
    ]


def missed_lines(missed: Missed) -> list[str]:
    """Return the estimate as sentences, with its limits.

    Examples
    --------
    >>> from assay.estimators.missed_documents import CURVE, Missed
    >>> missed_lines(Missed(None, None, None, CURVE, 3, 40, 2, reason="2 judged queries are too few"))
    ['relevant documents still unjudged: unknown; 2 judged queries are too few']
    """
    if missed.value is None or missed.low is None or missed.high is None:
        return [f"relevant documents still unjudged: unknown; {missed.reason}"]
    ends = f"{missed.level:.0%} interval {missed.low:,.0f} to {missed.high:,.0f}"
    among = f"among {counted(missed.unjudged, 'unjudged pair')} of {counted(missed.queries, 'query', 'queries')}"
    first = f"relevant documents still unjudged: about {missed.value:,.0f}, {ends}, {among}"
    share = "" if missed.share_found is None else f"; found so far: {missed.found:,}, {missed.share_found:.0%}"
    return [first + share, *(f"note: {note}" for note in missed.notes)]


def as_json(result: Reuse) -> str:
    """Return the result as JSON, numbers unrounded, null with a reason where undefined."""
    return json.dumps(result.as_json(), ensure_ascii=False, indent=1) + "\n"


FORMATS: dict[str, Callable[[Reuse], str]] = {"table": as_table, "json": as_json}
