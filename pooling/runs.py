"""How does a system's run come into a collection, and how is it read again?"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db import IntegrityError, transaction

from judgments import audit, storage
from judgments.access import STAFF
from judgments.core.cells import csv_row, escape
from judgments.core.errors import Conflict
from judgments.formats.rows import RunRow
from judgments.import_kinds import Checked, Finding, ImportKind
from judgments.models import Collection, Upload, User
from pooling.models import Run

if TYPE_CHECKING:
    from judgments.core.run import Run as RankedRun

TOP = 10


def check(collection: Collection, rows: Sequence[RunRow], upload: Upload) -> Checked:
    """Compare a run with the collection: unknown queries and documents are told, and kept as they are."""
    earlier = collection.runs.filter(sha256=upload.sha256).first()
    if earlier is not None:
        raise Conflict(f"{upload.filename} is here already, as the run {earlier}. Nothing was stored again.")
    queries = dict(collection.queries.values_list("query_id", "text"))
    documents = set(collection.documents.filter(stub=False).values_list("doc_id", flat=True))
    strange_queries = Counter(row.query_id for row in rows if row.query_id not in queries)
    strange_documents = Counter(row.doc_id for row in rows if row.doc_id not in documents)
    findings = []
    if strange_queries and queries:
        first = next(row for row in rows if row.query_id in strange_queries)
        what = f"queries that are not in this collection: {len(strange_queries):,}, the first is {first.query_id}"
        findings.append(_warning(first, "E17", what, "stored, not scored", "Store the queries if they belong here."))
    if strange_documents and documents:
        first = next(row for row in rows if row.doc_id in strange_documents)
        what = f"documents without content here: {len(strange_documents):,}, the first is {first.doc_id}"
        findings.append(_warning(first, "W38", what, "stored; raters will see no text", "Store their documents."))
    return Checked(rows, findings, health(rows, set(queries)))


def health(rows: Sequence[RunRow], queries: set[str]) -> dict[str, Any]:
    """Rows, queries, depth and ties: what to know about a run before one trusts it."""
    depths = Counter(row.query_id for row in rows)
    scores = Counter((row.query_id, row.score) for row in rows)
    tied = sum(number for number in scores.values() if number > 1)
    ordered = sorted(depths.values())
    return {
        "rows": len(rows),
        "queries": len(depths),
        "queries of the collection": len(queries & depths.keys()),
        "queries left out": len(queries - depths.keys()),
        "median depth": ordered[len(ordered) // 2] if ordered else 0,
        "smallest depth": ordered[0] if ordered else 0,
        "largest depth": ordered[-1] if ordered else 0,
        "tied rows": tied,
    }


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Keep the file as it came, under a name of its own in the collection."""
    name = free_name(collection, str(options.get("name") or default_name(upload.filename)))
    figures = health(checked.rows, set(collection.queries.values_list("query_id", flat=True)))
    run = Run.objects.create(
        collection=collection,
        name=name,
        description=str(options.get("description") or "")[:300],
        filename=upload.filename,
        path=_kept(upload, checked),
        sha256=upload.sha256,
        rows=len(checked.rows),
        queries=figures["queries"],
        depth=figures["largest depth"],
        health=figures,
        report={"bins": upload.report.get("bins", {}), "codes": upload.report.get("codes", {})},
        created_by=actor,
    )
    return {"rows": len(checked.rows), "id": str(run.uuid), "name": name, "keeps_file": run.path == upload.path}


def _kept(upload: Upload, checked: Checked) -> str:
    """Where the run lies: the file as it came, where it says by itself how it is read and every row of it is good.

    Otherwise its rows as CSV: the good ones, when a lead let the others stay out.
    """
    if not upload.report.get("error_count") and not upload.options and _says_its_format(upload):
        return upload.path
    ranked = any(row.rank is not None for row in checked.rows)
    body = [csv_row(["query_id", "doc_id", "score", *(["rank"] if ranked else [])])]
    for row in checked.rows:
        rank = [str(row.rank or 0)] if ranked else []
        body.append(csv_row([escape(row.query_id), escape(row.doc_id), repr(row.score), *rank]))
    return storage.keep("runs", f"{upload.uuid.hex}.csv.gz", gzip.compress("".join(body).encode(), 6, mtime=0))


def _says_its_format(upload: Upload) -> bool:
    from judgments.formats import tables

    with storage.open_file(upload.path) as stream:
        return tables.recognized(stream.read(), upload.filename, "run").name == upload.format


def free_name(collection: Collection, wanted: str) -> str:
    """The wanted name, if it can be had.

    Raises
    ------
    Conflict
        Another run has it.
    """
    name = wanted.strip()[:120] or "run"
    if collection.runs.filter(name=name).exists():
        raise _taken(name)
    return name


def _taken(name: str) -> Conflict:
    return Conflict(f"There is a run called {name} already. Take another name, for example {name}-2.")


def default_name(filename: str) -> str:
    """What a run is called when nobody says: its file name up to the first dot, as ``assay evaluate`` calls it."""
    return re.split(r"[/\\]", filename)[-1].split(".")[0] or "run"


def ranked(run: Run, *, by: str = "score") -> RankedRun:
    """The run's ranked documents; kept for a while, since pools and scores read the same runs again and again.

    Parameters
    ----------
    run : Run
        Which.
    by : str
        ``score``: trec_eval's order, the only one that metrics know. ``rank``: the order in which the system showed its
        documents, where its rank column does not contradict its scores; equal scores are told apart by it.
    """
    key = f"run:{by}:{run.sha256}:{run.path}"
    table = cache.get(key)
    if table is None:
        table = _by_rank(run) if by == "rank" else _by_score(run)
        if run.rows <= 200_000:
            cache.set(key, table, 600)
    return table.named(run.name)


def _by_score(run: Run) -> RankedRun:
    from judgments.formats.tables import load_run

    return load_run(storage.read_bytes(run.path), path=run.filename, name=run.name)[0]


def _by_rank(run: Run) -> RankedRun:
    """By rank where the ranks say something else than the scores without contradicting them."""
    from judgments.formats.tables import open_run

    rows = open_run(storage.read_bytes(run.path), run.filename, run.name).rows()
    return rows.by_rank(run.name) if rows.ranks_agree() else _by_score(run)


@transaction.atomic
def rename(run: Run, *, name: str, actor: User) -> None:
    """Give a run another name. Snapshots and pools know it by its hash."""
    if name.strip() == run.name:
        return
    before, run.name = run.name, free_name(run.collection, name)
    try:
        with transaction.atomic():
            run.save(update_fields=["name"])
    except IntegrityError as error:
        raise _taken(run.name) from error  # by somebody else at the same moment
    sentence = f"{actor} renamed run {before} to {run.name}"
    audit.record("runs.rename", sentence, actor=actor, collection=run.collection, target=run)


def _warning(row: RunRow, code: str, what: str, done: str, fix: str) -> Finding:
    return Finding(row.line, code, "warning", f"{row.query_id} Q0 {row.doc_id}", what, done, fix)


RUNS = ImportKind(
    name="runs",
    title="Run",
    format_kind="run",
    default_format="trec-run",
    check=check,
    store=store,
    roles=STAFF,
    columns=("query_id", "doc_id", "rank", "score"),
    asks=("name", "description"),
)
