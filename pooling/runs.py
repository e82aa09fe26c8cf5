"""Runs of a collection: check, store, read, rename and set as baseline."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db import IntegrityError, transaction

from judgments import audit, storage
from judgments.access import STAFF
from judgments.core.errors import AssayError, Conflict, NotValid
from judgments.core.ids import id_fault
from judgments.core.run_names import run_names, stem
from judgments.formats.rows import RunRow
from judgments.import_kinds import Checked, Finding, ImportKind
from judgments.judges.families import declared_family
from judgments.models import Collection, Upload, User
from pooling import run_families
from pooling.models import Run

if TYPE_CHECKING:
    from judgments.core.run import Run as RankedRun
    from judgments.formats.run_files import RunFile
    from pooling.health.figures import Figures

TOP = 10
# What the apps above do with a run that was just stored.
STORED: list[Callable[[Run, User], object]] = []


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
        findings.append(_warning(first, "W57", what, "stored, not scored", "Store the queries if they belong here."))
    if strange_documents and documents:
        first = next(row for row in rows if row.doc_id in strange_documents)
        what = f"documents without content here: {len(strange_documents):,}, the first is {first.doc_id}"
        findings.append(_warning(first, "W38", what, "stored; raters will see no text", "Store their documents."))
    figures = _figures(rows)
    if figures.mostly_tied:
        findings.append(_mostly_tied(figures))
    return Checked(rows, findings, health(rows, set(queries), figures))


def _figures(rows: Sequence[RunRow]) -> Figures:
    from judgments.formats.run_rows import RunRows
    from pooling.health.figures import figures

    return figures(RunRows.of(rows))


def health(rows: Sequence[RunRow], queries: set[str], found: Figures | None = None) -> dict[str, Any]:
    """Rows, queries, depth, ties and ranks: what to know about a run before one trusts it."""
    found = found or _figures(rows)
    answered = {row.query_id for row in rows}
    return {
        "rows": found.rows,
        "queries": found.queries,
        "of them in this collection": len(queries & answered),
        "queries left out": len(queries - answered),
        "median depth": found.median,
        "smallest depth": found.smallest,
        "largest depth": found.largest,
        "tied rows": found.tied_rows,
        "queries with ties": found.tied_queries,
        "rows with a rank": found.ranked_rows,
        "ranks against scores": found.against_rows,
        "queries with ranks against scores": found.against_queries,
        "ties in another order by rank": found.reordered_rows,
        "infinite scores": found.infinite,
    }


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Put the run into the collection, under a name of its own.

    The rows are the good ones, when a lead let the others stay out. The hash of the file as it came stays on record.
    """
    if checked.kept is None:
        raise AssertionError("a run is written before it is stored")
    name = free_name(collection, str(options.get("name") or default_name(collection, upload.filename)))
    figures = checked.figures
    content_sha256, stored_sha256 = checked.hashes
    run = Run.objects.create(
        collection=collection,
        name=name,
        description=str(options.get("description") or "")[:300],
        generator_family=declared_family(str(options.get("generator_family") or "")),
        filename=upload.filename,
        path=checked.kept[0],
        sha256=upload.sha256,
        content_sha256=content_sha256,
        stored_sha256=stored_sha256,
        rows=len(checked.rows),
        queries=figures["queries"],
        depth=figures["largest depth"],
        health=figures,
        report={"bins": upload.report.get("bins", {}), "codes": upload.report.get("codes", {})},
        created_by=actor,
    )
    announce(run, actor)
    return {"rows": len(checked.rows), "id": str(run.uuid), "name": name}


def prepare(checked: Checked, upload: Upload, *, progress: object = None) -> Checked:
    """Write the rows as Parquet: of a large run that takes a while, in which nobody should wait to write."""
    from judgments.formats.stored_run import write_stored

    body, content_sha256 = write_stored(checked.rows)
    kept = storage.keep("runs", f"{upload.uuid.hex}.parquet", body), "parquet"
    return replace(checked, kept=kept, hashes=(content_sha256, hashlib.sha256(body).hexdigest()))


def announce(run: Run, actor: User) -> None:
    """Tell the apps above about a run that was just stored, once it is there for good."""
    for tell in STORED:
        transaction.on_commit(partial(tell, run, actor))


def free_name(collection: Collection, wanted: str) -> str:
    """The wanted name, if it can be had.

    Raises
    ------
    NotValid
        It holds a control character.
    Conflict
        Another run has it.
    """
    name = wanted.strip()[:120] or "run"
    if fault := id_fault(name):
        raise NotValid(f"The name {fault[1]}.", {"name": f"It {fault[1]}. Write it in letters, digits and signs."})
    if collection.runs.filter(name=name).exists():
        raise _taken(name)
    return name


