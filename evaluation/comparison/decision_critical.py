"""Decision-critical pairs of two scored runs, and the pool made from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid5

from assay.core.counted_nouns import amount
from assay.core.errors import NotValid
from evaluation.models import Scoring
from evaluation.scoring import scoring, visibility
from judgments.jobs.single_flight import compute_once
from judgments.models import Collection, Document, Query, User
from judgments.snapshots import snapshots
from pooling.models import Pool
from pooling.pools import pools
from pooling.pools.effort import Pace
from pooling.runs import runs as stored_runs
from pooling.runs.known_pairs import judged_pairs

if TYPE_CHECKING:
    from assay.decisions.decision_critical import Turning

DAY = 24 * 3600
# What is known of a pair since the snapshot was frozen.
YOURS, GRADED, OPEN = "yours to grade", "graded since", "not judged"
# What is kept is an answer as it is now; a new number here leaves older ones alone.
FORM = 1
# Reading larger runs would keep a page waiting; `assay compare --turning` takes them.
ROWS_AT_ONCE = 2_000_000
# So many rows are read beside the other numbers of a comparison.
ROWS_IN_PASSING = 400_000


def turn(a: Scoring, b: Scoring, metric: str, *, withheld: frozenset[str] = frozenset()) -> Turning:
    """Find the fewest unjudged pairs that could turn the decision between two runs of a snapshot.

    Parameters
    ----------
    a, b : Scoring
        Of one snapshot.
    metric : str
        One metric; each query counts once.
    withheld : frozenset of str
        Queries to leave out, as `evaluation.scoring.visibility` tells them.

    Raises
    ------
    NotValid
        The runs are too large for a page, no query is left, or it is not known how the metric answers a judgment.
    """
    if rows(a, b) > ROWS_AT_ONCE:
        raise NotValid(
            f"These runs have {amount(rows(a, b), 'row')}, too many for a page. Export the snapshot’s qrels "
            "and run "
            "assay compare --turning."
        )
    key = f"turning:{FORM}:{_hash([str(a.snapshot.uuid), a.run.sha256, b.run.sha256, metric, sorted(withheld)])}"
    return compute_once(key, lambda: _turning(a, b, metric, withheld), keep=DAY)


def rows(a: Scoring, b: Scoring) -> int:
    """How many rows have to be read."""
    return a.run.rows + b.run.rows


def unknown_reason(metric: str) -> str:
    """Why a metric cannot be asked; empty where it can."""
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
    """The pairs in the order in which to judge them, as far as a reader may know of them.

    For a pair that the reader may still have to grade, the grade that would turn the decision and the ranks are None.
    """
    hidden, graded = visibility.hidden_pairs(user, collection), graded_since(collection)
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


def as_json(result: Turning, pairs: list[dict[str, Any]], pace: Pace) -> dict[str, Any]:
    """An entry of ``turning`` of ``assay compare --format json``, with the pairs as a reader may know them."""
    names = ("query_id", "doc_id", "grade", "rank_a", "rank_b", "state")
    return result.as_json(pace.seconds) | {"pairs": [{name: row[name] for name in names} for row in pairs]}


def _plain(grade: float) -> float | int:
    return int(grade) if float(grade).is_integer() else grade


def cost(result: Turning, pace: Pace) -> str:
    """How long the pairs take, once each, in words."""
    return pace.cost(len(result.pairs))


def make_pool(a: Scoring, b: Scoring, result: Turning, *, actor: User) -> Pool:
    """Put the pairs on record as a pool, from which a round is made; those that were graded meanwhile stay out.

    The same pairs of the same comparison are one pool, however often somebody asks for it.

    Raises
    ------
    NotValid
        There are no pairs, or all of them were graded since the snapshot was frozen.
    """
    if not result.pairs:
        raise NotValid("No pairs could reverse this comparison, so there is nothing to judge.")
    pairs = [(pair.query_id, pair.doc_id) for pair in result.pairs]
    graded = graded_since(a.snapshot.collection)
    if set(pairs) <= graded:
        raise NotValid("All these pairs have been graded since. Freeze a new snapshot and score the runs on it.")
    wanted = [result.metric, a.run.sha256, b.run.sha256, sorted(set(pairs) - graded)]
    return pools.draw_pool(
        a.snapshot.collection,
        strategy="list",
        runs=[a.run, b.run],
        parameters={"pairs": pairs},
        by="score",
        leave_out_judged=True,
        reason=f"could turn {result.a} against {result.b} under {result.metric} on {a.snapshot}",
        actor=actor,
        token=uuid5(a.snapshot.uuid, json.dumps(wanted)),
    )


def graded_since(collection: Collection) -> frozenset[tuple[str, str]]:
    """The pairs that somebody graded, in whatever round; a snapshot may not know of them yet."""
    return judged_pairs(collection)


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
