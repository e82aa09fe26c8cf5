"""Run health in ``assay validate``: the figures of a run's page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.output.text_table import counted

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.run import Run
    from assay.formats.row_types import RunRow

DEPTH = 10


def run_health(rows: Sequence[RunRow], qrels: str | None, beside: Sequence[str]) -> dict[str, Any]:
    """Return the figures of a run by name."""
    import numpy as np

    from assay.core.run import Run
    from assay.formats.qrels_and_runs import load_qrels
    from assay.formats.run_columns import RunRows
    from assay.scoring.run_health import depths, figures

    columns = RunRows.of(rows)
    run = Run.from_columns(columns.query_ids, columns.doc_ids, columns.scores)
    health: dict[str, Any] = asdict(figures(columns))
    health["depths"] = [
        {"from": low, "to": high, "queries": queries} for low, high, queries in depths(np.diff(run.offsets).tolist())
    ]
    labels = load_qrels(Path(qrels), qrels)[0] if qrels else None
    if labels is not None:
        health |= _beside_labels(run, labels)
    query_ids = labels.query_ids if labels is not None else run.query_ids
    health["runs"] = [{"path": path, **_likeness(run, path, query_ids)} for path in beside]
    return health


def _beside_labels(run: Run, labels: Qrels) -> dict[str, Any]:
    from assay.core.unjudged import count_unjudged

    known = labels.to_dict()
    unjudged = count_unjudged(known, ((query_id, run.ranking(query_id)) for query_id in run.query_ids), DEPTH)
    return {
        "queries_left_out": len(known.keys() - set(run.query_ids)),
        "queries_not_in_qrels": len(set(run.query_ids) - known.keys()),
        f"unjudged_at_{DEPTH}": unjudged.share,
    }


def _likeness(run: Run, path: str, query_ids: Sequence[str]) -> dict[str, Any]:
    from assay.formats.qrels_and_runs import load_run
    from assay.scoring.run_similarity import likeness, tops

    other = load_run(Path(path), path, path)[0]
    query_ids = sorted({*query_ids, *other.query_ids})
    return asdict(likeness(tops(run, query_ids, DEPTH), tops(other, query_ids, DEPTH)))


def in_words(health: dict[str, Any]) -> Iterator[str]:
    """Yield the figures as sentences."""
    yield (
        f"depth: {health['median']:,} (median), {health['smallest']:,} to {health['largest']:,}; "
        f"{counted(health['rows'], 'row')} for {_queries(health['queries'])}"
    )
    share = health["tied_rows"] / health["rows"] if health["rows"] else 0.0
    yield f"ties: {counted(health['tied_rows'], 'row')} ({share:.1%}), in {health['tied_queries']:,} of the queries"
    if health["against_rows"]:
        yield (
            f"ranks: {counted(health['against_rows'], 'row is', 'rows are')} ordered differently by score, in "
            f"{health['against_queries']:,} of the queries, first in {health['first_against']}; the scores decide"
        )
    elif health["ranked_rows"]:
        ties = health["reordered_rows"]
        yield "ranks: agree with the scores" + (
            f"; {counted(ties, 'tied row is', 'tied rows are')} ordered differently by rank" if ties else ""
        )
    else:
        yield "ranks: none"
    if "queries_left_out" in health:
        unjudged = health[f"unjudged_at_{DEPTH}"]
        unjudged_text = (
            "undefined, because the run has no query of the qrels" if unjudged is None else f"{unjudged:.3f}"
        )
        yield (
            f"against the qrels: {_queries(health['queries_left_out'])} missing from the run, "
            f"{health['queries_not_in_qrels']:,} not in the qrels; unjudged@{DEPTH} {unjudged_text}"
        )
    for other in health["runs"]:
        if other["jaccard"] is None:
            yield f"similarity to {other['path']}: undefined, because no query has results"
            continue
        yield (
            f"similarity to {other['path']}: Jaccard@{DEPTH} {other['jaccard']:.3f}, RBO@{DEPTH} {other['rbo']:.3f}, "
            f"identical for {other['same']:,} of {_queries(other['queries'])}"
        )


def _queries(number: int) -> str:
    return f"{number:,} quer{'y' if number == 1 else 'ies'}"