def _taken(name: str) -> Conflict:
    return Conflict(f"There is a run called {name} already. Take another name, for example {name}-2.")


def default_name(collection: Collection, filename: str) -> str:
    """What a run is called when nobody says, as ``assay evaluate`` would call it beside the runs that are there."""
    files = dict(collection.runs.values_list("name", "filename"))
    alike = [file for file in files.values() if stem(file) == stem(filename)]
    others = [name for name, file in files.items() if stem(file) != stem(filename)]
    return run_names([*alike, filename], others)[-1] or "run"


def default_names(collection: Collection, filenames: Sequence[str]) -> list[str]:
    """What runs are called whose files come together, beside the runs that are there."""
    others = list(collection.runs.values_list("name", flat=True))
    return run_names(list(filenames), others)


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


def opened(run: Run) -> RunFile:
    """The run's file, to be read at once or some whole queries at a time.

    A run that was stored before runs became Parquet lies in storage as it came, or as CSV, and is read as such.

    Raises
    ------
    AssayError
        The file is not in storage, or is not what was stored there.
    """
    try:
        body = storage.read_bytes(run.path)
    except FileNotFoundError as error:
        raise AssayError(f"The file of run {run} is not in storage. Restore it from a backup.") from error
    if not run.stored_sha256:
        from judgments.formats.tables import open_run

        return open_run(body, run.filename, run.name)
    if hashlib.sha256(body).hexdigest() != run.stored_sha256:
        raise AssayError(f"The file of run {run} is not what was stored: its hash differs. Restore it from a backup.")
    from judgments.formats.stored_run import StoredRun

    return StoredRun(body, run.name)


def _by_score(run: Run) -> RankedRun:
    return opened(run).whole()


def _by_rank(run: Run) -> RankedRun:
    """By rank where the ranks say something else than the scores without contradicting them."""
    file = opened(run)
    rows = file.rows()
    return rows.by_rank(run.name) if rows.ranks_agree() else file.whole()


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
    names = {"before": before, "after": run.name}
    audit.record("runs.rename", sentence, actor=actor, collection=run.collection, target=run, **names)


@transaction.atomic
def set_baseline(collection: Collection, run: Run | None, *, actor: User) -> None:
    """Make a run the one that others are compared with; with None the collection has no baseline."""
    # Locked, so that two who choose at the same moment come one after the other.
    Collection.objects.select_for_update().get(pk=collection.pk)
    before = collection.runs.filter(baseline=True).first()
    if before == run:
        return
    collection.runs.filter(baseline=True).update(baseline=False)
    if run is not None:
        run.baseline = True
        run.save(update_fields=["baseline"])
    names = {"before": str(before) if before else None, "after": str(run) if run else None}
    sentence = f"{actor} made {run} the baseline" if run else f"{actor} removed the baseline {before}"
    audit.record("runs.set_baseline", sentence, actor=actor, collection=collection, target=run or before, **names)


def needed_by(run: Run) -> str:
    """Why a run cannot be deleted: pools were drawn from it. Empty where none was."""
    pools = run.pools.count()
    return f"{pools} pool{' was' if pools == 1 else 's were'} drawn from it." if pools else ""


def _warning(row: RunRow, code: str, what: str, done: str, fix: str) -> Finding:
    return Finding(row.line, code, f"{row.query_id} Q0 {row.doc_id}", what, done, fix)


def _mostly_tied(found: Figures) -> Finding:
    """About the file as a whole: no line of it is wrong, and its order is hardly the system's."""
    what = f"{found.tied_rows:,} of {found.rows:,} rows have a score that another row of their query has"
    done = "stored; metrics order them by document id, descending, as trec_eval does"
    return Finding(None, "W58", "", what, done, "Have the system write its scores with all their digits.")


RUNS = ImportKind(
    name="runs",
    title="Run",
    format_kind="run",
    default_format="trec-run",
    check=check,
    store=store,
    prepare=prepare,
    roles=STAFF,
    columns=("query_id", "doc_id", "rank", "score"),
    asks=("name", "description", "generator_family"),
    questions=run_families.questions,
    names=default_names,
    quiet=frozenset(
        (
            "tied rows",
            "queries with ties",
            "rows with a rank",
            "ranks against scores",
            "queries with ranks against scores",
            "ties in another order by rank",
            "infinite scores",
        )
    ),
)
