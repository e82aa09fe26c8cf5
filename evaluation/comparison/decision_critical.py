"""Decision-critical pairs of two scored runs, and the pool made from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid5

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from evaluation.freshness import freshness
from evaluation.models import Scoring
from evaluation.scoring import scoring
from judgments.jobs.single_flight import compute_once, hashed_key
from judgments.labels import grade_visibility
from judgments.models import Collection, Document, Query, Snapshot, User
from judgments.snapshots import snapshots
from pooling.models import Pool
from pooling.pools import pools
from pooling.pools.effort import pace
from pooling.runs import runs as stored_runs
from pooling.runs.known_pairs import judged_pairs

if TYPE_CHECKING:
    from assay.decisions.decision_critical import Turning

DAY = 24 * 3600
# State of a pair since the snapshot was frozen.
YOURS, GRADED, OPEN = "yours to grade", "graded since", "not judged"
# Part of cache keys: increase this number when the format of the result changes, so that older entries are ignored.
FORM = 1
# Reading larger runs takes too long for a page; `assay compare --turning` handles them.
ROWS_AT_ONCE = 2_000_000
# With up to this many rows, the comparison page shows this result too.
ROWS_IN_PASSING = 400_000


def turn(a: Scoring, b: Scoring, metric: str, *, withheld: frozenset[str] = frozenset()) -> Turning:
    """Find the fewest unjudged pairs that could turn the decision between two runs of a snapshot."""
    if rows(a, b) > ROWS_AT_ONCE:
        raise NotValid(
            f"These runs have {amount(rows(a, b), 'row')}, too many for a page. Export the snapshot’s qrels "
            "and run "
            "assay compare --turning."
        )
    known = str(a.snapshot.uuid), a.run.sha256, b.run.sha256, metric, sorted(withheld)
    key = hashed_key(f"turning:{FORM}", *known)
    return compute_once(key, lambda: _turning(a, b, metric, withheld), keep=DAY)


def rows(a: Scoring, b: Scoring) -> int:
    """Return the number of rows to read."""
    return a.run.rows + b.run.rows


def unknown_reason(metric: str) -> str:
    """Return why a metric is not supported, or an empty string."""
    from assay.decisions.decision_critical import metric_of

    try:
        metric_of(metric)
    except NotValid as error:
        return str(error)
    return ""


def _turning(a: Scoring, b: Scoring, metric: str, withheld: frozenset[str]) -> Turning:
    from assay.core.qrels import Qrels
    from assay.decisions.decision_critical import turning

    labels: Mapping[str, Mapping[str, float]] = snapshots.labels_of(a.snapshot)
    visible_labels = Qrels.from_dict(
        {query_id: grades for query_id, grades in labels.items() if query_id not in withheld}
    )
    if not visible_labels.queries:
        raise NotValid("You may still have to grade documents of every query of this comparison.")
    top = scoring.scale_top(a.snapshot)
    return turning(visible_labels, stored_runs.ranked(a.run), stored_runs.ranked(b.run), metric, scale_top=top)


def visible_pairs(user: Any, collection: Collection, result: Turning) -> list[dict[str, Any]]:
    """Return the pairs in the order in which to judge them, without values the reader may not see."""
    hidden, graded = grade_visibility.hidden_keys(user, collection), judged_pairs(collection)
    texts = Query.objects.filter(collection=collection, query_id__in={pair.query_id for pair in result.pairs})
    queries = dict(texts.values_list("query_id", "text"))
    rows = Document.objects.filter(collection=collection, doc_id__in={pair.doc_id for pair in result.pairs})
    documents = {row.doc_id: row for row in rows.only("uuid", "doc_id", "title")}
    pair_rows = []
    for place, pair in enumerate(result.pairs, 1):
        ids, document = (pair.query_id, pair.doc_id), documents.get(pair.doc_id)
        mine = ids in hidden
        pair_rows.append(
            {
                "place": place,
                "query_id": pair.query_id,
                "query": queries.get(pair.query_id, pair.query_id),
                "doc_id": pair.doc_id,
                "document": (document.title if document else "") or pair.doc_id,
                "uuid": str(document.uuid) if document else "",
                "grade": None if mine else _plain(pair.grade),
                "rank_a": None if mine else pair.rank_a,
                "rank_b": None if mine else pair.rank_b,
                "state": YOURS if mine else GRADED if ids in graded else OPEN,
            }
        )
    return pair_rows


def as_json(result: Turning, pairs: list[dict[str, Any]], snapshot: Snapshot) -> dict[str, Any]:
    """Return an entry of ``turning`` of ``assay compare --format json``, without values the reader may not see."""
    names = ("query_id", "doc_id", "grade", "rank_a", "rank_b", "state")
    report = result.as_json(pace(snapshot.collection).seconds)
    shown = [{name: row[name] for name in names} for row in pairs]
    return report | {"pairs": shown, "freshness": freshness.look(snapshot).as_json()}


def _plain(grade: float) -> float | int:
    return int(grade) if float(grade).is_integer() else grade


def make_pool(a: Scoring, b: Scoring, result: Turning, *, actor: User) -> Pool:
    """Store the pairs as a pool, without those graded since the freeze."""
    if not result.pairs:
        raise NotValid("No pairs could reverse this comparison, so there is nothing to judge.")
    pairs = [(pair.query_id, pair.doc_id) for pair in result.pairs]
    graded = judged_pairs(a.snapshot.collection)
    if set(pairs) <= graded:
        raise NotValid(
            "All these pairs have been graded since the freeze. Freeze a new snapshot and score the runs on it."
        )
    wanted = [result.metric, a.run.sha256, b.run.sha256, sorted(set(pairs) - graded)]
    return pools.draw_pool(
        a.snapshot.collection,
        strategy="list",
        runs=[a.run, b.run],
        parameters={"pairs": pairs},
        by="score",
        leave_out_judged=True,
        reason=f"could reverse the comparison of {result.a} and {result.b} by {result.metric} on {a.snapshot}",
        actor=actor,
        token=uuid5(a.snapshot.uuid, json.dumps(wanted)),
    )
