"""Reusability of a stored snapshot for systems that did not contribute to its pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotValid
from evaluation.effects.round_runs import answering_tables
from evaluation.freshness import freshness
from evaluation.models import Score
from evaluation.scoring import scoring
from evaluation.scoring.scoring import usual_metrics
from judgments.jobs.single_flight import compute_once, hashed_key
from judgments.models import Collection, Pair, Round, Snapshot
from pooling.models import Run

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.estimators.residual_sample import Stratum
    from assay.estimators.reusability import Reuse

DAY = 24 * 3600
# Part of cache keys: increase this number when the format of the result changes, so that older entries are ignored.
FORM = 1
SEED = 1
# Every run is scored again for each left-out run; more rows than this take too long for a page.
ROWS_AT_ONCE = 20_000_000
RESIDUAL = "residual"


@dataclass(frozen=True)
class Contributors:
    """The runs that the pools behind a snapshot were drawn from."""

    runs: tuple[Run, ...]
    depth: int | None
    gone: int


def look(
    snapshot: Snapshot,
    metric: str,
    *,
    together: Sequence[str] = (),
    relevant_from: float = 1,
    withheld: frozenset[str] = frozenset(),
) -> Reuse:
    """Leave out each contributor, estimate the relevant documents without a label, and measure each run's
    judged share."""
    runs = list(snapshot.collection.runs.defer("report", "health"))
    had = contributors(snapshot, runs)
    _check_size(runs, had)
    names = [(run.name, run.sha256) for run in runs]
    known = str(snapshot.uuid), names, metric, sorted(together), relevant_from, sorted(withheld)
    key = hashed_key(f"reuse:{FORM}", *known)
    return compute_once(
        key, lambda: _look(snapshot, runs, had, metric, tuple(together), relevant_from, withheld), keep=DAY
    )


def contributors(snapshot: Snapshot, runs: Sequence[Run]) -> Contributors:
    """Return the runs that a snapshot's pools name by hash, and the deepest pool depth."""
    rounds = snapshot.manifest.get("provenance", {}).get("rounds", [])
    drawn = [pool for pool in (round_.get("pool") or {} for round_ in rounds) if pool.get("runs")]
    hashes = {run["sha256"] for pool in drawn for run in pool["runs"]}
    depths = [pool["parameters"]["depth"] for pool in drawn if pool.get("strategy") == "depth"]
    known = tuple(run for run in runs if run.sha256 in hashes)
    return Contributors(known, max(depths, default=None), len(hashes) - len({run.sha256 for run in known}))


def metrics_of(snapshot: Snapshot) -> list[str]:
    """Return the metrics with a plain mean that runs were scored with on the snapshot, or the defaults."""
    from assay.metrics.metric import parse_metrics

    rows = Score.objects.filter(scoring__snapshot=snapshot)
    known = scoring.in_order(rows.values_list("metric", flat=True).distinct()) or usual_metrics(snapshot)
    return [bound.name for bound in parse_metrics(known) if bound.metric.mean == "arithmetic"]


def grades_of(snapshot: Snapshot) -> list[int]:
    """Return the grades above 0 of the snapshot's scale, which may serve as relevance threshold."""
    grades = snapshot.manifest.get("scale", {}).get("grades") or [0, 1, 2, 3]
    return sorted(grade for grade in grades if grade > 0)


def _check_size(runs: Sequence[Run], had: Contributors) -> None:
    if not runs:
        raise NotValid("The collection has no runs yet. Add runs of your systems first.")
    rows = sum(run.rows for run in runs) * (len(had.runs) + 2)
    if rows > ROWS_AT_ONCE:
        raise NotValid(
            f"These {len(runs):,} runs are too large for this page. Export the snapshot’s qrels and run `assay reuse`."
        )


def _look(
    snapshot: Snapshot,
    runs: Sequence[Run],
    had: Contributors,
    metric: str,
    together: Sequence[str],
    relevant_from: float,
    withheld: frozenset[str],
) -> Reuse:
    from assay.estimators.reusability import reuse

    labels = _visible_labels(snapshot, withheld)
    answering = answering_tables(runs, labels.codes.keys())
    if not answering:
        raise NotValid(
            "No run has results for a judged query of this snapshot. Compare the query ids of runs and labels."
        )
    here = {table.name for table in answering}
    strata, later = _strata(snapshot, labels, relevant_from)
    result = reuse(
        labels,
        answering,
        metric,
        contributors=[run.name for run in had.runs if run.name in here],
        depth=had.depth,
        together=together,
        strata=strata,
        rel=relevant_from,
        scale_top=scoring.scale_top(snapshot),
        seed=SEED,
    )
    if later and result.missed.value is not None:
        note = "a later round added judgments after the residual sample was drawn, so fewer of its pairs are left"
        result = replace(result, missed=replace(result.missed, notes=(note, *result.missed.notes)))
    return result


def _visible_labels(snapshot: Snapshot, withheld: frozenset[str]) -> Qrels:
    """Return the labels that the reader may see."""
    from assay.core.qrels import Qrels

    labels = snapshot.qrels()
    if not withheld:
        return labels
    left = Qrels.from_dict({query: grades for query, grades in labels.to_dict().items() if query not in withheld})
    if not left.queries:
        raise NotValid("You may still grade documents of every query of this snapshot.")
    return left


def _strata(snapshot: Snapshot, labels: Qrels, relevant_from: float) -> tuple[list[Stratum], bool]:
    """Return the newest residual stratum by query, and whether a later round added judgments."""
    from assay.estimators.residual_sample import strata_of

    rounds = list(snapshot.rounds.order_by("-created_at", "-pk"))
    newest = next((one for one in rounds if _drawn(one).exists()), None)
    if newest is None:
        return [], False
    rows = _drawn(newest).values_list("query__query_id", "document__doc_id", "origin")
    drawn = ((query_id, doc_id, float(origin.get("probability") or 1.0)) for query_id, doc_id, origin in rows)
    return strata_of(drawn, labels, relevant_from), newest != rounds[0]


def _drawn(round_: Round) -> Any:
    return Pair.objects.filter(round=round_, origin__why=RESIDUAL)


def as_json(snapshot: Snapshot, result: Reuse, left_out: int) -> dict[str, Any]:
    """Return the format of ``assay reuse --format json``, with the snapshot."""
    body = {"snapshot": str(snapshot.uuid), "name": snapshot.name, "content_sha256": snapshot.content_sha256}
    body |= result.as_json() | {"left_out_queries": left_out}
    return body | {"freshness": freshness.look(snapshot).as_json()}


def requested_names(collection: Collection, texts: Sequence[str]) -> list[str]:
    """Return the names of runs given by id or name."""
    rows = {}
    for run in collection.runs.only("uuid", "name"):
        rows |= {str(run.uuid): run.name, run.name: run.name}
    # A name may contain a comma, so a text is split only if it is not a run as a whole.
    wanted = [one for text in texts for one in ([text] if text in rows else text.split(",")) if one]
    strange = next((one for one in wanted if one not in rows), None)
    if strange is not None:
        raise NotValid(f"This collection has no run {strange}.", {"together": "Name runs by id or name."})
    return list(dict.fromkeys(rows[one] for one in wanted))
