"""Run health in ``assay validate``: the same figures as on a run's page, beyond the issues of single lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.text_table import counted

if TYPE_CHECKING:
    from judgments.core.qrels import Qrels
    from judgments.core.run import Run
    from judgments.formats.rows import RunRow

DEPTH = 10


def run_health(rows: Sequence[RunRow], qrels: str | None, beside: Sequence[str]) -> dict[str, Any]:
    """Return figures of a run under plain names.

    Parameters
    ----------
    rows : sequence of RunRow
        The rows that can be used.
    qrels : str, optional
        A file with labels: adds which of its queries the run leaves out, and what is unjudged.
    beside : sequence of str
        Files of other runs: adds how alike each one is.

    Raises
    ------
    UnreadableInput
        When one of the files cannot be read.
    """
    import numpy as np

    from judgments.core.run import Run
    from judgments.formats.run_rows import RunRows
    from judgments.formats.tables import load_qrels
    from pooling.health.figures import depths, figures

    columns = RunRows.of(rows)
    run = Run.from_columns(columns.query_ids, columns.doc_ids, columns.scores)
    told: dict[str, Any] = asdict(figures(columns))
    told["depths"] = [
        {"from": low, "to": high, "queries": queries} for low, high, queries in depths(np.diff(run.offsets).tolist())
    ]
    labels = load_qrels(Path(qrels), qrels)[0] if qrels else None
    if labels is not None:
        told |= _beside_labels(run, labels)
    query_ids = labels.query_ids if labels is not None else run.query_ids
    told["runs"] = [{"path": path, **_likeness(run, path, query_ids)} for path in beside]
    return told


def _beside_labels(run: Run, labels: Qrels) -> dict[str, Any]:
    from judgments.core.unjudged import count_unjudged

    known = labels.to_dict()
    found = count_unjudged(known, ((query_id, run.ranking(query_id)) for query_id in run.query_ids), DEPTH)
    return {
        "queries_left_out": len(known.keys() - set(run.query_ids)),
        "queries_not_in_qrels": len(set(run.query_ids) - known.keys()),
        f"unjudged_at_{DEPTH}": found.share,
    }


def _likeness(run: Run, path: str, query_ids: Sequence[str]) -> dict[str, Any]:
    from judgments.formats.tables import load_run
    from pooling.health.likeness import likeness, tops

    other = load_run(Path(path), path, path)[0]
    query_ids = sorted({*query_ids, *other.query_ids})
    return asdict(likeness(tops(run, query_ids, DEPTH), tops(other, query_ids, DEPTH)))


def in_words(told: dict[str, Any]) -> Iterator[str]:
    """Yield the same as sentences, one a line."""
    yield (
        f"depth: {told['median']:,} (median), {told['smallest']:,} to {told['largest']:,}; "
        f"{counted(told['rows'], 'row')} for {_queries(told['queries'])}"
    )
    share = told["tied_rows"] / told["rows"] if told["rows"] else 0.0
    yield f"ties: {counted(told['tied_rows'], 'row')} ({share:.1%}), in {told['tied_queries']:,} of the queries"
    if told["against_rows"]:
        yield (
            f"ranks: {counted(told['against_rows'], 'row stands', 'rows stand')} elsewhere by rank than by score, in "
            f"{told['against_queries']:,} of the queries, first in {told['first_against']}; scores count"
        )
    elif told["ranked_rows"]:
        ties = told["reordered_rows"]
        yield "ranks: agree with the scores" + (
            f"; {counted(ties, 'tied row stands', 'tied rows stand')} in another order by rank" if ties else ""
        )
    else:
        yield "ranks: none"
    if "queries_left_out" in told:
        unjudged = told[f"unjudged_at_{DEPTH}"]
        share_told = "not defined: it answers no query of the qrels" if unjudged is None else f"{unjudged:.3f}"
        yield (
            f"against the qrels: {_queries(told['queries_left_out'])} left out, {told['queries_not_in_qrels']:,} that "
            f"the qrels do not have; unjudged@{DEPTH} {share_told}"
        )
    for other in told["runs"]:
        if other["jaccard"] is None:
            yield f"like {other['path']}: not defined, no query is answered"
            continue
        yield (
            f"like {other['path']}: Jaccard@{DEPTH} {other['jaccard']:.3f}, RBO@{DEPTH} {other['rbo']:.3f}, "
            f"one list for {other['same']:,} of {_queries(other['queries'])}"
        )


def _queries(number: int) -> str:
    return f"{number:,} quer{'y' if number == 1 else 'ies'}"
